"""woocommerce: each code is a coupon of the shop, with our id in its meta data.

The shop keeps codes in lower case. Its own coupons are off one order; discounts off renewals belong to plugins.
"""

from collections.abc import Mapping

from adapters.coupons import rails
from adapters.coupons.base import CodeOrder
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.storefront import woocommerce
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount, DiscountType
from domain.gateways.names import Gateway

_OUR_ID = "_affiliate_coupon_id"
_GONE = (404, 410)


class WooCommerceCodes:
    """The rail; it has no state."""

    gateway = Gateway.WooCommerce
    shape = CodeShape()

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a coupon with this code."""
        return rails.mint_once(order, lambda: _standing(account, order), lambda: _made(account, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the coupon with this code."""
        return rails.ours(_standing(account, order))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a coupon, past the bin, in which it would keep its text."""
        try:
            woocommerce.ask(account, "DELETE", f"/coupons/{shapes.segment(minted_id)}", {"force": "true"})
        except GatewayRejected as refused:
            if refused.status not in _GONE:
                raise


RAIL = WooCommerceCodes()


def _made(account: GatewayAccount, order: CodeOrder) -> str:
    rails.require_first_payment_only(order.family.discount)
    rails.require_currency(order.family.discount, lambda: _currency(account))
    return shapes.needed(woocommerce.ask(account, "POST", "/coupons", json=_coupon(order)).json, "id")


def _coupon(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    wanted: dict[str, object] = {
        "code": order.code,
        "description": order.family.name,
        "meta_data": [{"key": _OUR_ID, "value": str(order.code_id)}],
        **_off(discount),
    }
    if discount.max_redemptions_per_code:
        wanted["usage_limit"] = discount.max_redemptions_per_code
    if discount.expires_at:
        wanted["date_expires_gmt"] = shapes.utc(discount.expires_at).removesuffix("Z")
    return wanted


def _off(discount: Discount) -> Mapping[str, object]:
    if discount.type == DiscountType.PercentOff:
        return {"discount_type": "percent", "amount": str(discount.value)}
    return {"discount_type": "fixed_cart", "amount": rails.decimal(discount)}


def _currency(account: GatewayAccount) -> str | None:
    return shapes.text(woocommerce.ask(account, "GET", "/data/currencies/current").json, "code")


def _standing(account: GatewayAccount, order: CodeOrder) -> StandingCode | None:
    listed = woocommerce.ask(account, "GET", "/coupons", {"code": order.code.lower()}).json
    for coupon in shapes.items({"coupons": listed}, "coupons"):
        if rails.is_text_of(order, shapes.text(coupon, "code")):
            told = shapes.pairs(coupon, "meta_data", name="key").get(_OUR_ID)
            return StandingCode(shapes.needed(coupon, "id"), told == str(order.code_id))
    return None
