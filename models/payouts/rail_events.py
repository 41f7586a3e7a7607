"""What payout rails told us by themselves: each once, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.states import RailOutcome
from models.db import Json, db


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """One confirmation. `payout_id` None: it is about nothing that we know."""

    rail: str
    event_id: str
    organization_id: UUID | None
    payout_id: UUID | None
    payout_key: str | None
    answer: str
    references: Mapping[str, str]
    detail: str | None
    outcome: str
    received_at: datetime


_COLUMNS = ", ".join(f'"{name}"' for name in ToldEvent.__dataclass_fields__)


def any_org_insert_once(
    *,
    rail: str,
    event_id: str,
    payout_key: str | None,
    answer: str,
    references: Mapping[str, str],
    detail: str | None,
    at: datetime,
) -> bool:
    """Write a confirmation down, about nothing so far; False when it was told before. A twin waits for the first."""
    row = db.row(
        'insert into rail_event (rail, event_id, payout_key, answer, "references", detail, received_at)'
        " values (%s, %s, %s, %s, %s, %s, %s) on conflict do nothing returning event_id",
        (rail, event_id, payout_key, answer, Json(dict(references)), detail, at),
    )
    return row is not None


def any_org_stage_outcome(
    *, rail: str, event_id: str, organization_id: UUID, payout_id: UUID, outcome: RailOutcome
) -> None:
    """Stage which payout a confirmation was about and what became of it."""
    db.stage(
        "update rail_event set organization_id = %s, payout_id = %s, outcome = %s where rail = %s and event_id = %s",
        (organization_id, payout_id, outcome, rail, event_id),
    )


def any_org_list(*, only_open: bool, limit: int) -> list[ToldEvent]:
    """Return confirmations, newest first; `only_open`: those that an operator should look at."""
    which = " where outcome in ('Parked', 'Contradicts')" if only_open else ""
    rows = db.run(
        f"select {_COLUMNS} from rail_event{which} order by received_at desc, rail, event_id limit %s", (limit,)
    )
    return [ToldEvent(*row) for row in rows]


def says_paid(*, organization_id: UUID, payout_id: UUID) -> bool:
    """Say whether a rail told that it paid a payout which we hold that it did not, and nobody has settled it yet."""
    return bool(
        db.run(
            "select from rail_event where organization_id = %s and payout_id = %s and outcome = 'Contradicts'"
            " and answer = 'Paid' limit 1",
            (organization_id, payout_id),
        )
    )


def stage_settled(*, organization_id: UUID, payout_id: UUID) -> None:
    """Stage that an operator has looked into a rail's word that it paid a payout."""
    db.stage(
        "update rail_event set outcome = 'Late' where organization_id = %s and payout_id = %s"
        " and outcome = 'Contradicts' and answer = 'Paid'",
        (organization_id, payout_id),
    )
