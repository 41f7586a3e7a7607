"""maxio: each code is a coupon of a product family, whose description ends with our id. One that ends is archived.

The body that makes a coupon holds neither months nor a cap.
"""

from collections.abc import Iterator, Mapping

from adapters.coupons import rails
from adapters.coupons.base import CodeOrder, DiscountNotHeld
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.billing import maxio
from adapters.gateways.wire import GatewayWire
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import DiscountDuration, DiscountType
from domain.gateways import amounts
from domain.gateways.names import Gateway

_PAGE, _MOST_PAGES = 200, 20


class MaxioCodes:
    """The rail; it has no state."""

    gateway = Gateway.Maxio
    shape = CodeShape()

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a coupon with this code."""
        wire = maxio.api(account)
        families = list(_families(wire))
        return rails.mint_once(order, lambda: _standing(wire, order, families), lambda: _made(wire, order, families))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the coupon with this code in each product family."""
        wire = maxio.api(account)
        return rails.ours(_standing(wire, order, list(_families(wire))))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Archive a coupon."""
        wire = maxio.api(account)
        for family in _families(wire):
            wire.drop(f"{_path(family)}/{shapes.segment(minted_id)}.json")


RAIL = MaxioCodes()


def _made(wire: GatewayWire, order: CodeOrder, families: list[str]) -> str:
    discount = order.family.discount
    rails.require_no_months(discount)
    rails.require_no_cap(discount, "a coupon made through its API can be redeemed any number of times")
    rails.require_currency(discount, lambda: shapes.text(wire.get("/site.json"), "site", "currency"))
    wanted, home = _coupon(order), _home(wire, discount.product_refs, families)
    return shapes.needed(wire.ask("POST", f"{_path(home)}.json", json=wanted).json, "coupon", "id")


def _coupon(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    coupon: dict[str, object] = {
        "name": order.family.name,
        "code": order.code,
        "description": rails.marked_name(order),
        "recurring": discount.duration == DiscountDuration.Forever,
    }
    if discount.type == DiscountType.PercentOff:
        coupon["percentage"] = str(discount.value)
    else:
        coupon["amount_in_cents"] = amounts.to_minor(discount.value, discount.currency or "")
    if discount.expires_at:
        coupon["end_date"] = shapes.utc(discount.expires_at)
    wanted: dict[str, object] = {"coupon": coupon}
    if discount.product_refs:
        wanted["restricted_products"] = {str(product): True for product in rails.numbers(discount.product_refs)}
    return wanted


def _home(wire: GatewayWire, product_refs: tuple[str, ...], families: list[str]) -> str:
    """Return the product family of a coupon: the products' or the only one of the site."""
    homes = set(families)
    if product_refs:
        told = {ref: shapes.at(wire.find(f"/products/{ref}.json"), "product") for ref in product_refs}
        for ref, product in told.items():
            if product is None:
                raise DiscountNotHeld(f"it has no product {ref}; productRefs are ids of its products.")
        homes = {shapes.needed(product, "product_family", "id") for product in told.values()}
    if len(homes) != 1:
        raise DiscountNotHeld(
            "its coupons belong to one product family, and the site has several; name products of one in productRefs."
        )
    return homes.pop()


def _families(wire: GatewayWire) -> Iterator[str]:
    for number in range(1, _MOST_PAGES + 1):
        said = wire.get("/product_families.json", {"per_page": _PAGE, "page": number})
        found = shapes.items({"families": said}, "families")
        yield from (shapes.needed(one, "product_family", "id") for one in found)
        if len(found) < _PAGE:
            return


def _standing(wire: GatewayWire, order: CodeOrder, families: list[str]) -> StandingCode | None:
    for family in families:
        said = wire.find("/coupons/find.json", {"code": order.code, "product_family_id": family})
        coupon = shapes.at(said, "coupon")
        if coupon is not None and rails.is_text_of(order, shapes.text(coupon, "code")):
            is_ours = rails.is_marked(shapes.text(coupon, "description"), order.code_id)
            return StandingCode(shapes.needed(coupon, "id"), is_ours, shapes.at(coupon, "archived_at") is not None)
    return None


def _path(family: str) -> str:
    return f"/product_families/{shapes.segment(family)}/coupons"
