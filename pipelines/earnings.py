"""Writes new conversions of any kind with all their related rows, in one transaction.

Only an import, which brings a thousand at once, has its own statements (`models/imports/conversions.py`).

Source: tracking spec, section 6, conversion.created; core spec, "Conversion".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain import jobs, statuses
from domain.attribution import self_referrals
from domain.conversions.override import RecruiterShare
from domain.statuses import ConversionStatus
from domain.webhooks import events
from models.conversions import conversions, revenue
from models.conversions.conversions import Conversion
from models.conversions.sale_terms import SaleTerms
from models.ledger import entries
from pipelines import work
from pipelines.notifications import sale_notices
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class EarnedConversion:
    """A new conversion, and the share of the affiliate's recruiter in a sale (None without a recruiter).

    `terms` are those of a sale that tracking or a connection recorded, of which the brand's people may be notified.
    """

    conversion: Conversion
    share: RecruiterShare | None = None
    terms: SaleTerms | None = None


def write(
    conversion: Conversion, *, now: datetime, share: RecruiterShare | None = None, terms: SaleTerms | None = None
) -> None:
    """Stage a conversion whose external event id is new to its source, with all its related rows.

    Those are the first line of its history, its ledger entry, its affiliate's revenue, its conversion.created event,
    the job for the recruiter's `share` of a sale, and with `terms` the job of a notification. Zero amounts create no
    ledger entry. `now` is the time of the ledger entry and of the event; the conversion has its own times.
    Budget: none; everything travels with the next statement or the commit.
    """
    write_all([EarnedConversion(conversion, share, terms)], now=now)


def write_all(earned: Sequence[EarnedConversion], *, now: datetime) -> None:
    """Stage conversions of one organization as `write` does, with as many statements as for one.

    Budget: none; everything travels with the next statement or the commit.
    """
    new_conversions = [item.conversion for item in earned]
    conversions.stage_insert(new_conversions)
    _stage_consequences(new_conversions, now)
    shared = [
        {"conversion_id": item.conversion.id, "recruiter_id": item.share.recruiter_id, "percent": item.share.percent}
        for item in earned
        if item.share is not None and item.conversion.commission_cents
    ]
    if shared:
        work.enqueue_all(jobs.OVERRIDE_WRITE, organization_id=new_conversions[0].organization_id, args=shared)
    sale_notices.stage_candidates([(item.conversion, item.terms) for item in earned if item.terms is not None])


def write_new(candidates: Sequence[Conversion], *, now: datetime) -> set[UUID]:
    """Write conversions of one organization as `write_all` does, except those whose external event id already exists.

    Nothing is written for duplicates. Returns the ids of the new conversions.
    Budget: 1 round trip; the rest travels with the next statement or the commit.
    """
    new_ids = conversions.insert_new(candidates)
    if new_ids:
        _stage_consequences([conversion for conversion in candidates if conversion.id in new_ids], now)
    return new_ids


def _stage_consequences(written: Sequence[Conversion], now: datetime) -> None:
    conversions.stage_history([_initial_line(conversion) for conversion in written])
    # An override written after its parent was denied or quarantined starts with that status and earns nothing.
    entries.stage_all(
        [
            entries.build(
                conversion,
                kind="earn",
                amount_cents=conversion.commission_cents,
                cause_id=conversion.id,
                created_at=now,
            )
            for conversion in written
            if conversion.status not in statuses.EARNS_NOTHING
        ]
    )
    emit.events_of_type(
        organization_id=written[0].organization_id,
        type="conversion.created",
        data=map(_created_data, written),
        at=now,
    )
    denied = [row for row in written if row.self_referral and row.status == ConversionStatus.Denied]
    if denied:
        emit.events_of_type(
            organization_id=denied[0].organization_id, type="conversion.denied", data=map(_denied_data, denied), at=now
        )
    revenue.stage_all(written)


def _initial_line(conversion: Conversion) -> conversions.NewHistoryLine:
    is_renewal = conversion.type == statuses.ConversionType.Recurring
    return conversions.NewHistoryLine(
        organization_id=conversion.organization_id,
        conversion_id=conversion.id,
        event_type="renewal" if is_renewal else "initial",
        amount_cents=conversion.amount_cents,
        commission_cents=conversion.commission_cents,
        occurred_at=conversion.occurred_at,
    )


def _denied_data(conversion: Conversion) -> dict[str, object]:
    return events.conversion_reviewed(
        conversion_id=conversion.id,
        affiliate_id=conversion.affiliate_id,
        program_id=conversion.program_id,
        amount_cents=conversion.amount_cents,
        currency=conversion.currency,
        commission_cents=conversion.commission_cents,
        status=conversion.status,
        previous_status=ConversionStatus.Pending,
        reason=self_referrals.REASON,
        attribution_method=conversion.attribution_method,
    )


def _created_data(conversion: Conversion) -> dict[str, object]:
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
