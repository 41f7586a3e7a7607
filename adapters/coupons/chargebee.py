"""chargebee: each code is a coupon, whose id is the code; our id is in its metadata and in the idempotency key.

Coupon sets are not used, because each code of a set can be redeemed only once. Deleting a coupon that was redeemed
archives it; its id, and so its text, stays taken.
"""

from collections.abc import Mapping

import orjson

from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, DiscountUnsupported, ExistingCode, UniqueCodeRail
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.billing import chargebee, chargebee_facts
from adapters.gateways.wire import GatewayApi, ignoring_missing_object
from domain.coupons.discounts import Discount, DiscountDuration
from domain.gateways import amounts
from domain.gateways.names import Gateway

_DURATIONS = {DiscountDuration.Once: "one_time", DiscountDuration.Forever: "forever"}
_NAME_CHARACTERS = 50


class ChargebeeCodes(UniqueCodeRail):
    gateway = Gateway.Chargebee

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the coupon whose id is the code."""
        coupon = shapes.get(chargebee.GATEWAY.api(account).find(f"/coupons/{shapes.segment(order.code)}"), "coupon")
        if coupon is None:
            return None
        is_ours = shapes.text(coupon, "meta_data", terms.OUR_ID) == str(order.code_id)
        has_ended = shapes.get(coupon, "status") in ("archived", "deleted")
        return ExistingCode(shapes.require(coupon, "id"), is_ours, has_ended)

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a coupon; the idempotency key prevents a second one."""
        api = chargebee.GATEWAY.api(account)
        form = {**_coupon_fields(order), **_items(api, order.family.discount.product_refs)}
        headers = {"chargebee-idempotency-key": f"coupon:{order.code_id}"}
        answer = api.request("POST", "/coupons/create_for_items", form=form, headers=headers).json
        return shapes.require(answer, "coupon", "id")

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a coupon."""
        with ignoring_missing_object():
            chargebee.GATEWAY.api(account).request("POST", f"/coupons/{shapes.segment(minted_id)}/delete")


RAIL = ChargebeeCodes()


def _coupon_fields(order: CodeOrder) -> Mapping[str, str | int]:
    discount = order.family.discount
    return {
        "id": order.code,
        # Names are unique there.
        "name": f"{order.family.name[: _NAME_CHARACTERS - len(order.code) - 1]} {order.code}",
        "meta_data": orjson.dumps({terms.OUR_ID: str(order.code_id)}).decode(),
        **_discount_fields(discount),
        **_duration(discount),
        **terms.optional(max_redemptions=discount.max_redemptions_per_code, valid_till=terms.expires_at_s(discount)),
    }


def _discount_fields(discount: Discount) -> Mapping[str, str | int]:
    if terms.is_percent(discount):
        return {"discount_type": "percentage", "discount_percentage": discount.value}
    currency = discount.currency or ""
    if currency in chargebee_facts.UNKNOWN_SCALE:
        raise DiscountUnsupported(f"its unit for amounts in {currency} is unknown; use a percentage discount.")
    units = amounts.to_minor(discount.value, currency, chargebee_facts.EXPONENTS)
    return {"discount_type": "fixed_amount", "discount_amount": units, "currency_code": currency}


def _duration(discount: Discount) -> Mapping[str, str | int]:
    if discount.months:
        return {"duration_type": "limited_period", "period": discount.months, "period_unit": "month"}
    return {"duration_type": _DURATIONS[discount.duration]}


def _items(api: GatewayApi, item_prices: tuple[str, ...]) -> Mapping[str, str]:
    """Return the fields for what a coupon applies to: the whole invoice, or item prices grouped by kind of item."""
    if not item_prices:
        return {"apply_on": "invoice_amount"}
    kinds: dict[str, list[str]] = {}
    for price in item_prices:
        answer = api.find(f"/item_prices/{shapes.segment(price)}")
        kind = shapes.text(answer, "item_price", "item_type")
        if kind is None:
            raise DiscountUnsupported(f"it has no item price {price}; productRefs must be ids of item prices.")
        kinds.setdefault(kind, []).append(price)
    form = {"apply_on": "each_specified_item"}
    for number, (kind, prices) in enumerate(kinds.items()):
        form[f"item_constraints[constraint][{number}]"] = "specific"
        form[f"item_constraints[item_type][{number}]"] = kind
        form[f"item_constraints[item_price_ids][{number}]"] = orjson.dumps(prices).decode()
    return form
