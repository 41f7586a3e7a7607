"""The bodies of the signed sale and refund.

Source: tracking spec, "Server-to-server sale body", "Refund body", section 7 "Errors".
"""

from typing import Any
from urllib.parse import urlsplit

from marshmallow import ValidationError, fields, post_load

from domain.clicks import subid
from domain.conversions import avatars
from domain.money import currencies, money
from domain.refusals import Refused
from schemas.base import MAY_LACK, NEEDED, CleanedLine, Wire, http_url, text

_MAX_EVENT_ID_CHARS = 512
_CODE_LETTERS = 3


def _https(value: str) -> None:
    http_url(value)
    if urlsplit(value).scheme != "https":
        raise ValidationError("It must be an https URL.")


class Cents(fields.Integer):
    """A strict integer. One beyond 64 bits is parsed as a float; it is accepted as an integer, out of every range."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        is_huge = isinstance(value, float) and abs(value) >= 2**63
        return super()._deserialize(int(value) if is_huge else value, *args, **kwargs)


class SaleBody(Wire):
    """A signed sale. Loads to the columns of a sale plus `affiliate_slug` (lower case).

    Refuses with the spec's own codes, in this order: external_event_id_required, affiliate_slug_required,
    amount_out_of_range, unsupported_currency.
    """

    external_event_id = text(longest=_MAX_EVENT_ID_CHARS, load_default=None, allow_none=True, metadata=NEEDED)
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
        _require(sale["external_event_id"], "externalEventId", "external_event_id_required", status=400)
        _require(sale["affiliate_slug"], "affiliateSlug", "affiliate_slug_required", status=400)
        sale["affiliate_slug"] = sale["affiliate_slug"].lower()
        _check_amount(sale["amount_cents"])
        sale["currency"] = supported_currency(sale["currency"])
        sale["sub_id"] = subid.normalize(sale["sub_id"])
        for name in ("customer_id", "customer_name", "customer_email"):
            sale[name] = (sale[name] or "").strip() or None
        sale["customer_avatar_url"] = sale["customer_avatar_url"] or avatars.url_from_email(sale["customer_email"])
        return sale


class RefundBody(Wire):
    """A signed refund. Loads to `external_event_id` and `refund_amount_cents` (None: all that remains)."""

    external_event_id = text(longest=_MAX_EVENT_ID_CHARS, load_default=None, allow_none=True, metadata=NEEDED)
    affiliate_slug = fields.Raw(
        load_default=None, allow_none=True, metadata={"description": "Refused: it distinguishes a sale from a refund."}
    )
    refund_amount_cents = Cents(strict=True, load_default=None, allow_none=True)

    @post_load
    def _settle(self, refund: dict[str, Any], **_: object) -> dict[str, Any]:
        # The signature covers the body and not the URL: a captured sale must not be usable as its own refund.
        if refund.pop("affiliate_slug") is not None:
            raise Refused(400, "invalid_body", "This is the body of a sale, not of a refund.", field="affiliateSlug")
        _require(refund["external_event_id"], "externalEventId", "external_event_id_required", status=422)
        return refund


class RefundAnswer(Wire):
    """The effect of a refund."""

    ok = fields.Constant(True)
    conversion_id = fields.UUID()
    refunded_amount_cents = fields.Integer()
    cumulative_refunded_amount_cents = fields.Integer()
    is_full_refund = fields.Boolean()


def supported_currency(text: str | None) -> str:
    """Return the currency code to record: USD for a blank text, else the text itself if it is supported.

    Raises Refused unsupported_currency, which echoes the text; a mislabelled amount never counts as USD.
    """
    if text is None or not text.strip():
        return "USD"
    code = currencies.normalize(text) if len(text) == _CODE_LETTERS else None
    if code is None:
        raise Refused(
            400, "unsupported_currency", f"{text!r} is not a supported currency code.", field="currency", currency=text
        )
    return code


def _require(value: str | None, field: str, code: str, *, status: int) -> None:
    if value is None or not value.strip():
        raise Refused(status, code, f"{field} is required.", field=field)


def _check_amount(amount_cents: int | None) -> None:
    if amount_cents is None or not 1 <= amount_cents <= money.MAX_AMOUNT_CENTS:
        raise Refused(
            400,
            "amount_out_of_range",
            f"amountCents must be from 1 to {money.MAX_AMOUNT_CENTS} minor units of the currency.",
            field="amountCents",
        )


class SaleAnswer(Wire):
    """`conversionId` of a new sale, or `deduped` if the sale is known."""

    ok = fields.Constant(True)
    conversion_id = fields.UUID(metadata=MAY_LACK)
    deduped = fields.Constant(True, metadata=MAY_LACK)
