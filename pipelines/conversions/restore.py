"""Refunded money that came back: a conversion, and its override, earn again what that refund took.

Source: tracking spec, section 3 "States and transitions" and section 6, conversion.adjusted.
"""

from dataclasses import replace
from datetime import datetime

from domain import jobs
from domain.conversions import refund
from domain.statuses import EARNS_NOTHING
from domain.webhooks import events
from models import ids
from models.conversions import conversions, refunds, revenue
from models.conversions.conversions import Conversion
from models.conversions.refunds import Refund
from models.coupons import affiliate_coupons
from models.ledger import entries
from pipelines import work
from pipelines.payouts import take_back
from pipelines.webhooks import emit

REASON = "refund_restored"


def of_conversion(conversion: Conversion, refunded_cents: int, *, now: datetime) -> None:
    """Bring a conversion that was locked as refunds lock it down to what is refunded of it still.

    Units: minor units of the conversion. Its override follows in a job. Budget: 1 round trip (who follows it), the
    writes with it, and up to three more where a payout names it.
    """
    organization_id, conversion_id = conversion.organization_id, conversion.id
    record = Refund(
        id=ids.new_id(),
        amount_cents=refunded_cents - conversion.refunded_cents,
        cumulative_cents=refunded_cents,
        is_full=False,
        created_at=now,
        reason=REASON,
        is_restoration=True,
    )
    refunds.stage_refund(organization_id=organization_id, conversion_id=conversion_id, refund=record)
    after = follow(conversion, record, amount_cents=conversion.amount_cents)
    revenue.stage(conversion, amount_cents=-record.amount_cents)
    if conversion.refunded_at is not None and conversion.affiliate_coupon_id is not None:
        affiliate_coupons.stage_count(organization_id=organization_id, code_id=conversion.affiliate_coupon_id, by=1)
    followers = conversions.followers(organization_id=organization_id, conversion_id=conversion_id)
    if followers.is_in_payout:
        take_back.give_back_if_named(after, now=now)
    if followers.has_override:
        work.enqueue(jobs.REFUND_CASCADE, organization_id=organization_id, conversion_id=conversion_id)


def is_owed(conversion: Conversion, refunded_cents: int) -> bool:
    """Return whether more of a conversion is reversed than refunds of that much call for, as after it grew."""
    if conversion.status in EARNS_NOTHING or refunded_cents == conversion.amount_cents:
        return False
    owed_cents = -refund.change(
        commission_cents=conversion.commission_cents,
        reversed_cents=conversion.reversed_cents,
        parent_amount_cents=conversion.amount_cents,
        parent_cumulative_cents=refunded_cents,
        parent_is_full=False,
        is_restoration=True,
    )
    return owed_cents > 0


def follow(conversion: Conversion, record: Refund, *, amount_cents: int) -> Conversion:
    """Stage what a restoration does to one row, parent or override, and return the row as it is then.

    `amount_cents` is the parent's. What earns nothing is given nothing back until it earns again.
    """
    given_back_cents = 0
    if conversion.status not in EARNS_NOTHING:
        given_back_cents = -refund.change(
            commission_cents=conversion.commission_cents,
            reversed_cents=conversion.reversed_cents,
            parent_amount_cents=amount_cents,
            parent_cumulative_cents=record.cumulative_cents,
            parent_is_full=False,
            is_restoration=True,
        )
    reversed_cents = conversion.reversed_cents - given_back_cents
    after = replace(
        conversion,
        refunded_cents=0 if conversion.parent_id else record.cumulative_cents,
        reversed_cents=reversed_cents,
        status=refund.restored_status(
            conversion.status,
            before=conversion.refunded_from,
            net_cents=conversion.commission_cents - reversed_cents,
            paid_cents=conversion.paid_cents,
        ),
        refunded_at=None,
        refunded_from=None,
        restored_at=record.created_at,
    )
    _stage(conversion, after, record, given_back_cents)
    return after


def _stage(before: Conversion, after: Conversion, record: Refund, given_back_cents: int) -> None:
    """Stage the row, what was reversed of it, its history, the ledger and the event."""
    where = {"organization_id": before.organization_id, "conversion_id": before.id}
    refunds.stage_restored(
        **where,
        refunded_cents=after.refunded_cents,
        given_back_cents=given_back_cents,
        status=after.status,
        at=record.created_at,
    )
    refunds.stage_reversal(**where, refund_id=record.id, commission_cents=-given_back_cents, at=record.created_at)
    conversions.stage_history(
        [
            conversions.NewLine(
                **where,
                event_type="adjustment",
                amount_cents=before.refunded_cents - after.refunded_cents,
                commission_cents=given_back_cents,
                occurred_at=record.created_at,
            )
        ]
    )
    entries.stage(
        before, kind="restore", amount_cents=given_back_cents, cause_id=record.id, created_at=record.created_at
    )
    emit.event(
        organization_id=before.organization_id,
        type="conversion.adjusted",
        data=events.conversion_adjusted(
            conversion_id=before.id,
            affiliate_id=before.affiliate_id,
            program_id=before.program_id,
            amount_cents=after.amount_cents - after.refunded_cents,
            previous_amount_cents=before.amount_cents - before.refunded_cents,
            currency=before.currency,
            commission_cents=after.net_commission_cents,
            previous_commission_cents=before.net_commission_cents,
            status=after.status,
            previous_status=before.status,
            reason=REASON,
            attribution_method=before.attribution_method,
            parent_affiliate_conversion_id=before.parent_id,
        ),
        at=record.created_at,
    )
