"""lemonsqueezy: each code is a discount of the store, whose name ends with our id. Codes are letters and digits."""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.coupons import rails
from adapters.coupons.base import CodeOrder
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.digital import lemonsqueezy
from adapters.gateways.wire import GatewayWire
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import DiscountType
from domain.gateways import amounts
from domain.gateways.names import Gateway

_PAGE, _MOST_PAGES = 100, 100


class LemonSqueezyCodes:
    """The rail; it has no state."""

    gateway = Gateway.LemonSqueezy
    shape = CodeShape(signs="")

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a discount with this code."""
        wire = lemonsqueezy.api(account)
        return rails.mint_once(
            order, lambda: _standing(wire, order, _store(account)), lambda: _made(wire, order, account)
        )

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look through the store's discounts: they cannot be asked for by code."""
        return rails.ours(_standing(lemonsqueezy.api(account), order, _store(account)))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a discount."""
        lemonsqueezy.api(account).drop(f"/discounts/{shapes.segment(minted_id)}")


RAIL = LemonSqueezyCodes()


def _made(wire: GatewayWire, order: CodeOrder, account: GatewayAccount) -> str:
    rails.require_currency(order.family.discount, lambda: _currency(wire, _store(account)))
    wanted = {"data": _discount(order, account)}
    return shapes.needed(wire.ask("POST", "/discounts", json=wanted).json, "data", "id")


def _discount(order: CodeOrder, account: GatewayAccount) -> Mapping[str, object]:
    discount = order.family.discount
    attributes: dict[str, object] = {
        "name": rails.marked_name(order),
        "code": order.code,
        "duration": discount.duration.value.lower(),
        "is_limited_to_products": bool(discount.product_refs),
        "is_limited_redemptions": discount.max_redemptions_per_code is not None,
        "test_mode": account.mode == "test",
    }
    if discount.type == DiscountType.PercentOff:
        attributes |= {"amount": discount.value, "amount_type": "percent"}
    else:
        units = amounts.to_minor(discount.value, discount.currency or "")
        attributes |= {"amount": units, "amount_type": "fixed"}
    if discount.months:
        attributes["duration_in_months"] = discount.months
    if discount.max_redemptions_per_code:
        attributes["max_redemptions"] = discount.max_redemptions_per_code
    if discount.expires_at:
        attributes["expires_at"] = shapes.utc(discount.expires_at)
    relationships: dict[str, object] = {"store": {"data": {"type": "stores", "id": _store(account)}}}
    if discount.product_refs:
        variants = [{"type": "variants", "id": str(ref)} for ref in rails.numbers(discount.product_refs)]
        relationships["variants"] = {"data": variants}
    return {"type": "discounts", "attributes": attributes, "relationships": relationships}


def _store(account: GatewayAccount) -> str:
    return account.credentials.get("storeId", "")


def _currency(wire: GatewayWire, store: str) -> str | None:
    return shapes.text(wire.get(f"/stores/{shapes.segment(store)}"), "data", "attributes", "currency")


def _standing(wire: GatewayWire, order: CodeOrder, store: str) -> StandingCode | None:
    for one in _discounts(wire, store):
        told = shapes.at(one, "attributes")
        if rails.is_text_of(order, shapes.text(told, "code")):
            return StandingCode(shapes.needed(one, "id"), rails.is_marked(shapes.text(told, "name"), order.code_id))
    return None


def _discounts(wire: GatewayWire, store: str) -> Iterator[Any]:
    for number in range(1, _MOST_PAGES + 1):
        page = wire.get("/discounts", {"filter[store_id]": store, "page[number]": number, "page[size]": _PAGE})
        yield from shapes.items(page, "data")
        last = shapes.at(page, "meta", "page", "lastPage")
        if not isinstance(last, int) or number >= last:
            return
