"""The types of webhook events and their JSON form.

Source: tracking spec, section 6 "Events", and "Webhook delivery" (the envelope; fields whose value is null are
omitted). Payouts are in `domain.payouts.events`, the second step of an application in
`domain.programs.application_events`, signing is in `signing`, retries are in `delivery`.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from uuid import UUID

from domain.webhooks import samples

#: Every event type with a subscription, in the order of the spec's table.
TYPES: tuple[str, ...] = (
    "conversion.created",
    "conversion.refunded",
    "conversion.approved",
    "conversion.denied",
    "conversion.validated",
    "conversion.invalidated",
    "conversion.adjusted",
    "payout.created",
    "payout.paid",
    "payout.failed",
    "affiliate.created",
    "affiliate.approved",
    "affiliate.application_completed",
    "campaign_coupon.created",
    "campaign_coupon.updated",
    "campaign_coupon.deactivated",
    "campaign_coupon.deleted",
    "affiliate_coupon.created",
    "affiliate_coupon.deactivated",
    "affiliate_coupon.revoked",
    "deal.funded",
    "milestone.submitted",
    "milestone.released",
    "dispute.opened",
)

#: The trigger events, of which the Test action can send a realistic sample. Source: tracking spec, "Retry semantics".
TESTABLE: tuple[str, ...] = (
    "conversion.created",
    "conversion.refunded",
    "affiliate.created",
    "affiliate.approved",
    "payout.created",
    "payout.paid",
    "payout.failed",
    "campaign_coupon.created",
    "affiliate_coupon.created",
)

_EVERYTHING = "*"


def event_id(uuid: UUID) -> str:
    """Return the public id of an event: `evt_` and 32 hex characters.

    Source: tracking spec, "Webhook delivery".
    """
    return f"evt_{uuid.hex}"


def unknown_types(events: Iterable[str]) -> list[str]:
    """Return the names, in order, that are not event types.

    `*` means all types and is valid; a prefix wildcard such as `campaign_coupon.*` is not.
    Source: tracking spec, section 6 "Events".
    """
    return [event for event in events if event != _EVERYTHING and event not in TYPES]


def conversion_created(
    *,
    conversion_id: UUID,
    affiliate_id: UUID,
    program_id: UUID,
    amount_cents: int,
    currency: str,
    commission_cents: int,
    status: str,
    external_event_id: str | None,
    type: str,
    attribution_method: str | None = None,
    coupon_code: str | None = None,
    sub_id: str | None = None,
    parent_affiliate_conversion_id: UUID | None = None,
) -> dict[str, object]:
    """Return the data of a conversion.created event.

    Units: minor units. The parent is set on override rows only; None values are left out.
    Source: tracking spec, section 6, conversion.created.
    """
    return without_nulls(
        {
            "conversionId": str(conversion_id),
            "affiliateId": str(affiliate_id),
            "programId": str(program_id),
            "amountCents": amount_cents,
            "currency": currency,
            "commissionCents": commission_cents,
            "status": str(status),
            "externalEventId": external_event_id,
            "type": str(type),
            "attributionMethod": attribution_method,
            "couponCode": coupon_code,
            "subId": sub_id,
            "parentAffiliateConversionId": _optional_id(parent_affiliate_conversion_id),
        }
    )


def conversion_refunded(
    *,
    conversion_id: UUID,
    affiliate_id: UUID,
    program_id: UUID,
    refunded_amount_cents: int,
    commission_reversed_cents: int,
    cumulative_refunded_amount_cents: int,
    is_full_refund: bool,
    currency: str,
    refunded_at: datetime,
    attribution_method: str | None = None,
    parent_affiliate_conversion_id: UUID | None = None,
) -> dict[str, object]:
    """Return the data of a conversion.refunded event.

    Units: minor units; the refunded and reversed amounts are this event's own, the cumulative one is the lifetime
    total. `refunded_at` is the time of this refund (aware), partial or not.
    Source: tracking spec, section 6, conversion.refunded.
    """
    return without_nulls(
        {
            "conversionId": str(conversion_id),
            "affiliateId": str(affiliate_id),
            "programId": str(program_id),
            "refundedAmountCents": refunded_amount_cents,
            "commissionReversedCents": commission_reversed_cents,
            "cumulativeRefundedAmountCents": cumulative_refunded_amount_cents,
            "isFullRefund": is_full_refund,
            "currency": currency,
            "refundedAt": timestamp(refunded_at),
            "attributionMethod": attribution_method,
            "parentAffiliateConversionId": _optional_id(parent_affiliate_conversion_id),
        }
    )


def conversion_reviewed(
    *,
    conversion_id: UUID,
    affiliate_id: UUID,
    program_id: UUID,
    amount_cents: int,
    currency: str,
    commission_cents: int,
    status: str,
    previous_status: str,
    reason: str | None = None,
    attribution_method: str | None = None,
    parent_affiliate_conversion_id: UUID | None = None,
) -> dict[str, object]:
    """Return the data of a conversion.denied, .validated or .invalidated event.

    Units: minor units; `commission_cents` is net of reversals.
    Source: tracking spec, section 6 (without an example).
    """
    return without_nulls(
        {
            "conversionId": str(conversion_id),
            "affiliateId": str(affiliate_id),
            "programId": str(program_id),
            "amountCents": amount_cents,
            "currency": currency,
            "commissionCents": commission_cents,
            "status": str(status),
            "previousStatus": str(previous_status),
            "reason": reason,
            "attributionMethod": attribution_method,
            "parentAffiliateConversionId": _optional_id(parent_affiliate_conversion_id),
        }
    )


def conversion_adjusted(
    *,
    conversion_id: UUID,
    affiliate_id: UUID,
    program_id: UUID,
    amount_cents: int,
    previous_amount_cents: int,
    currency: str,
    commission_cents: int,
    previous_commission_cents: int,
    status: str,
    previous_status: str | None = None,
    reason: str | None = None,
    attribution_method: str | None = None,
    parent_affiliate_conversion_id: UUID | None = None,
) -> dict[str, object]:
    """Return the data of a conversion.adjusted event: its amounts before and after; the status rarely changes.

    Units: minor units; amounts are net of refunds, commissions net of reversals.
    Source: tracking spec, section 6 (without an example).
    """
    return without_nulls(
        {
            "conversionId": str(conversion_id),
            "affiliateId": str(affiliate_id),
            "programId": str(program_id),
            "amountCents": amount_cents,
            "previousAmountCents": previous_amount_cents,
            "currency": currency,
            "commissionCents": commission_cents,
            "previousCommissionCents": previous_commission_cents,
            "status": str(status),
            "previousStatus": str(previous_status or status),
            "reason": reason,
            "attributionMethod": attribution_method,
            "parentAffiliateConversionId": _optional_id(parent_affiliate_conversion_id),
        }
    )


def affiliate_created(
    *,
    affiliate_id: UUID,
    program_id: UUID,
    email: str,
    full_name: str | None,
    status: str,
    slug: str,
    application_answers: Mapping[str, object] | None = None,
    source: str | None = None,
) -> dict[str, object]:
    """Return the data of an affiliate.created event.

    `application_answers` maps form field keys to answers, None without a form. `source` is public_apply on
    storefront applications and None otherwise.
    Source: tracking spec, section 6, affiliate.created.
    """
    return without_nulls(
        {
            "affiliateId": str(affiliate_id),
            "programId": str(program_id),
            "email": email,
            "fullName": full_name,
            "status": str(status),
            "slug": slug,
            "applicationAnswers": application_answers,
            "source": source,
        }
    )


def affiliate_approved(
    *,
    affiliate_id: UUID,
    program_id: UUID,
    email: str,
    full_name: str | None,
    approved_at: datetime,
    application_answers: Mapping[str, object] | None = None,
    auto_approved: bool = False,
) -> dict[str, object]:
    """Return the data of an affiliate.approved event.

    `application_answers` are those stored at approval. `autoApproved` is present, and true, only if approved on
    arrival. Source: tracking spec, section 6, affiliate.approved.
    """
    return without_nulls(
        {
            "affiliateId": str(affiliate_id),
            "programId": str(program_id),
            "email": email,
            "fullName": full_name,
            "approvedAt": timestamp(approved_at),
            "applicationAnswers": application_answers,
            "autoApproved": True if auto_approved else None,
        }
    )


def sample(type: str) -> dict[str, object]:
    """Return a copy of the sample data of one of the nine trigger events, or of the generic `test` event.

    Raises ValueError for every other type.
    Source: tracking spec, "Retry semantics", the Test action.
    """
    if type not in samples.SAMPLES:
        raise ValueError(f"no sample for {type!r}")
    return deepcopy(dict(samples.SAMPLES[type]))


def envelope(
    *,
    event_uuid: UUID,
    type: str,
    created_at: datetime,
    organization_id: UUID,
    data: Mapping[str, object],
) -> dict[str, object]:
    """Return the JSON object of a webhook: id, type, createdAt, organizationId, data.

    Raises ValueError for a time without a zone.
    Source: tracking spec, "Webhook delivery".
    """
    return {
        "id": event_id(event_uuid),
        "type": type,
        "createdAt": timestamp(created_at),
        "organizationId": str(organization_id),
        "data": dict(data),
    }


def timestamp(at: datetime) -> str:
    """Return a time in the form of events: UTC with milliseconds. Raises ValueError for a time without a zone."""
    if at.tzinfo is None:
        raise ValueError("an event's time needs a time zone")
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _optional_id(uuid: UUID | None) -> str | None:
    return None if uuid is None else str(uuid)


def without_nulls(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields with a value: events leave the others out."""
    return {name: value for name, value in fields.items() if value is not None}
