"""paddle: each code is a discount, with our id in its custom data. One that ends is archived; none is deleted."""

from collections.abc import Mapping

from adapters.coupons import rails
from adapters.coupons.base import CodeOrder
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.billing import paddle
from adapters.gateways.wire import GatewayWire
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import DiscountDuration, DiscountType
from domain.gateways import amounts
from domain.gateways.names import Gateway

_STATES = "active,archived,expired,used"


class PaddleCodes:
    """The rail; it has no state."""

    gateway = Gateway.Paddle
    shape = CodeShape(signs="")

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a discount with this code."""
        wire = paddle.api(account)
        return rails.mint_once(order, lambda: _standing(wire, order), lambda: _made(wire, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the discounts with this code."""
        return rails.ours(_standing(paddle.api(account), order))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Archive a discount."""
        try:
            path = f"/discounts/{shapes.segment(minted_id)}"
            paddle.api(account).ask("PATCH", path, json={"status": "archived"})
        except GatewayRejected as refused:
            if refused.status != 404:
                raise


RAIL = PaddleCodes()


def _made(wire: GatewayWire, order: CodeOrder) -> str:
    rails.require_no_months(order.family.discount)
    return shapes.needed(wire.ask("POST", "/discounts", json=_discount(order)).json, "data", "id")


def _discount(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    wanted: dict[str, object] = {
        "description": order.family.name,
        "code": order.code,
        "enabled_for_checkout": True,
        "recur": discount.duration == DiscountDuration.Forever,
        "custom_data": {rails.OUR_ID: str(order.code_id)},
    }
    if discount.type == DiscountType.PercentOff:
        wanted |= {"type": "percentage", "amount": str(discount.value)}
    else:
        currency = discount.currency or ""
        units = amounts.to_minor(discount.value, currency)
        wanted |= {"type": "flat", "amount": str(units), "currency_code": currency}
    if discount.max_redemptions_per_code:
        wanted["usage_limit"] = discount.max_redemptions_per_code
    if discount.expires_at:
        wanted["expires_at"] = shapes.utc(discount.expires_at)
    if discount.product_refs:
        wanted["restrict_to"] = list(discount.product_refs)
    return wanted


def _standing(wire: GatewayWire, order: CodeOrder) -> StandingCode | None:
    """Return what stands: ours before what is in force, that before what is over."""
    found = []
    for one in shapes.items(wire.get("/discounts", {"code": order.code, "status": _STATES}), "data"):
        if rails.is_text_of(order, shapes.text(one, "code")):
            is_ours = shapes.text(one, "custom_data", rails.OUR_ID) == str(order.code_id)
            found.append(StandingCode(shapes.needed(one, "id"), is_ours, shapes.at(one, "status") != "active"))
    return min(found, key=lambda standing: (not standing.is_ours, standing.is_over), default=None)
