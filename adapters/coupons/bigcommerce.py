"""bigcommerce: each code is the only one of a promotion of its own, whose name ends with our id.

It is made in two steps, and a promotion that has no code yet is gone on with. The promotion's id is the code's.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from adapters.coupons import rails
from adapters.coupons.base import CodeOrder, CodeTaken
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.storefront import bigcommerce
from adapters.gateways.wire import GatewayWire
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount, DiscountType
from domain.gateways.names import Gateway


class BigCommerceCodes:
    """The rail; it has no state."""

    gateway = Gateway.BigCommerce
    shape = CodeShape()

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a promotion, then its code."""
        discount, wire = order.family.discount, bigcommerce.api(account)
        promotion = _promotion(wire, order)
        if promotion is not None and _holds(wire, promotion, order):
            return promotion
        if _stands(wire, order):
            _withdraw(wire, promotion)
            raise CodeTaken(order.code)
        if promotion is None:
            rails.require_first_payment_only(discount)
            rails.require_currency(discount, lambda: shapes.text(wire.get("/v2/store"), "currency"))
            made = wire.ask("POST", "/v3/promotions", json=_promotion_of(order)).json
            promotion = shapes.needed(made, "data", "id")
        try:
            wire.ask("POST", f"{_path(promotion)}/codes", json=_code_of(order))
        except GatewayRejected as refused:
            if _holds(wire, promotion, order):
                return promotion
            _withdraw(wire, promotion)
            if _stands(wire, order):
                raise CodeTaken(order.code) from refused
            raise
        return promotion

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the promotion that is named by our id, and whether it holds the code."""
        wire = bigcommerce.api(account)
        promotion = _promotion(wire, order)
        return promotion if promotion is not None and _holds(wire, promotion, order) else None

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Disable a promotion, then take its code away, so that its text is free."""
        wire = bigcommerce.api(account)
        try:
            wire.ask("PUT", _path(minted_id), json={"status": "DISABLED"})
        except GatewayRejected as refused:
            if refused.status != 404:
                raise
            return
        if _holds(wire, minted_id, order):
            wire.ask("DELETE", "/v3/promotions/codes", params={"code": order.code})


RAIL = BigCommerceCodes()


def _promotion_of(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    wanted: dict[str, object] = {
        "name": rails.marked_name(order),
        "redemption_type": "COUPON",
        "coupon_type": "SINGLE",
        "status": "ENABLED",
        "rules": [{"action": {"cart_value": {"discount": _off(discount)}}}],
    }
    if discount.type == DiscountType.AmountOff:
        wanted["currency_code"] = discount.currency
    if discount.max_redemptions_per_code:
        wanted["max_uses"] = discount.max_redemptions_per_code
    if discount.expires_at:
        wanted["end_date"] = shapes.utc(discount.expires_at)
    return wanted


def _code_of(order: CodeOrder) -> Mapping[str, object]:
    most = order.family.discount.max_redemptions_per_code
    return {"code": order.code, "max_uses": most} if most else {"code": order.code}


def _off(discount: Discount) -> Mapping[str, str]:
    if discount.type == DiscountType.PercentOff:
        return {"percentage_amount": str(discount.value)}
    return {"fixed_amount": rails.decimal(discount)}


def _promotion(wire: GatewayWire, order: CodeOrder) -> str | None:
    """Return the promotion that was made for an order."""
    said = wire.get("/v3/promotions", {"name": rails.marked_name(order), "redemption_type": "coupon"})
    named = (one for one in shapes.items(said, "data") if rails.is_marked(shapes.text(one, "name"), order.code_id))
    found = next(named, None)
    return None if found is None else shapes.needed(found, "id")


def _holds(wire: GatewayWire, promotion: str, order: CodeOrder) -> bool:
    return _has(wire.find(f"{_path(promotion)}/codes"), order)


def _stands(wire: GatewayWire, order: CodeOrder) -> bool:
    return _has(wire.find("/v3/promotions/codes", {"code": order.code}), order)


def _has(listed: Any, order: CodeOrder) -> bool:
    return any(rails.is_text_of(order, shapes.text(one, "code")) for one in shapes.items(listed, "data"))


def _withdraw(wire: GatewayWire, promotion: str | None) -> None:
    """Take a promotion back that never had a code; without one nobody can redeem it."""
    if promotion is not None:
        with suppress(GatewayRejected):
            wire.drop(_path(promotion))


def _path(promotion: str) -> str:
    return f"/v3/promotions/{shapes.segment(promotion)}"
