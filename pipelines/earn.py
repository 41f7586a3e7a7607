"""How a new conversion of any kind is written: the row with all that goes with it, in one transaction.

Only an import, which brings a thousand at once, has statements of its own (`models/imports/conversions.py`).

Source: tracking spec, section 6, conversion.created; core spec, "Conversion".
"""

from datetime import datetime

from domain import jobs, statuses
from domain.conversions.override import RecruiterShare
from domain.webhooks import events
from models.conversions import conversions, revenue
from models.conversions.conversions import Conversion
from models.ledger import entries
from pipelines import work
from pipelines.webhooks import emit


def write(conversion: Conversion, *, now: datetime, share: RecruiterShare | None = None) -> None:
    """Stage a conversion whose external event id is new to its source, and all that goes with it.

    That is the first line of its history, its ledger entry, its affiliate's revenue, its conversion.created event, and
    the job for the `share` of who recruited the affiliate of a sale. What is 0 books nothing. `now` is the
    moment of the ledger entry and of the event; the row says its own times.
    Budget: none; everything travels with the next statement or the commit.
    """
    conversions.stage_insert(conversion)
    _stage_what_follows(conversion, now)
    if share is not None and conversion.commission_cents:
        work.enqueue(
            jobs.OVERRIDE_WRITE,
            organization_id=conversion.organization_id,
            conversion_id=conversion.id,
            recruiter_id=share.recruiter_id,
            percent=share.percent,
        )


def write_once(conversion: Conversion, *, now: datetime) -> bool:
    """Write a conversion as `write` does; False, and nothing is written, when its source knows its external event id.

    Budget: 1 round trip; the rest travels with the next statement or the commit.
    """
    is_new = conversions.insert_unless_known(conversion)
    if is_new:
        _stage_what_follows(conversion, now)
    return is_new


def _stage_what_follows(conversion: Conversion, now: datetime) -> None:
    is_renewal = conversion.type == statuses.ConversionType.Recurring
    conversions.stage_history(
        organization_id=conversion.organization_id,
        conversion_id=conversion.id,
        event_type="renewal" if is_renewal else "initial",
        amount_cents=conversion.amount_cents,
        commission_cents=conversion.commission_cents,
        occurred_at=conversion.occurred_at,
    )
    # An override that is written after its parent was denied or quarantined is born so, and owes nobody anything.
    if conversion.status not in statuses.EARNS_NOTHING:
        entries.stage(
            conversion, kind="earn", amount_cents=conversion.commission_cents, cause_id=conversion.id, created_at=now
        )
    emit.event(
        organization_id=conversion.organization_id,
        type="conversion.created",
        data=_created(conversion),
        at=now,
    )
    revenue.stage(conversion, amount_cents=conversion.amount_cents)


def _created(conversion: Conversion) -> dict[str, object]:
    return events.conversion_created(
        conversion_id=conversion.id,
        affiliate_id=conversion.affiliate_id,
        program_id=conversion.program_id,
        amount_cents=conversion.amount_cents,
        currency=conversion.currency,
        commission_cents=conversion.commission_cents,
        status=conversion.status,
        external_event_id=conversion.external_event_id,
        type=conversion.type,
        attribution_method=conversion.attribution_method,
        coupon_code=conversion.coupon_code,
        sub_id=conversion.sub_id,
        parent_affiliate_conversion_id=conversion.parent_id,
    )
