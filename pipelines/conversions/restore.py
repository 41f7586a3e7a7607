"""Refunded money that came back, or a refund that a brand undoes: a conversion, and its override, earn again what that
refund took.

Source: tracking spec, section 3 "States and transitions" and section 6, conversion.adjusted.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from domain import jobs
from domain.conversions import refund
from domain.conversions.refund import RefundOrigin
from domain.gateways.names import Gateway
from domain.refusals import Refused
from domain.statuses import EARNS_NOTHING
from models import ids
from models.conversions import conversions, refunds, revenue
from models.conversions.conversions import Conversion
from models.conversions.refunds import Refund
from models.coupons import affiliate_coupons
from models.ledger import entries
from pipelines import work
from pipelines.conversions.review import Subject
from pipelines.payouts import take_back
from pipelines.webhooks import emit

REASON = "refund_restored"

_GATEWAYS = tuple(gateway.value for gateway in Gateway)


def by_brand(subject: Subject, *, now: datetime) -> Conversion:
    """Undo what the brand refunded of a conversion that `review.lock` locked; return the conversion as it is then.

    All refunds that the brand booked are undone together, each once, but none that a gateway reported.
    Raises Refused 409 nothing_to_restore. Budget: as `of_conversion`; 1 round trip more for an override.
    """
    conversion, parent = subject.conversion, subject.parent
    if parent is not None:
        own = refunds.own(conversion)
        if own is None or not own.is_full:
            raise _nothing("This share was not refunded by itself. Undo the refund of its sale instead.")
        if parent.refunded_at is not None:
            raise _nothing("The sale of this share is refunded in full. Undo that refund first.")
        return of_conversion(conversion, 0, now=now, origin=RefundOrigin.brand, parent=parent)
    unreported_cents = conversion.unreported_cents
    if conversion.source not in _GATEWAYS and (conversion.refunded_cents or conversion.refunded_at):
        unreported_cents = conversion.refunded_cents
    if unreported_cents is None:
        raise _nothing("No refund that your team or your server booked is left to undo.")
    return of_conversion(conversion, conversion.refunded_cents - unreported_cents, now=now, origin=RefundOrigin.brand)


def of_conversion(
    conversion: Conversion,
    refunded_cents: int,
    *,
    now: datetime,
    unreported_cents: int | None = None,
    origin: RefundOrigin = RefundOrigin.gateway,
    parent: Conversion | None = None,
) -> Conversion:
    """Bring a conversion that was locked as refunds lock it down to what is refunded of it still, and return it.

    Units: minor units of the conversion; of its refunds `unreported_cents` are the brand's, which its gateway has not
    reported. Its override follows in a job. `parent` is the sale of an override that was
    refunded by itself: the override gives back what the sale's refunds still take from it. Budget: 1 round trip (who
    follows it), the writes with it, and up to three more where a payout names it.
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
        origin=origin,
    )
    refunds.stage_refund(organization_id=organization_id, conversion_id=conversion_id, refund=record)
    after = follow(
        replace(conversion, unreported_cents=unreported_cents),
        record,
        parent_amount_cents=(parent or conversion).amount_cents,
        parent_refunded_cents=parent.refunded_cents if parent else refunded_cents,
        line_id=record.id,
    )
    revenue.stage(conversion, amount_cents=-record.amount_cents)
    if conversion.refunded_at is not None and conversion.affiliate_coupon_id is not None:
        affiliate_coupons.stage_count(organization_id=organization_id, code_id=conversion.affiliate_coupon_id, by=1)
    followers = conversions.followers(organization_id=organization_id, conversion_id=conversion_id)
    if followers.is_in_payout:
        take_back.give_back_if_named(after, now=now)
    if followers.has_override:
        work.enqueue(jobs.REFUND_CASCADE, organization_id=organization_id, conversion_id=conversion_id)
    return after


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


def follow(
    conversion: Conversion,
    record: Refund,
    *,
    parent_amount_cents: int,
    parent_refunded_cents: int,
    is_refunded_alone: bool = False,
    line_id: UUID | None = None,
) -> Conversion:
    """Stage what a restoration does to one row, parent or override, and return the row as it is then.

    The amounts are the sale's. A row that earns nothing gets nothing back until it earns again, and an override that
    was refunded by itself (`is_refunded_alone`) gets nothing back until that refund is undone. `line_id` is the id of
    the line of history: the restoration's own where the row is the one that was restored.
    """
    given_back_cents = 0
    if conversion.status not in EARNS_NOTHING and not is_refunded_alone:
        given_back_cents = -refund.change(
            commission_cents=conversion.commission_cents,
            reversed_cents=conversion.reversed_cents,
            parent_amount_cents=parent_amount_cents,
            parent_cumulative_cents=parent_refunded_cents,
            parent_is_full=False,
            is_restoration=True,
        )
    reversed_cents = conversion.reversed_cents - given_back_cents
    after = conversion
    if not is_refunded_alone:
        after = replace(
            conversion,
            refunded_cents=0 if conversion.parent_id else record.cumulative_cents,
            reversed_cents=reversed_cents,
            status=refund.restored_status(
                conversion.status,
                before=conversion.refunded_from,
                net_cents=conversion.commission_cents - reversed_cents,
                paid_cents=conversion.paid_cents,
                is_locked=conversion.payout_locked,
            ),
            refunded_at=None,
            refunded_from=None,
            restored_at=record.created_at,
        )
    _stage(conversion, after, record, given_back_cents, line_id)
    return after


def _nothing(message: str) -> Refused:
    return Refused(409, "nothing_to_restore", message)


def _stage(before: Conversion, after: Conversion, record: Refund, given_back_cents: int, line_id: UUID | None) -> None:
    """Stage the row, what was reversed of it, its history, the ledger and the event."""
    where = {"organization_id": before.organization_id, "conversion_id": before.id}
    if after is not before:
        refunds.stage_restored(
            **where,
            refunded_cents=after.refunded_cents,
            given_back_cents=given_back_cents,
            status=after.status,
            at=record.created_at,
            unreported_cents=after.unreported_cents,
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
                id=line_id or ids.new_id(),
            )
        ]
    )
    entries.stage(
        before, kind="restore", amount_cents=given_back_cents, cause_id=record.id, created_at=record.created_at
    )
    emit.conversion_adjusted(before, after, reason=REASON, at=record.created_at)
