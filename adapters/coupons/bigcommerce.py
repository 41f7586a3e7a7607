"""bigcommerce: each code has its own promotion, whose name ends with our id.

A code is created in two steps; a promotion left without its code is completed. The promotion's id identifies the code.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, CodeRail, CodeTaken
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.storefront import bigcommerce
from adapters.gateways.wire import GatewayApi, ignoring_missing_object
from domain.coupons.discounts import Discount
from domain.gateways.names import Gateway


class BigCommerceCodes(CodeRail):
    gateway = Gateway.BigCommerce

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a promotion, then its code."""
        discount, api = order.family.discount, bigcommerce.GATEWAY.api(account)
        promotion = _find_promotion(api, order)
        if promotion is not None and _promotion_has_code(api, promotion, order):
            return promotion
        if _store_has_code(api, order):
            _delete_promotion(api, promotion)
            raise CodeTaken(order.code)
        if promotion is None:
            terms.require_first_payment_only(discount)
            terms.require_currency(discount, lambda: shapes.text(api.get("/v2/store"), "currency"))
            response = api.request("POST", "/v3/promotions", json=_promotion_fields(order)).json
            promotion = shapes.require(response, "data", "id")
        try:
            api.request("POST", f"{_path(promotion)}/codes", json=_code_fields(order))
        except GatewayRejected as refused:
            if _promotion_has_code(api, promotion, order):
                return promotion
            _delete_promotion(api, promotion)
            if _store_has_code(api, order):
                raise CodeTaken(order.code) from refused
            raise
        return promotion

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Return the id of the promotion that was created for this order, if it has the code."""
        api = bigcommerce.GATEWAY.api(account)
        promotion = _find_promotion(api, order)
        return promotion if promotion is not None and _promotion_has_code(api, promotion, order) else None

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Disable a promotion, then delete its code, so that its text is free."""
        api = bigcommerce.GATEWAY.api(account)
        with ignoring_missing_object():
            api.request("PUT", _path(minted_id), json={"status": "DISABLED"})
            if _promotion_has_code(api, minted_id, order):
                api.request("DELETE", "/v3/promotions/codes", params={"code": order.code})


RAIL = BigCommerceCodes()


def _promotion_fields(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    promotion: dict[str, object] = {
        "name": terms.name_with_mark(order),
        "redemption_type": "COUPON",
        "coupon_type": "SINGLE",
        "status": "ENABLED",
        "rules": [{"action": {"cart_value": {"discount": _discount_fields(discount)}}}],
    }
    if not terms.is_percent(discount):
        promotion["currency_code"] = discount.currency
    promotion |= terms.optional(max_uses=discount.max_redemptions_per_code)
    return promotion | terms.optional(end_date=terms.expires_at(discount))


def _code_fields(order: CodeOrder) -> Mapping[str, object]:
    return {"code": order.code, **terms.optional(max_uses=order.family.discount.max_redemptions_per_code)}


def _discount_fields(discount: Discount) -> Mapping[str, str]:
    if terms.is_percent(discount):
        return {"percentage_amount": str(discount.value)}
    return {"fixed_amount": terms.decimal(discount)}


def _find_promotion(api: GatewayApi, order: CodeOrder) -> str | None:
    """Return the id of the promotion that was created for an order."""
    page = api.get("/v3/promotions", {"name": terms.name_with_mark(order), "redemption_type": "coupon"})
    for promotion in shapes.items(page, "data"):
        if terms.is_marked(shapes.text(promotion, "name"), order.code_id):
            return shapes.require(promotion, "id")
    return None


def _promotion_has_code(api: GatewayApi, promotion: str, order: CodeOrder) -> bool:
    return _contains_code(api.find(f"{_path(promotion)}/codes"), order)


def _store_has_code(api: GatewayApi, order: CodeOrder) -> bool:
    return _contains_code(api.find("/v3/promotions/codes", {"code": order.code}), order)


def _contains_code(listed: Any, order: CodeOrder) -> bool:
    return any(terms.matches_order(order, shapes.text(code, "code")) for code in shapes.items(listed, "data"))


def _delete_promotion(api: GatewayApi, promotion: str | None) -> None:
    """Delete a promotion without a code, which cannot be redeemed."""
    if promotion is not None:
        with suppress(GatewayRejected):
            api.delete(_path(promotion))


def _path(promotion: str) -> str:
    return f"/v3/promotions/{shapes.segment(promotion)}"
