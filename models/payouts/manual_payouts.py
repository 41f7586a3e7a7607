"""Payouts that a brand pays by hand: which payouts of a run may be exported, and that they were."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class ManualPayout:
    """A payout that was sent to no rail, with its affiliate. US cents.

    `is_listed`: it was exported before, so it will not be sent to a rail.
    """

    payout_id: UUID
    affiliate_id: UUID
    email: str
    full_name: str | None
    method: str
    destination: str
    amount_cents: int
    currency: str
    period_start: date
    period_end: date
    is_listed: bool


_HAS_RUN = "select from payout_run where organization_id = %s and id = %s"


def has_run(*, organization_id: UUID, run_id: UUID) -> bool:
    """Return whether the organization has this run."""
    return bool(db.run(_HAS_RUN, (organization_id, run_id)))


_OTHERS = {
    "payout_id": "p.id",
    "email": "a.email",
    "full_name": "a.full_name",
    "is_listed": "p.exported_at is not null",
}
_LOCK = f"""
select {columns(ManualPayout, "p", **_OTHERS)}
from payout p
join payout_run r on r.organization_id = p.organization_id and r.id = p.run_id
join affiliate a on a.organization_id = p.organization_id and a.id = p.affiliate_id
where p.organization_id = %s and p.run_id = %s and p.status = 'Pending' and p.amount_cents > 0
  and coalesce(r.review_status, 'Approved') = 'Approved' and (r.hold_until is null or r.hold_until <= %s)
order by p.id for update of p
"""
_manual_payouts = Rows(ManualPayout)


def lock_payable(*, organization_id: UUID, run_id: UUID, now: datetime) -> list[ManualPayout]:
    """Return the payouts of a run that can be paid now, locked, by id.

    A run that is held, or that waits for an operator's review, has none.
    """
    return _manual_payouts.all(_LOCK, (organization_id, run_id, now))


_LIST = "update payout set exported_at = %s where organization_id = %s and id = any(%s::uuid[])"


def stage_export(*, organization_id: UUID, payout_ids: Sequence[UUID], at: datetime) -> None:
    """Stage that locked payouts were exported."""
    db.stage(_LIST, (at, organization_id, list(payout_ids)))
