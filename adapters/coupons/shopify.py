"""shopify: each code is a discount of its own, whose title ends with our id.

A discount that is only deactivated keeps its text, so one that ends is deleted; orders keep the code they were placed
with. What an app may not do is told with 200 and ACCESS_DENIED.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adapters import clock
from adapters.coupons import rails
from adapters.coupons.base import CodeOrder
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayRejected
from adapters.gateways.storefront import shopify_api
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways.names import Gateway

_STANDING = """query CodeStanding($code: String!) {
  codeDiscountNodeByCode(code: $code) { id codeDiscount { ... on DiscountCodeBasic { title status } } }
}"""
_CURRENCY = """query ShopCurrency { shop { currencyCode } }"""
_MAKE = """mutation CodeMake($discount: DiscountCodeBasicInput!) {
  discountCodeBasicCreate(basicCodeDiscount: $discount) { codeDiscountNode { id } userErrors { code message } }
}"""
_DELETE = """mutation CodeDelete($id: ID!) {
  discountCodeDelete(id: $id) { deletedCodeDiscountId userErrors { code message } }
}"""
_DENIED = 403


class ShopifyCodes:
    """The rail; it has no state."""

    gateway = Gateway.Shopify
    shape = CodeShape()

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a discount with this code."""
        return rails.mint_once(order, lambda: _standing(account, order), lambda: _made(account, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the discount with this code."""
        return rails.ours(_standing(account, order))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a discount."""
        said = shapes.at(_asked(account, _DELETE, {"id": minted_id}), "discountCodeDelete")
        if errors := shapes.items(said, "userErrors"):
            if rails.ours(_standing(account, order)) is None:
                return
            raise GatewayRejected(422, shapes.text(errors[0], "message") or "it says no")


RAIL = ShopifyCodes()


def _discount(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    gets: dict[str, object] = {"value": _off(discount), "items": {"all": True}}
    if discount.duration == DiscountDuration.Forever:
        gets |= {"appliesOnOneTimePurchase": True, "appliesOnSubscription": True}
    return {
        "title": rails.marked_name(order),
        "code": order.code,
        "startsAt": shapes.utc(clock.now()),
        "endsAt": shapes.utc(discount.expires_at) if discount.expires_at else None,
        "usageLimit": discount.max_redemptions_per_code,
        "recurringCycleLimit": 0 if discount.duration == DiscountDuration.Forever else 1,
        "context": {"all": "ALL"},
        "customerGets": gets,
    }


def _off(discount: Discount) -> Mapping[str, object]:
    if discount.type == DiscountType.PercentOff:
        return {"percentage": rails.number(f"{Decimal(discount.value).scaleb(-2):f}")}
    return {"discountAmount": {"amount": rails.decimal(discount), "appliesOnEachItem": False}}


def _currency(account: GatewayAccount) -> str | None:
    return shapes.text(_asked(account, _CURRENCY, {}), "shop", "currencyCode")


def _standing(account: GatewayAccount, order: CodeOrder) -> StandingCode | None:
    node = shapes.at(_asked(account, _STANDING, {"code": order.code}), "codeDiscountNodeByCode")
    if node is None:
        return None
    is_ours = rails.is_marked(shapes.text(node, "codeDiscount", "title"), order.code_id)
    return StandingCode(shapes.needed(node, "id"), is_ours, shapes.at(node, "codeDiscount", "status") == "EXPIRED")


def _made(account: GatewayAccount, order: CodeOrder) -> str:
    rails.require_no_months(order.family.discount)
    rails.require_currency(order.family.discount, lambda: _currency(account))
    said = shapes.at(_asked(account, _MAKE, {"discount": _discount(order)}), "discountCodeBasicCreate")
    if errors := shapes.items(said, "userErrors"):
        raise GatewayRejected(422, shapes.text(errors[0], "message") or "it says no")
    return shapes.needed(said, "codeDiscountNode", "id")


def _asked(account: GatewayAccount, query: str, variables: Mapping[str, object]) -> Any:
    try:
        return shopify_api.graphql(account, query, variables)
    except GatewayRejected as refused:
        if refused.status == _DENIED:
            raise CredentialsRefused(f"the app lacks a scope for discounts: {refused}") from refused
        raise
