"""The terms of codes at gateways: our mark, amounts and times, and refusals of what they cannot hold."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import orjson

from adapters.coupons.base import CodeOrder, DiscountNotHeld
from adapters.gateways import shapes
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways import amounts

#: The field of an object at a gateway that holds our id, where there are such fields.
OUR_ID = "finderfee_id"

_NAME_CHARACTERS = 100

Value = TypeVar("Value")


def mark(code_id: UUID) -> str:
    """Return the words by which a code is recognized where there is no field for our id."""
    return f"finderfee:{code_id}"


def marked_name(order: CodeOrder) -> str:
    """Return a name for people that ends with the mark of the code."""
    return f"{order.family.name[:_NAME_CHARACTERS]} {mark(order.code_id)}"


def is_marked(words: str | None, code_id: UUID) -> bool:
    """Return whether a name or a description ends with the mark of a code."""
    return words is not None and words.endswith(mark(code_id))


def is_text_of(order: CodeOrder, text: str | None) -> bool:
    """Return whether a code at a gateway has the text of an order; gateways spell codes in any case."""
    return text is not None and text.upper() == order.code


def require_first_payment_only(discount: Discount) -> None:
    """Raise DiscountNotHeld for a discount off more than the first payment."""
    if discount.duration != DiscountDuration.Once:
        raise DiscountNotHeld("its codes are off one order only; make a coupon whose duration is Once.")


def require_no_months(discount: Discount) -> None:
    """Raise DiscountNotHeld for a discount that lasts for some months."""
    if discount.duration == DiscountDuration.Repeating:
        raise DiscountNotHeld("it counts billing periods and not months; make a coupon that is Once or Forever.")


def require_no_cap(discount: Discount, why: str) -> None:
    """Raise DiscountNotHeld for a discount whose codes can be redeemed a number of times."""
    if discount.max_redemptions_per_code is not None:
        raise DiscountNotHeld(f"{why}; leave the number of redemptions out.")


def require_currency(discount: Discount, home: Callable[[], str | None]) -> None:
    """Raise DiscountNotHeld for an amount off in another currency than the gateway's, which is read only then."""
    if discount.type == DiscountType.PercentOff:
        return
    currency = (home() or "").upper()
    if currency != discount.currency:
        raise DiscountNotHeld(f"it takes amounts off in {currency or 'its own currency'} only.")


def numbers(product_refs: tuple[str, ...]) -> list[int]:
    """Return ids of products that are numbers. Raises DiscountNotHeld for any other id."""
    for ref in product_refs:
        if not ref.isascii() or not ref.isdigit():
            raise DiscountNotHeld(f"the ids of its products are numbers, and {ref} is none.")
    return [int(ref) for ref in product_refs]


def decimal(discount: Discount) -> str:
    """Return an amount off as decimal text."""
    return amounts.to_decimal(discount.value, discount.currency or "")


def number(text: str) -> orjson.Fragment:
    """Return a decimal text as a number of JSON, digit by digit."""
    return orjson.Fragment(text)


def is_percent(discount: Discount) -> bool:
    """Return whether a discount is percents off, and not an amount."""
    return discount.type == DiscountType.PercentOff


def ends_at(discount: Discount) -> str | None:
    """Return when a code expires, as most gateways write it; None for one that does not."""
    return shapes.utc(discount.expires_at) if discount.expires_at else None


def ends_at_s(discount: Discount) -> int | None:
    """Return when a code expires in Unix seconds; None for one that does not."""
    return int(discount.expires_at.timestamp()) if discount.expires_at else None


def optional(**fields: Value | None) -> dict[str, Value]:
    """Return the fields that have a value: terms that a discount leaves out are not sent."""
    return {name: value for name, value in fields.items() if value}
