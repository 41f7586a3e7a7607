"""shopify: each code has its own discount, whose title ends with our id.

A deactivated discount would keep its text taken, so a code that ends is deleted; orders keep the code they were placed
with. Shopify responds 200 with ACCESS_DENIED to a call that the app has no permission for.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adapters import clock
from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, ExistingCode, UniqueCodeRail
from adapters.gateways import shapes
from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayRejected
from adapters.gateways.storefront import shopify_api
from domain.coupons.discounts import Discount, DiscountDuration
from domain.gateways.names import Gateway

_FIND = """query CodeStanding($code: String!) {
  codeDiscountNodeByCode(code: $code) { id codeDiscount { ... on DiscountCodeBasic { title status } } }
}"""
_CURRENCY = """query ShopCurrency { shop { currencyCode } }"""
_CREATE = """mutation CodeMake($discount: DiscountCodeBasicInput!) {
  discountCodeBasicCreate(basicCodeDiscount: $discount) { codeDiscountNode { id } userErrors { code message } }
}"""
_DELETE = """mutation CodeDelete($id: ID!) {
  discountCodeDelete(id: $id) { deletedCodeDiscountId userErrors { code message } }
}"""
_DENIED = 403


class ShopifyCodes(UniqueCodeRail):
    gateway = Gateway.Shopify

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the discount with this code."""
        node = shapes.get(_query(account, _FIND, {"code": order.code}), "codeDiscountNodeByCode")
        if node is None:
            return None
        is_ours = terms.is_marked(shapes.text(node, "codeDiscount", "title"), order.code_id)
        return ExistingCode(
            shapes.require(node, "id"), is_ours, shapes.get(node, "codeDiscount", "status") == "EXPIRED"
        )

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a discount with this code."""

        def currency() -> str | None:
            return shapes.text(_query(account, _CURRENCY, {}), "shop", "currencyCode")

        terms.require_no_months(order.family.discount)
        terms.require_currency(order.family.discount, currency)
        result = shapes.get(_query(account, _CREATE, {"discount": _discount_body(order)}), "discountCodeBasicCreate")
        if errors := shapes.items(result, "userErrors"):
            raise GatewayRejected(422, shapes.text(errors[0], "message") or "no reason given")
        return shapes.require(result, "codeDiscountNode", "id")

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a discount."""
        deleted = shapes.get(_query(account, _DELETE, {"id": minted_id}), "discountCodeDelete")
        errors = shapes.items(deleted, "userErrors")
        if errors and self.find_code(account, order) is not None:
            raise GatewayRejected(422, shapes.text(errors[0], "message") or "no reason given")


RAIL = ShopifyCodes()


def _discount_body(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    benefit: dict[str, object] = {"value": _discount_fields(discount), "items": {"all": True}}
    if discount.duration == DiscountDuration.Forever:
        benefit |= {"appliesOnOneTimePurchase": True, "appliesOnSubscription": True}
    return {
        "title": terms.name_with_mark(order),
        "code": order.code,
        "startsAt": shapes.utc(clock.now()),
        "endsAt": terms.expires_at(discount),
        "usageLimit": discount.max_redemptions_per_code,
        "recurringCycleLimit": 0 if discount.duration == DiscountDuration.Forever else 1,
        "context": {"all": "ALL"},
        "customerGets": benefit,
    }


def _discount_fields(discount: Discount) -> Mapping[str, object]:
    if terms.is_percent(discount):
        return {"percentage": terms.number(f"{Decimal(discount.value).scaleb(-2):f}")}
    return {"discountAmount": {"amount": terms.decimal(discount), "appliesOnEachItem": False}}


def _query(account: GatewayAccount, query: str, variables: Mapping[str, object]) -> Any:
    try:
        return shopify_api.graphql(account, query, variables)
    except GatewayRejected as refused:
        if refused.status == _DENIED:
            raise CredentialsRefused(f"the app lacks a scope for discounts: {refused}") from refused
        raise
