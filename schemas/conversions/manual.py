"""A conversion recorded by hand.

Source: core spec, "Conversions" (manual conversion).
"""

from typing import Any

from marshmallow import fields, post_load

from domain.conversions import manual_sales
from domain.money.money import MAX_AMOUNT_CENTS
from domain.refusals import Refused
from schemas.base import Email, Instant, Wire, one_of, text
from schemas.conversions.conversion import ConversionRecord
from schemas.conversions.sale import Cents, supported_currency

_NOTE_CHARACTERS = 1_000


class ManualConversionBody(Wire):
    """A sale or a bonus. Loads with `amount_cents` 0 for a bonus and `currency` None for the home currency.

    Refuses with codes of its own, in this order: bonus_has_no_amount, amount_out_of_range, commission_out_of_range,
    commission_exceeds_cap, unsupported_currency.
    """

    program_id = fields.UUID(required=True)
    affiliate_id = fields.UUID(required=True)
    kind = one_of(("sale", "bonus"), load_default="sale", allow_none=True)
    amount_cents = Cents(strict=True, load_default=None, allow_none=True)
    currency = text(longest=255, load_default=None, allow_none=True)
    commission_cents = Cents(strict=True, load_default=None, allow_none=True)
    customer_email = Email(load_default=None, allow_none=True)
    occurred_at = Instant(load_default=None, allow_none=True)
    note = text(longest=50_000, load_default=None, allow_none=True)

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        body["kind"] = body["kind"] or "sale"
        if body["kind"] == "bonus":
            _check_bonus(body)
            body["amount_cents"] = 0
        else:
            _check_sale(body)
        has_currency = body["currency"] is not None and bool(body["currency"].strip())
        body["currency"] = supported_currency(body["currency"]) if has_currency else None
        body["note"] = (body["note"] or "").strip()[:_NOTE_CHARACTERS] or None
        return body


class ManualConversionAnswer(Wire):
    """The conversion and its note."""

    conversion = fields.Nested(ConversionRecord)
    note = fields.String(allow_none=True)


def _check_bonus(body: dict[str, Any]) -> None:
    if body["amount_cents"] is not None:
        raise Refused(400, "bonus_has_no_amount", "A bonus has no amountCents.", field="amountCents")
    commission_cents = body["commission_cents"]
    if commission_cents is None or not 1 <= commission_cents <= MAX_AMOUNT_CENTS:
        message = f"A bonus needs commissionCents from 1 to {MAX_AMOUNT_CENTS} minor units of the currency."
        raise Refused(400, "commission_out_of_range", message, field="commissionCents")


def _check_sale(body: dict[str, Any]) -> None:
    amount_cents, commission_cents = body["amount_cents"], body["commission_cents"]
    if amount_cents is None or not 1 <= amount_cents <= MAX_AMOUNT_CENTS:
        message = f"amountCents must be from 1 to {MAX_AMOUNT_CENTS} minor units of the currency."
        raise Refused(400, "amount_out_of_range", message, field="amountCents")
    if commission_cents is None:
        return
    if commission_cents < 0:
        message = "commissionCents must not be negative."
        raise Refused(400, "commission_out_of_range", message, field="commissionCents")
    if commission_cents > manual_sales.MAX_TIMES_AMOUNT * amount_cents:
        message = f"commissionCents can be at most {manual_sales.MAX_TIMES_AMOUNT} times amountCents."
        raise Refused(400, "commission_exceeds_cap", message, field="commissionCents")
