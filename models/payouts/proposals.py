"""What cadences of automatic payouts have prepared: one row per organization and day that came round."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from models.db import Json, db


@dataclass(frozen=True, slots=True)
class Proposal:
    """What was due when it was prepared: native minor units by currency, their raw sum, and an estimate in US cents.

    `refusal_code` None: it was not to confirm itself, or did.
    """

    id: UUID
    organization_id: UUID
    due_on: date
    status: str
    recipients: int
    confirm_total_cents: int
    native_totals: Mapping[str, int]
    usd_estimate_cents: int
    refusal_code: str | None
    refusal_message: str | None
    run_id: UUID | None
    created_at: datetime
    closed_at: datetime | None


_COLUMNS = ", ".join(Proposal.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class CadenceDue:
    """An organization with a cadence; `last_on` is the day for which it was last prepared."""

    organization_id: UUID
    cadence: str
    since: date
    timezone: str
    last_on: date | None


_WITH_CADENCE = (
    "select o.id, o.automatic_payout_cadence, o.automatic_payout_since, o.timezone,"
    " (select max(p.due_on) from payout_proposal p where p.organization_id = o.id) from organization o"
    " where o.automatic_payout_cadence <> 'Manual'"
)


def any_org_with_cadence() -> list[CadenceDue]:
    """Return every organization whose payouts come round by themselves."""
    return [CadenceDue(*row) for row in db.run(f"{_WITH_CADENCE} order by o.id")]


def with_cadence(organization_id: UUID) -> CadenceDue | None:
    """Return the organization if its payouts come round by themselves."""
    row = db.row(f"{_WITH_CADENCE} and o.id = %s", (organization_id,))
    return CadenceDue(*row) if row else None


def open_one(organization_id: UUID) -> Proposal | None:
    """Return what waits for an Owner."""
    row = db.row(
        f"select {_COLUMNS} from payout_proposal where organization_id = %s and status = 'Open'", (organization_id,)
    )
    return Proposal(*row) if row else None


def stage(values: Mapping[str, Any]) -> None:
    """Stage a new row; an earlier one must be closed before."""
    marks = ", ".join(["%s"] * len(values))
    db.stage(
        f"insert into payout_proposal ({', '.join(values)}) values ({marks})",
        tuple(Json(value) if isinstance(value, dict) else value for value in values.values()),
    )


def stage_replaced(*, organization_id: UUID, at: datetime) -> None:
    """Stage that what was open is not any more: a newer one holds what it held."""
    db.stage(
        "update payout_proposal set status = 'Replaced', closed_at = %s where organization_id = %s and status = 'Open'",
        (at, organization_id),
    )


def stage_confirmed(*, organization_id: UUID, run_id: UUID, at: datetime) -> None:
    """Stage that a run paid what was open, if anything was."""
    db.stage(
        "update payout_proposal set status = 'Confirmed', run_id = %s, closed_at = %s"
        " where organization_id = %s and status = 'Open'",
        (run_id, at, organization_id),
    )


def stage_refused(*, organization_id: UUID, code: str, message: str) -> None:
    """Stage why what is open did not confirm itself."""
    db.stage(
        "update payout_proposal set refusal_code = %s, refusal_message = %s"
        " where organization_id = %s and status = 'Open'",
        (code, message, organization_id),
    )
