"""Proposals of automatic payouts: one row per organization and day of its cadence."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from uuid import UUID

from models.db import Json, db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class Proposal:
    """The sums due at the proposal: native minor units by currency, their raw sum, and an estimate in US cents.

    `refusal_code` is why it was not confirmed automatically; None: it was, or should not be.
    """

    id: UUID
    organization_id: UUID
    due_on: date
    status: str
    recipients: int
    confirm_total_cents: int
    native_totals: Mapping[str, int]
    usd_estimate_cents: int
    created_at: datetime
    closed_at: datetime | None
    refusal_code: str | None = None
    refusal_message: str | None = None
    run_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class PayoutCadence:
    """An organization's cadence of automatic payouts; `last_on` is the day of its last proposal."""

    organization_id: UUID
    cadence: str
    since: date
    timezone: str
    last_on: date | None


_LAST_ON = "(select max(p.due_on) from payout_proposal p where p.organization_id = o.id)"
_CADENCE = {
    "organization_id": "o.id",
    "cadence": "o.automatic_payout_cadence",
    "since": "o.automatic_payout_since",
    "last_on": _LAST_ON,
}
_WITH_CADENCE = f"""
select {columns(PayoutCadence, "o", **_CADENCE)}
from organization o where o.automatic_payout_cadence <> 'Manual'"""
_EVERY_CADENCE = f"{_WITH_CADENCE} order by o.id"
_OWN_CADENCE = f"{_WITH_CADENCE} and o.id = %s"
_cadences = Rows(PayoutCadence)


def any_org_list_with_cadence() -> list[PayoutCadence]:
    """Return the cadence of every organization with automatic payouts."""
    return _cadences.all(_EVERY_CADENCE)


def find_cadence(organization_id: UUID) -> PayoutCadence | None:
    """Return the organization's cadence; None without automatic payouts."""
    return _cadences.first(_OWN_CADENCE, (organization_id,))


_OPEN = f"select {columns(Proposal)} from payout_proposal where organization_id = %s and status = 'Open'"
_proposals = Rows(Proposal)


def find_open(organization_id: UUID) -> Proposal | None:
    """Return the proposal that waits for an Owner."""
    return _proposals.first(_OPEN, (organization_id,))


_INSERT = f"""
insert into payout_proposal ({columns(Proposal)})
values ({", ".join(f"%({name})s" for name in Proposal.__dataclass_fields__)})
"""


def stage(proposal: Proposal) -> None:
    """Stage a new proposal; the open one must be closed before."""
    db.stage(_INSERT, asdict(proposal) | {"native_totals": Json(proposal.native_totals)})


_REPLACE = """
update payout_proposal set status = 'Replaced', closed_at = %s where organization_id = %s and status = 'Open'
"""


def stage_replaced(*, organization_id: UUID, at: datetime) -> None:
    """Stage that a newer proposal replaces the open one."""
    db.stage(_REPLACE, (at, organization_id))


_CONFIRM = """
update payout_proposal set status = 'Confirmed', run_id = %s, closed_at = %s
where organization_id = %s and status = 'Open'
"""


def stage_confirmed(*, organization_id: UUID, run_id: UUID, at: datetime) -> None:
    """Stage that a run paid the open proposal, if there is one."""
    db.stage(_CONFIRM, (run_id, at, organization_id))


_DISMISS = f"""
update payout_proposal set status = 'Dismissed', closed_at = %s
where organization_id = %s and id = %s and status = 'Open' returning {columns(Proposal)}
"""


def dismiss(*, organization_id: UUID, proposal_id: UUID, at: datetime) -> Proposal | None:
    """Dismiss an open proposal without paying it and return it; None if it is not open."""
    return _proposals.first(_DISMISS, (at, organization_id, proposal_id))


_REFUSE = """
update payout_proposal set refusal_code = %s, refusal_message = %s where organization_id = %s and status = 'Open'
"""


def stage_refused(*, organization_id: UUID, code: str, message: str) -> None:
    """Stage why the open proposal was not confirmed automatically."""
    db.stage(_REFUSE, (code, message, organization_id))
