"""The recruiter's share of a recruit's sale: a second conversion row, written once, after the sale's own.

Source: tracking spec, "Override conversion" and section 3 "States and transitions".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from domain import jobs
from domain.conversions import override
from models import advisory_locks, ids
from models.conversions import conversions, partners
from models.conversions.conversions import Conversion
from pipelines import earnings, work
from pipelines.conversions import refund

SOURCE = "override"
METHOD = "sub_affiliate_override"

_PAYOUT_RUN_WAIT = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class OwedShare:
    """The share of a recruiter in a settled sale, on the terms read when the sale settled."""

    conversion_id: UUID
    recruiter_id: UUID
    percent: Decimal


def write(*, organization_id: UUID, owed: Sequence[OwedShare], now: datetime) -> None:
    """Write the override rows of settled sales of one organization for their recruiters.

    Idempotent: a row's external id is made of the parent's and the recruiter's. A share that rounds to 0 writes
    nothing. Earlier refunds are applied at once, so the totals are those of the usual order.
    Raises TryAgain if a parent was refunded and a payout run is in progress: this transaction holds the locks of parent
    rows, which the run may need, so it must not wait for the run.
    Budget: 2 round trips (lock parents; insert) and the writes with the commit, however many they are; one more where
    any parent was refunded, and 4 more for each.
    """
    parents = conversions.lock_all(
        organization_id=organization_id, conversion_ids=[share.conversion_id for share in owed]
    )
    shares = [(parents.get(share.conversion_id), share) for share in owed]
    rows = [row for parent, share in shares if (row := _override_row(parent, share, now)) is not None]
    if not rows:
        return
    if any(map(_was_refunded, parents.values())) and not advisory_locks.try_shared_payout_run_lock(organization_id):
        raise work.TryAgain(at=now + _PAYOUT_RUN_WAIT, why="a payout run is in progress")
    new_ids = earnings.write_new(rows, now=now)
    for parent_id in [row.parent_id for row in rows if row.id in new_ids]:
        if parent_id is not None and _was_refunded(parents[parent_id]):
            refund.refund_override(organization_id=organization_id, conversion_id=parent_id, now=now)


def _was_refunded(parent: conversions.Conversion) -> bool:
    return parent.refunded_at is not None or parent.restored_at is not None or bool(parent.refunded_cents)


def _override_row(
    parent: conversions.Conversion | None, share: OwedShare, now: datetime
) -> conversions.Conversion | None:
    if parent is None:
        raise LookupError(f"conversion {share.conversion_id} has an override job and no row")
    share_cents = override.share_cents(commission_cents=parent.commission_cents, percent=share.percent)
    if share_cents == 0:
        return None
    return conversions.Conversion(
        id=ids.new_id(),
        organization_id=parent.organization_id,
        program_id=parent.program_id,
        affiliate_id=share.recruiter_id,
        source=SOURCE,
        external_event_id=override.external_event_id(
            parent_external_event_id=parent.external_event_id, recruiter_id=share.recruiter_id
        ),
        amount_cents=0,
        currency=parent.currency,
        commission_cents=share_cents,
        status=str(override.initial_status(parent.status)),
        type=parent.type,
        rate_source="sub_affiliate",
        rate_type="Percentage",
        rate_value=share.percent,
        is_test=parent.is_test,
        occurred_at=parent.occurred_at,
        hold_until=parent.hold_until,
        created_at=now,
        attribution_method=METHOD,
        sub_id=parent.sub_id,
        parent_id=parent.id,
        disputed_at=parent.disputed_at,
        needs_approval=parent.awaits_approval,
    )


def enqueue_missing_override(before: Conversion) -> None:
    """Queue the job that writes a sale's override if the recruiter's share rounded to zero before.

    `before` is the sale before its commission changed: if the share was above zero, the sale's own job, which sees the
    change, writes the override. Budget: 1 round trip.
    """
    partner = partners.find(
        organization_id=before.organization_id, program_id=before.program_id, affiliate_id=before.affiliate_id
    )
    share = partner.terms.recruiter_share if partner else None
    if share is None or override.share_cents(commission_cents=before.commission_cents, percent=share.percent):
        return
    work.enqueue(
        jobs.OVERRIDE_WRITE,
        organization_id=before.organization_id,
        conversion_id=before.id,
        recruiter_id=share.recruiter_id,
        percent=share.percent,
    )
