"""The bodies of the signed sale and refund.

Source: tracking spec, "Server-to-server sale body", "Refund body", section 7 "Errors".
"""

from typing import Any
from urllib.parse import urlsplit

from marshmallow import ValidationError, fields, post_load

from domain.clicks import subid
from domain.conversions import avatars
from domain.money import currencies, money
from domain.refused import Refused
from schemas.base import MAY_LACK, NEEDED, CleanedLine, Wire, http_url, text

_LONGEST_EVENT_ID = 512
_CODE_LETTERS = 3


def _https(value: str) -> None:
    http_url(value)
    if urlsplit(value).scheme != "https":
        raise ValidationError("It must be an https URL.")


class Cents(fields.Integer):
    """A strict integer. One beyond 64 bits is parsed as a float: it is whole, and out of every range."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        is_huge = isinstance(value, float) and abs(value) >= 2**63
        return super()._deserialize(int(value) if is_huge else value, *args, **kwargs)


class SaleBody(Wire):
    """A signed sale. Loads to the columns of a sale plus `affiliate_slug` (lower case).

    Refuses with the spec's own codes, in this order: external_event_id_required, affiliate_slug_required,
    amount_out_of_range, unsupported_currency.
    """

    external_event_id = text(longest=_LONGEST_EVENT_ID, load_default=None, allow_none=True, metadata=NEEDED)
    affiliate_slug = text(longest=255, load_default=None, allow_none=True, metadata=NEEDED)
    amount_cents = Cents(strict=True, load_default=None, allow_none=True, metadata=NEEDED)
    currency = text(longest=255, load_default=None, allow_none=True)
    customer_id = text(longest=255, load_default=None, allow_none=True)
    customer_name = CleanedLine(longest=255, load_default=None, allow_none=True)
    customer_email = text(longest=320, load_default=None, allow_none=True)
    customer_avatar_url = text(longest=2048, load_default=None, allow_none=True, validate=[_https])
    sub_id = text(longest=1024, load_default=None, allow_none=True)

    @post_load
    def _settle_on_columns(self, sale: dict[str, Any], **_: object) -> dict[str, Any]:
        _required(sale["external_event_id"], "externalEventId", "external_event_id_required", status=400)
        _required(sale["affiliate_slug"], "affiliateSlug", "affiliate_slug_required", status=400)
        sale["affiliate_slug"] = sale["affiliate_slug"].lower()
        _in_range(sale["amount_cents"])
        sale["currency"] = supported_currency(sale["currency"])
        sale["sub_id"] = subid.normalize(sale["sub_id"])
        for name in ("customer_id", "customer_name", "customer_email"):
            sale[name] = (sale[name] or "").strip() or None
        sale["customer_avatar_url"] = sale["customer_avatar_url"] or avatars.url_from_email(sale["customer_email"])
        return sale


class RefundBody(Wire):
    """A signed refund. Loads to `external_event_id` and `refund_amount_cents` (None: what remains)."""

    external_event_id = text(longest=_LONGEST_EVENT_ID, load_default=None, allow_none=True, metadata=NEEDED)
    affiliate_slug = fields.Raw(
        load_default=None, allow_none=True, metadata={"description": "Refused: it is what tells a sale from a refund."}
    )
    refund_amount_cents = Cents(strict=True, load_default=None, allow_none=True)

    @post_load
    def _settle(self, refund: dict[str, Any], **_: object) -> dict[str, Any]:
        # The signature covers the body and not the address: a captured sale must not serve as its own refund.
        if refund.pop("affiliate_slug") is not None:
            raise Refused(400, "invalid_body", "This is the body of a sale, not of a refund.", field="affiliateSlug")
        _required(refund["external_event_id"], "externalEventId", "external_event_id_required", status=422)
        return refund


class RefundAnswer(Wire):
    """What a refund did."""

    ok = fields.Constant(True)
    conversion_id = fields.UUID()
    refunded_amount_cents = fields.Integer()
    cumulative_refunded_amount_cents = fields.Integer()
    is_full_refund = fields.Boolean()


def supported_currency(sent: str | None) -> str:
    """Return the currency code to record: USD when blank, else what was sent if it is supported.

    Raises Refused unsupported_currency, which echoes what was sent; a mislabelled amount is never taken for USD.
    """
    if sent is None or not sent.strip():
        return "USD"
    code = currencies.normalize(sent) if len(sent) == _CODE_LETTERS else None
    if code is None:
        raise Refused(
            400, "unsupported_currency", f"{sent!r} is not a supported currency code.", field="currency", currency=sent
        )
    return code


def _required(value: str | None, field: str, code: str, *, status: int) -> None:
    if value is None or not value.strip():
        raise Refused(status, code, f"{field} is required.", field=field)


def _in_range(amount_cents: int | None) -> None:
    if amount_cents is None or not 1 <= amount_cents <= money.MAX_AMOUNT_CENTS:
        raise Refused(
            400,
            "amount_out_of_range",
            f"amountCents must be from 1 to {money.MAX_AMOUNT_CENTS} minor units of the currency.",
            field="amountCents",
        )


class SaleAnswer(Wire):
    """`conversionId` of a fresh sale, or `deduped` when the sale is known."""

    ok = fields.Constant(True)
    conversion_id = fields.UUID(metadata=MAY_LACK)
    deduped = fields.Constant(True, metadata=MAY_LACK)
