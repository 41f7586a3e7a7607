"""stripe, the processor: a family is a coupon, a code a promotion code of it.

Both carry our id in their metadata, and each POST our id as its Idempotency-Key, so that asking again makes nothing
twice. How often a code may be redeemed stands on the promotion code alone, when it expires on both.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.coupons.base import CodeOrder, CodeTaken, CouponOrder
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected, GatewayUnreachable
from adapters.gateways.card import stripe, stripe_facts
from adapters.gateways.wire import GatewayWire, Params
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import Discount, DiscountType
from domain.gateways import amounts
from domain.gateways.names import Gateway

_OUR_ID = "finderfee_id"
_NAME_CHARACTERS = 40
_PAGE, _MOST_PAGES = 100, 50
_KEY_IN_USE = 409


class StripeCodes:
    """The rail; it has no state."""

    gateway = Gateway.Stripe
    shape = CodeShape(signs="-")

    def create(self, account: GatewayAccount, order: CouponOrder) -> str:
        """Make a coupon."""
        form: dict[str, str | int | list[str]] = {
            "name": order.name[:_NAME_CHARACTERS],
            "duration": order.discount.duration.value.lower(),
            f"metadata[{_OUR_ID}]": str(order.coupon_id),
            **_off(order.discount),
        }
        if order.discount.months:
            form["duration_in_months"] = order.discount.months
        if order.discount.expires_at:
            form["redeem_by"] = int(order.discount.expires_at.timestamp())
        if order.discount.product_refs:
            form["applies_to[products][]"] = list(order.discount.product_refs)
        return _made(stripe.api(account), "/v1/coupons", form, str(order.coupon_id))

    def find_coupon(self, account: GatewayAccount, order: CouponOrder) -> str | None:
        """Look through the coupons, the newest first."""
        return _ours(_listed(stripe.api(account), "/v1/coupons", {}), str(order.coupon_id))

    def delete(self, account: GatewayAccount, processor_coupon_id: str) -> None:
        """Delete a coupon; discounts that were given already stay."""
        stripe.api(account).drop(f"/v1/coupons/{shapes.segment(processor_coupon_id)}")

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a promotion code of the family's coupon."""
        discount = order.family.discount
        form: dict[str, str | int | list[str]] = {
            "promotion[type]": "coupon",
            "promotion[coupon]": order.processor_coupon_id or "",
            "code": order.code,
            f"metadata[{_OUR_ID}]": str(order.code_id),
        }
        if discount.max_redemptions_per_code:
            form["max_redemptions"] = discount.max_redemptions_per_code
        if discount.expires_at:
            form["expires_at"] = int(discount.expires_at.timestamp())
        wire = stripe.api(account)
        try:
            return _made(wire, "/v1/promotion_codes", form, str(order.code_id))
        except GatewayRejected as refused:
            # The words of "taken" have no stable code; what stands there says it.
            standing = list(_listed(wire, "/v1/promotion_codes", {"code": order.code, "active": "true"}))
            if (minted := _ours(iter(standing), str(order.code_id))) is not None:
                return minted
            if standing:
                raise CodeTaken(order.code) from refused
            raise

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the promotion codes with this text."""
        found = _listed(stripe.api(account), "/v1/promotion_codes", {"code": order.code})
        return _ours(found, str(order.code_id))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Let a promotion code be inactive; it cannot be deleted."""
        try:
            path = f"/v1/promotion_codes/{shapes.segment(minted_id)}"
            stripe.api(account).ask("POST", path, form={"active": "false"})
        except GatewayRejected as refused:
            if refused.status != 404:
                raise


RAIL = StripeCodes()


def _off(discount: Discount) -> Mapping[str, str | int]:
    if discount.type == DiscountType.PercentOff:
        return {"percent_off": discount.value}
    currency = discount.currency or ""
    units = amounts.to_minor(discount.value, currency, stripe_facts.EXPONENTS)
    return {"amount_off": units, "currency": currency.lower()}


def _made(wire: GatewayWire, path: str, form: Params, our_id: str) -> str:
    headers = {"Idempotency-Key": f"coupon:{our_id}"}
    try:
        return shapes.needed(wire.ask("POST", path, form=form, headers=headers).json, "id")
    except GatewayRejected as refused:
        if refused.status == _KEY_IN_USE:
            raise GatewayUnreachable("the same is being made there right now") from refused
        raise


def _ours(standing: Iterator[Any], our_id: str) -> str | None:
    return next((shapes.needed(one, "id") for one in standing if shapes.at(one, "metadata", _OUR_ID) == our_id), None)


def _listed(wire: GatewayWire, path: str, params: Params) -> Iterator[Any]:
    after: Params = {}
    for _ in range(_MOST_PAGES):
        page = wire.get(path, {**params, **after, "limit": _PAGE})
        found = shapes.items(page, "data")
        yield from found
        if not found or shapes.at(page, "has_more") is not True:
            return
        after = {"starting_after": shapes.needed(found[-1], "id")}
