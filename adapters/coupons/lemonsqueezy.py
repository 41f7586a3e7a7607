"""lemonsqueezy: each code is a discount of the store; the discount's name ends with our id.

Codes are letters and digits.
"""

from collections.abc import Mapping

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, ExistingCode, UniqueCodeRail
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.digital import lemonsqueezy
from domain.coupons.codes import CodeShape
from domain.gateways import amounts
from domain.gateways.names import Gateway

_MAX_PAGES = 100


class LemonSqueezyCodes(UniqueCodeRail):
    gateway = Gateway.LemonSqueezy
    shape = CodeShape(allowed_signs="")

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the discount with this code, from all of the store's: they cannot be searched by code."""
        api = lemonsqueezy.GATEWAY.api(account)
        for page in lemonsqueezy.read_list(api, "/discounts", _store(account), max_pages=_MAX_PAGES):
            for discount in page:
                attributes = shapes.get(discount, "attributes")
                if terms.matches_order(order, shapes.text(attributes, "code")):
                    is_ours = terms.is_marked(shapes.text(attributes, "name"), order.code_id)
                    return ExistingCode(shapes.require(discount, "id"), is_ours)
        return None

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a discount with this code."""

        def currency() -> str | None:
            store = api.get(f"/stores/{shapes.segment(_store(account))}")
            return shapes.text(store, "data", "attributes", "currency")

        api = lemonsqueezy.GATEWAY.api(account)
        terms.require_currency(order.family.discount, currency)
        answer = api.request("POST", "/discounts", json={"data": _discount_body(order, account)}).json
        return shapes.require(answer, "data", "id")

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a discount."""
        lemonsqueezy.GATEWAY.api(account).delete(f"/discounts/{shapes.segment(minted_id)}")


RAIL = LemonSqueezyCodes()


def _discount_body(order: CodeOrder, account: GatewayAccount) -> Mapping[str, object]:
    discount = order.family.discount
    attributes: dict[str, object] = {
        "name": terms.name_with_mark(order),
        "code": order.code,
        "duration": discount.duration.value.lower(),
        "is_limited_to_products": bool(discount.product_refs),
        "is_limited_redemptions": discount.max_redemptions_per_code is not None,
        "test_mode": account.mode == "test",
    }
    if terms.is_percent(discount):
        attributes |= {"amount": discount.value, "amount_type": "percent"}
    else:
        units = amounts.to_minor(discount.value, discount.currency or "")
        attributes |= {"amount": units, "amount_type": "fixed"}
    attributes |= terms.optional(duration_in_months=discount.months, max_redemptions=discount.max_redemptions_per_code)
    attributes |= terms.optional(expires_at=terms.expires_at(discount))
    relationships: dict[str, object] = {"store": {"data": {"type": "stores", "id": _store(account)}}}
    if discount.product_refs:
        variants = [{"type": "variants", "id": str(ref)} for ref in terms.numbers(discount.product_refs)]
        relationships["variants"] = {"data": variants}
    return {"type": "discounts", "attributes": attributes, "relationships": relationships}


def _store(account: GatewayAccount) -> str:
    return account.credentials.get("storeId", "")
