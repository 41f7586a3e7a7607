"""chargebee: each code is a coupon, whose id is the code; our id is in its meta data and in the idempotency key.

The codes of a coupon's set are good for one use each, so none is used. A coupon that was redeemed is archived when it
is deleted, and keeps its id: its text is not free again.
"""

from collections.abc import Mapping

import orjson

from adapters.coupons import rails
from adapters.coupons.base import CodeOrder, DiscountNotHeld
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.billing import chargebee, chargebee_facts
from adapters.gateways.wire import GatewayWire
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from domain.gateways import amounts
from domain.gateways.names import Gateway

_LASTS = {DiscountDuration.Once: "one_time", DiscountDuration.Forever: "forever"}
_NAME_CHARACTERS = 50


class ChargebeeCodes:
    """The rail; it has no state."""

    gateway = Gateway.Chargebee
    shape = CodeShape()

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a coupon; the same key makes no second one."""
        wire = chargebee.api(account)
        return rails.mint_once(order, lambda: _standing(wire, order), lambda: _made(wire, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the coupon whose id is the code."""
        return rails.ours(_standing(chargebee.api(account), order))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a coupon."""
        try:
            chargebee.api(account).ask("POST", f"/coupons/{shapes.segment(minted_id)}/delete")
        except GatewayRejected as refused:
            if refused.status != 404:
                raise


RAIL = ChargebeeCodes()


def _made(wire: GatewayWire, order: CodeOrder) -> str:
    form = {**_coupon(order), **_items(wire, order.family.discount.product_refs)}
    headers = {"chargebee-idempotency-key": f"coupon:{order.code_id}"}
    said = wire.ask("POST", "/coupons/create_for_items", form=form, headers=headers).json
    return shapes.needed(said, "coupon", "id")


def _coupon(order: CodeOrder) -> Mapping[str, str | int]:
    discount = order.family.discount
    wanted: dict[str, str | int] = {
        "id": order.code,
        # Names are unique there.
        "name": f"{order.family.name[: _NAME_CHARACTERS - len(order.code) - 1]} {order.code}",
        "meta_data": orjson.dumps({rails.OUR_ID: str(order.code_id)}).decode(),
        **_off(discount),
        **_lasts(discount),
    }
    if discount.max_redemptions_per_code:
        wanted["max_redemptions"] = discount.max_redemptions_per_code
    if discount.expires_at:
        wanted["valid_till"] = int(discount.expires_at.timestamp())
    return wanted


def _off(discount: Discount) -> Mapping[str, str | int]:
    if discount.type == DiscountType.PercentOff:
        return {"discount_type": "percentage", "discount_percentage": discount.value}
    currency = discount.currency or ""
    if currency in chargebee_facts.UNKNOWN_SCALE:
        raise DiscountNotHeld(f"how it counts {currency} is not known; take percents off.")
    units = amounts.to_minor(discount.value, currency, chargebee_facts.EXPONENTS)
    return {"discount_type": "fixed_amount", "discount_amount": units, "currency_code": currency}


def _lasts(discount: Discount) -> Mapping[str, str | int]:
    if discount.months:
        return {"duration_type": "limited_period", "period": discount.months, "period_unit": "month"}
    return {"duration_type": _LASTS[discount.duration]}


def _items(wire: GatewayWire, item_prices: tuple[str, ...]) -> Mapping[str, str]:
    """Return what a coupon is off: the whole invoice, or item prices, by what kind of item each is of."""
    if not item_prices:
        return {"apply_on": "invoice_amount"}
    kinds: dict[str, list[str]] = {}
    for price in item_prices:
        said = wire.find(f"/item_prices/{shapes.segment(price)}")
        kind = shapes.text(said, "item_price", "item_type")
        if kind is None:
            raise DiscountNotHeld(f"it has no item price {price}; productRefs are ids of item prices.")
        kinds.setdefault(kind, []).append(price)
    form = {"apply_on": "each_specified_item"}
    for number, (kind, prices) in enumerate(kinds.items()):
        form[f"item_constraints[constraint][{number}]"] = "specific"
        form[f"item_constraints[item_type][{number}]"] = kind
        form[f"item_constraints[item_price_ids][{number}]"] = orjson.dumps(prices).decode()
    return form


def _standing(wire: GatewayWire, order: CodeOrder) -> StandingCode | None:
    coupon = shapes.at(wire.find(f"/coupons/{shapes.segment(order.code)}"), "coupon")
    if coupon is None:
        return None
    is_ours = shapes.text(coupon, "meta_data", rails.OUR_ID) == str(order.code_id)
    return StandingCode(shapes.needed(coupon, "id"), is_ours, shapes.at(coupon, "status") in ("archived", "deleted"))
