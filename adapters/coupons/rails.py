"""What the rails share: the mark by which a code of ours is known, how one is minted once, and what is not held."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import orjson

from adapters.coupons.base import CodeOrder, CodeTaken, DiscountNotHeld
from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways import amounts

#: The field of an object at a gateway that holds our id, where there are such fields.
OUR_ID = "finderfee_id"

_NAME_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class StandingCode:
    """What stands at a gateway under the text of a code: its id there, and whether it is the one that was ordered.

    One that is over (archived, expired) may or may not keep its text from others: the gateway says when it is asked.
    """

    id: str
    is_ours: bool
    is_over: bool = False


def mark(code_id: UUID) -> str:
    """Return the words by which a code is known where there is no field for our id."""
    return f"finderfee:{code_id}"


def marked_name(order: CodeOrder) -> str:
    """Return a name for people that ends with the mark of the code."""
    return f"{order.family.name[:_NAME_CHARACTERS]} {mark(order.code_id)}"


def is_marked(words: str | None, code_id: UUID) -> bool:
    """Say whether a name or a description ends with the mark of a code."""
    return words is not None and words.endswith(mark(code_id))


def mint_once(order: CodeOrder, look: Callable[[], StandingCode | None], make: Callable[[], str]) -> str:
    """Make a code where none stands under its text; return the one that was made for this order before.

    What the gateway cannot hold is for `make` to say: what stands was held once, whatever became of its products since.
    Raises CodeTaken, and what `look` and `make` raise.
    """
    standing = look()
    if standing is not None and standing.is_ours:
        return standing.id
    if standing is not None and not standing.is_over:
        raise CodeTaken(order.code)
    try:
        return make()
    except GatewayRejected as refused:
        # The words of "taken" are not the same everywhere; what stands there says it.
        standing = look()
        if standing is None:
            raise
        if not standing.is_ours:
            raise CodeTaken(order.code) from refused
        return standing.id


def ours(standing: StandingCode | None) -> str | None:
    """Return the id of what stands, if it is the one that was ordered."""
    return standing.id if standing is not None and standing.is_ours else None


def is_text_of(order: CodeOrder, found: str | None) -> bool:
    """Say whether a code found at a gateway has the text of an order; gateways spell codes in any case."""
    return found is not None and found.upper() == order.code


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
    """Raise DiscountNotHeld for an amount off in another currency than the gateway's, which is asked for only then."""
    if discount.type == DiscountType.PercentOff:
        return
    taken = (home() or "").upper()
    if taken != discount.currency:
        raise DiscountNotHeld(f"it takes amounts off in {taken or 'its own currency'} only.")


def numbers(product_refs: tuple[str, ...]) -> list[int]:
    """Return ids of products that are numbers. Raises DiscountNotHeld for one that is none."""
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
