"""Events that payout rails sent: each stored once, with its outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.states import RailOutcome
from models.db import Json, db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class ReceivedRailEvent:
    """One event. `payout_id` None: it is about no known payout."""

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


_INSERT = """
insert into rail_event (rail, event_id, payout_key, answer, "references", detail, received_at)
values (%s, %s, %s, %s, %s, %s, %s) on conflict do nothing returning 1
"""


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
    """Insert an event, without its payout; False if it is known. A concurrent duplicate waits for the first."""
    return bool(db.run(_INSERT, (rail, event_id, payout_key, answer, Json(dict(references)), detail, at)))


_OUTCOME = """
update rail_event set organization_id = %s, payout_id = %s, outcome = %s where rail = %s and event_id = %s
"""


def any_org_stage_outcome(
    *, rail: str, event_id: str, organization_id: UUID, payout_id: UUID, outcome: RailOutcome
) -> None:
    """Stage the payout and the outcome of an event."""
    db.stage(_OUTCOME, (organization_id, payout_id, outcome, rail, event_id))


_LIST = f"""
select {columns(ReceivedRailEvent, references='"references"')} from rail_event
where not %s or outcome in ('Parked', 'Contradicts')
order by received_at desc, rail, event_id limit %s
"""
_events = Rows(ReceivedRailEvent)


def any_org_list(*, only_open: bool, limit: int) -> list[ReceivedRailEvent]:
    """Return events, newest first; `only_open`: those that need an operator's attention."""
    return _events.all(_LIST, (only_open, limit))


_SAYS_PAID = """
select from rail_event
where organization_id = %s and payout_id = %s and outcome = 'Contradicts' and answer = 'Paid' limit 1
"""


def has_paid_event(*, organization_id: UUID, payout_id: UUID) -> bool:
    """Return whether an unsettled event says that a payout was paid which our records say was not."""
    return bool(db.run(_SAYS_PAID, (organization_id, payout_id)))


_SETTLE = """
update rail_event set outcome = 'Late'
where organization_id = %s and payout_id = %s and outcome = 'Contradicts' and answer = 'Paid'
"""


def stage_settled(*, organization_id: UUID, payout_id: UUID) -> None:
    """Stage that an operator settled the events that say a payout was paid."""
    db.stage(_SETTLE, (organization_id, payout_id))
