"""gumroad: each code is an offer code, of all products or of the one in productRefs.

The only field of an offer code that can identify it as ours is its maximum number of uses. We set it to a number above
a thousand million, derived from our id and never reached, so the brand's own maximum cannot be set. Offer codes do not
expire, and on a membership they discount every payment. Gumroad refuses with status 200 and `success` false.
"""

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, DiscountUnsupported, ExistingCode, UniqueCodeRail
from adapters.gateways import paging, shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.digital import gumroad
from adapters.gateways.wire import GatewayApi, Params
from domain.coupons.discounts import Discount, DiscountDuration
from domain.gateways import amounts
from domain.gateways.names import Gateway

_MIN_MARK, _MARKS = 1_000_000_000, 2**30  # the sum fits into the largest number that Gumroad stores
_MAX_PAGES = 100


class GumroadCodes(UniqueCodeRail):
    gateway = Gateway.Gumroad

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the offer code with this text; codes of all products are listed with each product."""
        api = gumroad.GATEWAY.api(account)
        product = _listing_product(api, order)
        if product is None:
            return None
        # The list of a product that does not exist is empty; `create_code` refuses such a product.
        for code in shapes.items(api.get(f"{_path(product)}/offer_codes"), "offer_codes"):
            if terms.matches_order(order, shapes.text(code, "name")):
                is_ours = shapes.get(code, "max_purchase_count") == cap(order.code_id)
                return ExistingCode(shapes.require(code, "id"), is_ours)
        return None

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create an offer code."""
        api, discount = gumroad.GATEWAY.api(account), order.family.discount
        products = _products(api, discount.product_refs)
        _require_supported(discount, products)
        form: dict[str, str | int] = {
            "name": order.code,
            "amount_off": amounts.to_minor(discount.value, discount.currency) if discount.currency else discount.value,
            "offer_type": "percent" if terms.is_percent(discount) else "cents",
            "max_purchase_count": cap(order.code_id),
            "universal": "false" if discount.product_refs else "true",
        }
        codes = f"{_path(shapes.require(products[0], 'id'))}/offer_codes"
        return shapes.require(_request(api, "POST", codes, form), "offer_code", "id")

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete an offer code."""
        api = gumroad.GATEWAY.api(account)
        product = _listing_product(api, order)
        if product is None:
            return  # there are no products, so no codes either
        codes = f"{_path(product)}/offer_codes"
        try:
            _request(api, "DELETE", f"{codes}/{shapes.segment(minted_id)}")
        except GatewayRejected:
            if any(shapes.text(code, "id") == minted_id for code in shapes.items(api.get(codes), "offer_codes")):
                raise


RAIL = GumroadCodes()


def cap(code_id: UUID) -> int:
    """Return the maximum number of uses by which an offer code is recognized as ours."""
    return _MIN_MARK + int.from_bytes(hashlib.sha256(code_id.bytes).digest()[:8]) % _MARKS


def _require_supported(discount: Discount, products: list[Any]) -> None:
    if discount.expires_at is not None:
        raise DiscountUnsupported("its codes cannot expire; leave out expiresAt, and revoke the code to end it.")
    terms.require_no_months(discount)
    terms.require_no_cap(discount, "the number of redemptions of its codes is used to recognize ours")
    if not products:
        raise DiscountUnsupported("it has no product yet; create one first.")
    is_forever = discount.duration == DiscountDuration.Forever
    if not is_forever and any(shapes.get(product, "is_tiered_membership") is True for product in products):
        raise DiscountUnsupported(
            "its codes discount every payment of a membership; create a coupon with the duration Forever."
        )
    currencies = {(shapes.text(product, "currency") or "").upper() for product in products}
    other = next((currency for currency in sorted(currencies) if currency != discount.currency), discount.currency)
    terms.require_currency(discount, lambda: other)


def _listing_product(api: GatewayApi, order: CodeOrder) -> str | None:
    """Return the product whose offer codes are listed for an order; None if there is no product."""
    if refs := order.family.discount.product_refs:
        return refs[0]
    return next((shapes.require(product, "id") for product in _all_products(api)), None)


def _products(api: GatewayApi, refs: tuple[str, ...]) -> list[Any]:
    """Return the product in `refs`, or all if it is empty. Raises DiscountUnsupported for several, or a missing one."""
    if not refs:
        return list(_all_products(api))
    if len(refs) > 1:
        raise DiscountUnsupported(
            "its codes apply to all products or to one; list one product in productRefs, or none."
        )
    answer = api.find(_path(refs[0]))
    if shapes.get(answer, "success") is not True:
        raise DiscountUnsupported(f"it has no product {refs[0]}; productRefs must be ids of its products.")
    return [shapes.get(answer, "product")]


def _all_products(api: GatewayApi) -> Iterator[Any]:
    def find_next_query(page: Any) -> Params | None:
        key = shapes.text(page, "next_page_key")
        return None if key is None else {"page_key": key}

    first: Params = {}
    pages = paging.follow(lambda params: _request(api, "GET", "/products", params=params), first, find_next_query)
    for page in itertools.islice(pages, _MAX_PAGES):
        yield from shapes.items(page, "products")


def _request(
    api: GatewayApi, method: str, path: str, form: Params | None = None, *, params: Params | None = None
) -> Any:
    answer = api.request(method, path, params=params, form=form).json
    if shapes.get(answer, "success") is not True:
        raise GatewayRejected(422, shapes.text(answer, "message") or "no reason given")
    return answer


def _path(product: str) -> str:
    return f"/products/{shapes.segment(product)}"
