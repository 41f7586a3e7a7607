"""The terms of codes at gateways: our mark, amounts and times, and checks for what a gateway does not support."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import orjson

from adapters.coupons.base import CodeOrder, DiscountUnsupported
from adapters.gateways import shapes
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways import amounts

#: The metadata field with our id, at gateways that have metadata.
OUR_ID = "finderfee_id"

_NAME_CHARACTERS = 100

Value = TypeVar("Value")


def mark(code_id: UUID) -> str:
    """Return the text by which a code is recognized as ours at gateways without a field for our id."""
    return f"finderfee:{code_id}"


def name_with_mark(order: CodeOrder) -> str:
    """Return the family's name followed by the mark of the code."""
    return f"{order.family.name[:_NAME_CHARACTERS]} {mark(order.code_id)}"


def is_marked(text: str | None, code_id: UUID) -> bool:
    """Return whether a name or a description ends with the mark of a code."""
    return text is not None and text.endswith(mark(code_id))


def matches_order(order: CodeOrder, text: str | None) -> bool:
    """Return whether a text at a gateway is the code to create; gateways spell codes in any case."""
    return text is not None and text.upper() == order.code


def require_first_payment_only(discount: Discount) -> None:
    """Raise DiscountUnsupported for a discount of more than the first payment."""
    if discount.duration != DiscountDuration.Once:
        raise DiscountUnsupported("its codes discount only one order; create a coupon with the duration Once.")


def require_no_months(discount: Discount) -> None:
    """Raise DiscountUnsupported for a discount of a number of months."""
    if discount.duration == DiscountDuration.Repeating:
        raise DiscountUnsupported(
            "its discounts cannot last a number of months; create a coupon with the duration Once or Forever."
        )


def require_no_cap(discount: Discount, why: str) -> None:
    """Raise DiscountUnsupported for a discount with a maximum number of redemptions."""
    if discount.max_redemptions_per_code is not None:
        raise DiscountUnsupported(f"{why}; leave out the number of redemptions.")


def require_currency(discount: Discount, fetch_currency: Callable[[], str | None]) -> None:
    """Raise DiscountUnsupported if an amount is not in the gateway's currency, which is fetched only for amounts."""
    if discount.type == DiscountType.PercentOff:
        return
    currency = (fetch_currency() or "").upper()
    if currency != discount.currency:
        raise DiscountUnsupported(
            f"it supports amounts in {currency or 'its own currency'} only; use that currency or a percentage."
        )


def numbers(product_refs: tuple[str, ...]) -> list[int]:
    """Return product ids as integers. Raises DiscountUnsupported for any other id."""
    for ref in product_refs:
        if not ref.isascii() or not ref.isdigit():
            raise DiscountUnsupported(f"its product ids are numbers, and {ref} is not a number.")
    return [int(ref) for ref in product_refs]


def decimal(discount: Discount) -> str:
    """Return the amount of a discount as decimal text."""
    return amounts.to_decimal(discount.value, discount.currency or "")


def number(text: str) -> orjson.Fragment:
    """Return a decimal text as a JSON number with the same digits."""
    return orjson.Fragment(text)


def is_percent(discount: Discount) -> bool:
    """Return whether a discount is a percentage, not an amount."""
    return discount.type == DiscountType.PercentOff


def expires_at(discount: Discount) -> str | None:
    """Return when a code expires, in the format of most gateways; None if it does not expire."""
    return shapes.utc(discount.expires_at) if discount.expires_at else None


def expires_at_s(discount: Discount) -> int | None:
    """Return when a code expires in Unix seconds; None if it does not expire."""
    return int(discount.expires_at.timestamp()) if discount.expires_at else None


def optional(**fields: Value | None) -> dict[str, Value]:
    """Return the fields that have a value: terms that a discount does not set are not sent."""
    return {name: value for name, value in fields.items() if value}
