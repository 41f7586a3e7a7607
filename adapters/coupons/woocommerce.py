"""woocommerce: each code is a coupon of the shop, with our id in its metadata.

The shop stores codes in lower case. Its own coupons discount one order; discounts of renewals need plugins.
"""

from collections.abc import Mapping

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, ExistingCode, UniqueCodeRail
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.storefront import woocommerce
from adapters.gateways.wire import ignoring_missing_object
from domain.gateways.names import Gateway

_OUR_ID = "_affiliate_coupon_id"


class WooCommerceCodes(UniqueCodeRail):
    gateway = Gateway.WooCommerce

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the coupon with this code."""
        coupons = woocommerce.request(account, "GET", "/coupons", {"code": order.code.lower()}).json
        for coupon in shapes.items({"coupons": coupons}, "coupons"):
            if terms.matches_order(order, shapes.text(coupon, "code")):
                our_id = shapes.pairs(coupon, "meta_data", name="key").get(_OUR_ID)
                return ExistingCode(shapes.require(coupon, "id"), our_id == str(order.code_id))
        return None

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a coupon with this code."""

        def currency() -> str | None:
            return shapes.text(woocommerce.request(account, "GET", "/data/currencies/current").json, "code")

        terms.require_first_payment_only(order.family.discount)
        terms.require_currency(order.family.discount, currency)
        return shapes.require(woocommerce.request(account, "POST", "/coupons", json=_coupon_fields(order)).json, "id")

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a coupon permanently: one in the trash would keep its text taken."""
        with ignoring_missing_object():
            woocommerce.request(account, "DELETE", f"/coupons/{shapes.segment(minted_id)}", {"force": "true"})


RAIL = WooCommerceCodes()


def _coupon_fields(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    if terms.is_percent(discount):
        amount = {"discount_type": "percent", "amount": str(discount.value)}
    else:
        amount = {"discount_type": "fixed_cart", "amount": terms.decimal(discount)}
    return {
        "code": order.code,
        "description": order.family.name,
        "meta_data": [{"key": _OUR_ID, "value": str(order.code_id)}],
        **amount,
        **terms.optional(usage_limit=discount.max_redemptions_per_code),
        **terms.optional(date_expires_gmt=(terms.expires_at(discount) or "").removesuffix("Z")),
    }
