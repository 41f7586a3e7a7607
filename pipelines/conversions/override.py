"""The recruiter's share of a recruit's sale: a second conversion row, written once, after the sale's own.

Source: tracking spec, "Override conversion" and section 3 "States and transitions".
"""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from domain.conversions import override
from models import ids
from models.conversions import conversions
from pipelines import earn
from pipelines.conversions import refund

SOURCE = "override"
METHOD = "sub_affiliate_override"


def write(*, organization_id: UUID, conversion_id: UUID, recruiter_id: UUID, percent: Decimal, now: datetime) -> None:
    """Write the override row of a settled sale for its recruiter, on the terms read when the sale settled.

    Idempotent: the row's external id is made of the parent's and the recruiter's. A share that rounds to 0 writes
    nothing. Refunds that came first are applied at once, so the totals are those of the usual order.
    Budget: 2 round trips (lock parent; insert) and the writes with the commit; 4 more when the parent was refunded.
    """
    parent = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    if parent is None:
        raise LookupError(f"conversion {conversion_id} has an override job and no row")
    share_cents = override.share_cents(commission_cents=parent.commission_cents, percent=percent)
    if share_cents == 0:
        return
    row = _row(parent, recruiter_id, share_cents, percent, now)
    if not earn.write_once(row, now=now):
        return
    if parent.refunded_at is not None or parent.restored_at is not None or parent.refunded_cents:
        refund.cascade(organization_id=organization_id, conversion_id=conversion_id, now=now)


def _row(
    parent: conversions.Conversion, recruiter_id: UUID, share_cents: int, percent: Decimal, now: datetime
) -> conversions.Conversion:
    return conversions.Conversion(
        id=ids.new_id(),
        organization_id=parent.organization_id,
        program_id=parent.program_id,
        affiliate_id=recruiter_id,
        source=SOURCE,
        external_event_id=override.external_event_id(
            parent_external_event_id=parent.external_event_id, recruiter_id=recruiter_id
        ),
        amount_cents=0,
        currency=parent.currency,
        commission_cents=share_cents,
        status=str(override.initial_status(parent.status)),
        type=parent.type,
        rate_source="sub_affiliate",
        rate_type="Percentage",
        rate_value=percent,
        is_test=parent.is_test,
        occurred_at=parent.occurred_at,
        hold_until=parent.hold_until,
        created_at=now,
        attribution_method=METHOD,
        sub_id=parent.sub_id,
        parent_id=parent.id,
        disputed_at=parent.disputed_at,
    )
