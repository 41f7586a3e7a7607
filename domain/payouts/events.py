"""The JSON form of the events of payouts. Amounts are minor units of the payout's currency.

Source: tracking spec, section 6 "Events", payout.created, payout.paid and payout.failed.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from uuid import UUID

from domain.payouts.states import PayoutStatus
from domain.webhooks import events


def serialize_created(
    *,
    payout_id: UUID,
    affiliate_id: UUID,
    amount_cents: int,
    currency: str,
    method: str,
    conversion_ids: Iterable[UUID | str],
    period_start: date,
    period_end: date,
) -> dict[str, object]:
    """Return the data of a payout.created event: once per recipient and run, and again when one is retried."""
    return {
        **_identify(payout_id, affiliate_id, amount_cents, currency, method),
        "status": PayoutStatus.Pending,
        "lineItemConversionIds": [str(conversion_id) for conversion_id in conversion_ids],
        "periodStart": period_start.isoformat(),
        "periodEnd": period_end.isoformat(),
    }


def serialize_paid(
    *,
    payout_id: UUID,
    affiliate_id: UUID,
    amount_cents: int,
    currency: str,
    method: str,
    paid_at: datetime,
    references: Mapping[str, str | None],
) -> dict[str, object]:
    """Return the data of a payout.paid event; `references` are the rail's ids of the payment, by its own names."""
    return {
        **_identify(payout_id, affiliate_id, amount_cents, currency, method),
        "paidAt": events.timestamp(paid_at),
        **events.without_nulls(references),
    }


def serialize_failed(
    *,
    payout_id: UUID,
    affiliate_id: UUID,
    amount_cents: int,
    currency: str,
    method: str,
    failure_reason: str,
    failed_at: datetime,
) -> dict[str, object]:
    """Return the data of a payout.failed event."""
    return {
        **_identify(payout_id, affiliate_id, amount_cents, currency, method),
        "failureReason": failure_reason,
        "failedAt": events.timestamp(failed_at),
    }


def _identify(payout_id: UUID, affiliate_id: UUID, amount_cents: int, currency: str, method: str) -> dict[str, object]:
    return {
        "payoutId": str(payout_id),
        "affiliateId": str(affiliate_id),
        "amountCents": amount_cents,
        "currency": currency,
        "method": method,
    }
