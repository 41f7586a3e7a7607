"""Payouts to the signed-in affiliate in the API, without their destinations."""

from collections.abc import Iterable
from typing import Any

from marshmallow import fields

from domain import statuses
from domain.payouts.states import PayoutStatus
from domain.payouts.transfers import MANUAL, Method
from schemas.base import Amount, Instant, Wire, one_of
from schemas.payouts.payout import day


class OwnPayoutLineRecord(Wire):
    """The amount of a payout for one conversion, or for a milestone of a deal, which has no `conversionId`.

    Negative where it holds back a reversal after payment; `note` explains it, otherwise null.
    """

    conversion_id = fields.UUID(allow_none=True)
    type = one_of(statuses.ConversionType, allow_none=True)
    occurred_at = Instant()
    native_amount_cents = fields.Integer()
    native_currency = fields.String()
    fx_rate = Amount()
    fx_rate_date = day()
    amount_cents = fields.Integer()
    reversed_native_cents = fields.Integer()
    reversed_amount_cents = fields.Integer()
    reversed_at = Instant(allow_none=True)
    note = fields.String(allow_none=True)


class OwnPayoutRecord(Wire):
    """A payout to the affiliate, in US cents."""

    id = fields.UUID()
    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    program_name = fields.String()
    organization_name = fields.String()
    deal_title = fields.String(allow_none=True)
    amount_cents = fields.Integer()
    currency = fields.String()
    method = one_of((*Method, MANUAL))
    status = one_of(PayoutStatus)
    reference = fields.String(allow_none=True)
    failure_reason = fields.String(allow_none=True)
    period_start = day()
    period_end = day()
    created_at = Instant()
    submitted_at = Instant(allow_none=True)
    paid_at = Instant(allow_none=True)
    failed_at = Instant(allow_none=True)
    voided_at = Instant(allow_none=True)


class OwnPayoutDetail(OwnPayoutRecord):
    """A payout to the affiliate with its lines, whose sum it is."""

    line_items = fields.List(fields.Nested(OwnPayoutLineRecord))


_RECORD = OwnPayoutRecord()
_LINE = OwnPayoutLineRecord(exclude=("note",))


def own_payout_detail(receipt: Any, lines: Iterable[Any]) -> dict[str, Any]:
    """Return a payout with its lines, from rows of `models.payouts.receipts`."""
    return {**_RECORD.dump(receipt), "lineItems": [_LINE.dump(line) | {"note": _note(line)} for line in lines]}


def _note(line: Any) -> str | None:
    if line.is_advance:
        if line.native_amount_cents < 0:
            return "Held back: it was paid to you before the service was restored from a backup."
        return "It was paid to you before the service was restored from a backup; your next payouts are smaller by it."
    if line.native_amount_cents < 0:
        reason = "denied" if line.was_denied else "refunded"
        return f"Held back: it was paid to you before and {reason} afterwards."
    if line.reversed_native_cents:
        return "A part of it was refunded since."
    return None
