"""gumroad: each code is an offer code, of all products or of the one that is named.

An offer code has no place for our id but its cap: ours have a cap of more than a thousand million, which nobody reaches
and which is drawn from our id, so that they are known. So a cap of the brand's own cannot be held. Its discounts do not
expire, and off a membership they are off every payment. Refusals come with 200.
"""

import hashlib
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from adapters.coupons import rails
from adapters.coupons.base import CodeOrder, DiscountNotHeld
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.digital import gumroad
from adapters.gateways.wire import GatewayWire, Params
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways import amounts
from domain.gateways.names import Gateway

_LEAST_MARK, _MARKS = 1_000_000_000, 2**30  # the sum is less than the largest number that it keeps
_MOST_PAGES = 100


class GumroadCodes:
    """The rail; it has no state."""

    gateway = Gateway.Gumroad
    shape = CodeShape()

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make an offer code."""
        wire = gumroad.api(account)
        return rails.mint_once(order, lambda: _standing(wire, order), lambda: _made(wire, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the offer codes of the product that is named; those of all products are listed with any."""
        return rails.ours(_standing(gumroad.api(account), order))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete an offer code."""
        wire = gumroad.api(account)
        product = _through(wire, order)
        if product is None:
            return  # nothing is sold any more
        codes = f"{_path(product)}/offer_codes"
        try:
            _said(wire, "DELETE", f"{codes}/{shapes.segment(minted_id)}")
        except GatewayRejected:
            left = shapes.items(wire.get(codes), "offer_codes")
            if any(shapes.text(one, "id") == minted_id for one in left):
                raise


RAIL = GumroadCodes()


def cap(code_id: UUID) -> int:
    """Return the cap by which an offer code of ours is known."""
    return _LEAST_MARK + int.from_bytes(hashlib.sha256(code_id.bytes).digest()[:8]) % _MARKS


def _require_held(discount: Discount, products: list[Any]) -> None:
    if discount.expires_at is not None:
        raise DiscountNotHeld("its codes cannot expire; leave expiresAt out, and revoke the code when it is to end.")
    rails.require_no_months(discount)
    rails.require_no_cap(discount, "it keeps our mark of a code in its cap, and has no other place for it")
    if not products:
        raise DiscountNotHeld("it has no product yet.")
    is_forever = discount.duration == DiscountDuration.Forever
    if not is_forever and any(shapes.at(one, "is_tiered_membership") is True for one in products):
        raise DiscountNotHeld("off a membership its codes are off every payment; a coupon that is Forever can be held.")
    currencies = {(shapes.text(one, "currency") or "").upper() for one in products}
    other = next((currency for currency in sorted(currencies) if currency != discount.currency), discount.currency)
    rails.require_currency(discount, lambda: other)


def _made(wire: GatewayWire, order: CodeOrder) -> str:
    discount = order.family.discount
    products = _products(wire, discount.product_refs)
    _require_held(discount, products)
    form: dict[str, str | int] = {
        "name": order.code,
        "amount_off": amounts.to_minor(discount.value, discount.currency) if discount.currency else discount.value,
        "offer_type": "percent" if discount.type == DiscountType.PercentOff else "cents",
        "max_purchase_count": cap(order.code_id),
        "universal": "false" if discount.product_refs else "true",
    }
    codes = f"{_path(shapes.needed(products[0], 'id'))}/offer_codes"
    return shapes.needed(_said(wire, "POST", codes, form), "offer_code", "id")


def _standing(wire: GatewayWire, order: CodeOrder) -> StandingCode | None:
    product = _through(wire, order)
    if product is None:
        return None
    # Of a product that is not there none is listed; whether that is refused is for making to say.
    for one in shapes.items(wire.get(f"{_path(product)}/offer_codes"), "offer_codes"):
        if rails.is_text_of(order, shapes.text(one, "name")):
            return StandingCode(shapes.needed(one, "id"), shapes.at(one, "max_purchase_count") == cap(order.code_id))
    return None


def _through(wire: GatewayWire, order: CodeOrder) -> str | None:
    """Return the product by which the offer codes of an order are asked for; None where nothing is sold."""
    if refs := order.family.discount.product_refs:
        return refs[0]
    return next((shapes.needed(one, "id") for one in _all_products(wire)), None)


def _products(wire: GatewayWire, refs: tuple[str, ...]) -> list[Any]:
    """Return the product that is named, else all. Raises DiscountNotHeld for several, and for one that is not there."""
    if not refs:
        return list(_all_products(wire))
    if len(refs) > 1:
        raise DiscountNotHeld("its codes are for all products or for one; name one product in productRefs, or none.")
    said = wire.find(_path(refs[0]))
    if shapes.at(said, "success") is not True:
        raise DiscountNotHeld(f"it has no product {refs[0]}; productRefs are ids of its products.")
    return [shapes.at(said, "product")]


def _all_products(wire: GatewayWire) -> Iterator[Any]:
    params: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        said = _said(wire, "GET", "/products", params=params)
        yield from shapes.items(said, "products")
        following = shapes.text(said, "next_page_key")
        if following is None:
            return
        params = {"page_key": following}


def _said(
    wire: GatewayWire, method: str, path: str, form: Params | None = None, *, params: Params | None = None
) -> Any:
    said = wire.ask(method, path, params=params, form=form).json
    if shapes.at(said, "success") is not True:
        raise GatewayRejected(422, shapes.text(said, "message") or "it says no")
    return said


def _path(product: str) -> str:
    return f"/products/{shapes.segment(product)}"
