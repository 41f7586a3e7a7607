"""Parts of the requests that create codes: our mark, amounts and times, and checks for unsupported discounts."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import orjson

from adapters.coupons.base import CodeOrder, UnsupportedDiscount
from adapters.gateways import shapes
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways import amounts

#: The field of an object at a gateway that holds our id, where there are such fields.
OUR_ID = "finderfee_id"

_NAME_CHARACTERS = 100

Value = TypeVar("Value")


def mark(code_id: UUID) -> str:
    """Return the text by which we recognize our code at a gateway without a field for our id."""
    return f"finderfee:{code_id}"


def name_with_mark(order: CodeOrder) -> str:
    """Return a name for people that ends with the mark of the code."""
    return f"{order.family.name[:_NAME_CHARACTERS]} {mark(order.code_id)}"


def is_marked(text: str | None, code_id: UUID) -> bool:
    """Return whether a name or a description ends with the mark of a code."""
    return text is not None and text.endswith(mark(code_id))


def matches_order(order: CodeOrder, text: str | None) -> bool:
    """Return whether a gateway's code has the text of an order, ignoring case."""
    return text is not None and text.upper() == order.code


def require_first_payment_only(discount: Discount) -> None:
    """Raise UnsupportedDiscount if a discount applies to more than the first payment."""
    if discount.duration != DiscountDuration.Once:
        raise UnsupportedDiscount("its codes are off one order only; make a coupon whose duration is Once.")


def require_no_months(discount: Discount) -> None:
    """Raise UnsupportedDiscount if a discount lasts for a number of months."""
    if discount.duration == DiscountDuration.Repeating:
        raise UnsupportedDiscount("it counts billing periods and not months; make a coupon that is Once or Forever.")


def require_no_cap(discount: Discount, why: str) -> None:
    """Raise UnsupportedDiscount if a discount limits how often its codes can be redeemed."""
    if discount.max_redemptions_per_code is not None:
        raise UnsupportedDiscount(f"{why}; leave the number of redemptions out.")


def require_currency(discount: Discount, home: Callable[[], str | None]) -> None:
    """Raise UnsupportedDiscount if an amount off is in another currency than the gateway's.

    `home` reads that currency, and is called only for an amount off.
    """
    if discount.type == DiscountType.PercentOff:
        return
    currency = (home() or "").upper()
    if currency != discount.currency:
        raise UnsupportedDiscount(f"it takes amounts off in {currency or 'its own currency'} only.")


def numbers(product_refs: tuple[str, ...]) -> list[int]:
    """Return product ids as numbers. Raises UnsupportedDiscount for an id that is not a number."""
    for ref in product_refs:
        if not ref.isascii() or not ref.isdigit():
            raise UnsupportedDiscount(f"the ids of its products are numbers, and {ref} is none.")
    return [int(ref) for ref in product_refs]


def decimal(discount: Discount) -> str:
    """Return an amount off as decimal text."""
    return amounts.to_decimal(discount.value, discount.currency or "")


def number(text: str) -> orjson.Fragment:
    """Return a decimal text as a JSON number with the same digits."""
    return orjson.Fragment(text)


def is_percent(discount: Discount) -> bool:
    """Return whether a discount is a percentage, not an amount."""
    return discount.type == DiscountType.PercentOff


def expires_at(discount: Discount) -> str | None:
    """Return when a code expires, as RFC 3339 text; None if it does not expire."""
    return shapes.utc(discount.expires_at) if discount.expires_at else None


def expires_at_s(discount: Discount) -> int | None:
    """Return when a code expires, in Unix seconds; None if it does not expire."""
    return int(discount.expires_at.timestamp()) if discount.expires_at else None


def optional(**fields: Value | None) -> dict[str, Value]:
    """Return the fields that have a value, since absent terms are not sent."""
    return {name: value for name, value in fields.items() if value}
