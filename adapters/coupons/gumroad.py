"""gumroad: each code is an offer code, of all products or of the one that is named.

An offer code has no place for our id but its cap: ours have a cap of more than a thousand million, which is never
reached and which is drawn from our id, so that they are recognized. So a cap of the brand's own cannot be held. Its
discounts do not expire, and off a membership they are off every payment. Refusals come with 200.
"""

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, DiscountNotHeld, ExistingCode, UniqueCodeRail
from adapters.gateways import paging, shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.digital import gumroad
from adapters.gateways.wire import GatewayWire, Params
from domain.coupons.discounts import Discount, DiscountDuration
from domain.gateways import amounts
from domain.gateways.names import Gateway

_MIN_MARK, _MARKS = 1_000_000_000, 2**30  # the sum is less than the largest number that it keeps
_MAX_PAGES = 100


class GumroadCodes(UniqueCodeRail):
    gateway = Gateway.Gumroad

    def look(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Look at the offer codes of the product that is named; those of all products are listed with any."""
        api = gumroad.GATEWAY.api(account)
        product = _listing_product(api, order)
        if product is None:
            return None
        # None is listed of a product that does not exist; `make` refuses that.
        for code in shapes.items(api.get(f"{_path(product)}/offer_codes"), "offer_codes"):
            if terms.is_text_of(order, shapes.text(code, "name")):
                is_ours = shapes.get(code, "max_purchase_count") == cap(order.code_id)
                return ExistingCode(shapes.require(code, "id"), is_ours)
        return None

    def make(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make an offer code."""
        api, discount = gumroad.GATEWAY.api(account), order.family.discount
        products = _products(api, discount.product_refs)
        _require_held(discount, products)
        form: dict[str, str | int] = {
            "name": order.code,
            "amount_off": amounts.to_minor(discount.value, discount.currency) if discount.currency else discount.value,
            "offer_type": "percent" if terms.is_percent(discount) else "cents",
            "max_purchase_count": cap(order.code_id),
            "universal": "false" if discount.product_refs else "true",
        }
        codes = f"{_path(shapes.require(products[0], 'id'))}/offer_codes"
        return shapes.require(_ask(api, "POST", codes, form), "offer_code", "id")

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete an offer code."""
        api = gumroad.GATEWAY.api(account)
        product = _listing_product(api, order)
        if product is None:
            return  # nothing is sold any more
        codes = f"{_path(product)}/offer_codes"
        try:
            _ask(api, "DELETE", f"{codes}/{shapes.segment(minted_id)}")
        except GatewayRejected:
            if any(shapes.text(code, "id") == minted_id for code in shapes.items(api.get(codes), "offer_codes")):
                raise


RAIL = GumroadCodes()


def cap(code_id: UUID) -> int:
    """Return the cap by which an offer code of ours is recognized."""
    return _MIN_MARK + int.from_bytes(hashlib.sha256(code_id.bytes).digest()[:8]) % _MARKS


def _require_held(discount: Discount, products: list[Any]) -> None:
    if discount.expires_at is not None:
        raise DiscountNotHeld("its codes cannot expire; leave expiresAt out, and revoke the code when it is to end.")
    terms.require_no_months(discount)
    terms.require_no_cap(discount, "it keeps our mark of a code in its cap, and has no other place for it")
    if not products:
        raise DiscountNotHeld("it has no product yet.")
    is_forever = discount.duration == DiscountDuration.Forever
    if not is_forever and any(shapes.get(product, "is_tiered_membership") is True for product in products):
        raise DiscountNotHeld("off a membership its codes are off every payment; a coupon that is Forever can be held.")
    currencies = {(shapes.text(product, "currency") or "").upper() for product in products}
    other = next((currency for currency in sorted(currencies) if currency != discount.currency), discount.currency)
    terms.require_currency(discount, lambda: other)


def _listing_product(api: GatewayWire, order: CodeOrder) -> str | None:
    """Return the product whose offer codes are listed for an order; None where there is no product."""
    if refs := order.family.discount.product_refs:
        return refs[0]
    return next((shapes.require(product, "id") for product in _all_products(api)), None)


def _products(api: GatewayWire, refs: tuple[str, ...]) -> list[Any]:
    """Return the product that is named, else all. Raises DiscountNotHeld for several, or for a missing one."""
    if not refs:
        return list(_all_products(api))
    if len(refs) > 1:
        raise DiscountNotHeld("its codes are for all products or for one; name one product in productRefs, or none.")
    answer = api.find(_path(refs[0]))
    if shapes.get(answer, "success") is not True:
        raise DiscountNotHeld(f"it has no product {refs[0]}; productRefs are ids of its products.")
    return [shapes.get(answer, "product")]


def _all_products(api: GatewayWire) -> Iterator[Any]:
    def following(page: Any) -> Params | None:
        key = shapes.text(page, "next_page_key")
        return None if key is None else {"page_key": key}

    first: Params = {}
    pages = paging.follow(lambda params: _ask(api, "GET", "/products", params=params), first, following)
    for page in itertools.islice(pages, _MAX_PAGES):
        yield from shapes.items(page, "products")


def _ask(api: GatewayWire, method: str, path: str, form: Params | None = None, *, params: Params | None = None) -> Any:
    answer = api.ask(method, path, params=params, form=form).json
    if shapes.get(answer, "success") is not True:
        raise GatewayRejected(422, shapes.text(answer, "message") or "it says no")
    return answer


def _path(product: str) -> str:
    return f"/products/{shapes.segment(product)}"
