"""maxio: each code is a coupon of a product family, whose description ends with our id. A code that ends is archived.

Maxio's API creates coupons without a limit of months or of redemptions.
"""

from collections.abc import Iterator, Mapping

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, CodeRail, DiscountUnsupported, ExistingCode, id_if_ours, mint_once
from adapters.gateways import paging, shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.billing import maxio
from adapters.gateways.wire import GatewayApi
from domain.coupons.discounts import DiscountDuration
from domain.gateways import amounts
from domain.gateways.names import Gateway

_PAGE, _MAX_PAGES = 200, 20


class MaxioCodes(CodeRail):
    gateway = Gateway.Maxio

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        api = maxio.GATEWAY.api(account)
        families = list(_list_families(api))
        return mint_once(order, lambda: _find_by_text(api, order, families), lambda: _create(api, order, families))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the coupon with this code, from any product family, if it was created for this order."""
        api = maxio.GATEWAY.api(account)
        return id_if_ours(_find_by_text(api, order, list(_list_families(api))))

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Archive a coupon."""
        api = maxio.GATEWAY.api(account)
        for family in _list_families(api):
            api.delete(f"{_path(family)}/{shapes.segment(minted_id)}.json")


RAIL = MaxioCodes()


def _create(api: GatewayApi, order: CodeOrder, families: list[str]) -> str:
    discount = order.family.discount
    terms.require_no_months(discount)
    terms.require_no_cap(discount, "a coupon made through its API can be redeemed any number of times")
    terms.require_currency(discount, lambda: shapes.text(api.get("/site.json"), "site", "currency"))
    coupon, family = _coupon_fields(order), _choose_family(api, discount.product_refs, families)
    return shapes.require(api.request("POST", f"{_path(family)}.json", json=coupon).json, "coupon", "id")


def _coupon_fields(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    coupon: dict[str, object] = {
        "name": order.family.name,
        "code": order.code,
        "description": terms.name_with_mark(order),
        "recurring": discount.duration == DiscountDuration.Forever,
    }
    if terms.is_percent(discount):
        coupon["percentage"] = str(discount.value)
    else:
        coupon["amount_in_cents"] = amounts.to_minor(discount.value, discount.currency or "")
    coupon |= terms.optional(end_date=terms.expires_at(discount))
    products = {str(product): True for product in terms.numbers(discount.product_refs)}
    return {"coupon": coupon, **terms.optional(restricted_products=products)}


def _choose_family(api: GatewayApi, product_refs: tuple[str, ...], families: list[str]) -> str:
    """Return the product family for a coupon: that of its products, or the only one of the site."""
    choices = set(families)
    if product_refs:
        products = {ref: shapes.get(api.find(f"/products/{ref}.json"), "product") for ref in product_refs}
        for ref, product in products.items():
            if product is None:
                raise DiscountUnsupported(f"it has no product {ref}; productRefs must be ids of its products.")
        choices = {shapes.require(product, "product_family", "id") for product in products.values()}
    if len(choices) != 1:
        raise DiscountUnsupported(
            "its coupons belong to one product family, and the site has several; list only products of one in"
            " productRefs."
        )
    return choices.pop()


def _list_families(api: GatewayApi) -> Iterator[str]:
    def fetch(number: int) -> list[object]:
        page = api.get("/product_families.json", {"per_page": _PAGE, "page": number})
        return shapes.items({"families": page}, "families")

    for families in paging.read_by_number(fetch, _PAGE, max_pages=_MAX_PAGES):
        yield from (shapes.require(family, "product_family", "id") for family in families)


def _find_by_text(api: GatewayApi, order: CodeOrder, families: list[str]) -> ExistingCode | None:
    for family in families:
        answer = api.find("/coupons/find.json", {"code": order.code, "product_family_id": family})
        coupon = shapes.get(answer, "coupon")
        if coupon is not None and terms.matches_order(order, shapes.text(coupon, "code")):
            is_ours = terms.is_marked(shapes.text(coupon, "description"), order.code_id)
            return ExistingCode(shapes.require(coupon, "id"), is_ours, shapes.get(coupon, "archived_at") is not None)
    return None


def _path(family: str) -> str:
    return f"/product_families/{shapes.segment(family)}/coupons"
