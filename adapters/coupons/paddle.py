"""paddle: each code is a discount, with our id in its custom data. A code that ends is archived, never deleted."""

from collections.abc import Mapping

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, ExistingCode, UniqueCodeRail
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.billing import paddle
from adapters.gateways.wire import ignoring_missing_object
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import DiscountDuration
from domain.gateways import amounts
from domain.gateways.names import Gateway

_STATES = "active,archived,expired,used"


class PaddleCodes(UniqueCodeRail):
    gateway = Gateway.Paddle
    shape = CodeShape(allowed_signs="")

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the discount with this code: ours if there is one, else an active one, else an ended one."""
        page = paddle.GATEWAY.api(account).get("/discounts", {"code": order.code, "status": _STATES})
        existing = [
            ExistingCode(
                shapes.require(discount, "id"),
                is_ours=shapes.text(discount, "custom_data", terms.OUR_ID) == str(order.code_id),
                has_ended=shapes.get(discount, "status") != "active",
            )
            for discount in shapes.items(page, "data")
            if terms.matches_order(order, shapes.text(discount, "code"))
        ]
        return min(existing, key=lambda code: (not code.is_ours, code.has_ended), default=None)

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a discount with this code."""
        terms.require_no_months(order.family.discount)
        answer = paddle.GATEWAY.api(account).request("POST", "/discounts", json=_discount_body(order)).json
        return shapes.require(answer, "data", "id")

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Archive a discount."""
        with ignoring_missing_object():
            path = f"/discounts/{shapes.segment(minted_id)}"
            paddle.GATEWAY.api(account).request("PATCH", path, json={"status": "archived"})


RAIL = PaddleCodes()


def _discount_body(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    if terms.is_percent(discount):
        amount = {"type": "percentage", "amount": str(discount.value)}
    else:
        currency = discount.currency or ""
        units = amounts.to_minor(discount.value, currency)
        amount = {"type": "flat", "amount": str(units), "currency_code": currency}
    return {
        "description": order.family.name,
        "code": order.code,
        "enabled_for_checkout": True,
        "recur": discount.duration == DiscountDuration.Forever,
        "custom_data": {terms.OUR_ID: str(order.code_id)},
        **amount,
        **terms.optional(usage_limit=discount.max_redemptions_per_code),
        **terms.optional(expires_at=terms.expires_at(discount)),
        **terms.optional(restrict_to=list(discount.product_refs)),
    }
