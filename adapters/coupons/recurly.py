"""recurly: each code has its own coupon, whose internal name ends with our id.

Bulk coupons are not used, because each of their codes can be redeemed only once. A coupon ends at the end of a day in
Pacific time: the last day that ends no later than the code expires.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from adapters import clock
from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, DiscountUnsupported, ExistingCode, UniqueCodeRail
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.billing import recurly
from domain.coupons.discounts import DiscountDuration
from domain.gateways.names import Gateway

_DURATIONS = {DiscountDuration.Once: "single_use", DiscountDuration.Forever: "forever"}
_PACIFIC_STANDARD = timezone(timedelta(hours=-8))
_ENDED_STATES = ("expired", "inactive")


class RecurlyCodes(UniqueCodeRail):
    gateway = Gateway.Recurly

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the coupon with this code."""
        coupon = recurly.GATEWAY.api(account).find(f"/coupons/code-{shapes.segment(order.code)}")
        if coupon is None:
            return None
        is_ours = terms.is_marked(shapes.text(coupon, "name"), order.code_id)
        return ExistingCode(shapes.require(coupon, "id"), is_ours, shapes.get(coupon, "state") in _ENDED_STATES)

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a coupon with this code."""
        return shapes.require(
            recurly.GATEWAY.api(account).request("POST", "/coupons", json=_coupon_fields(order)).json, "id"
        )

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Expire a coupon."""
        recurly.GATEWAY.api(account).delete(f"/coupons/{shapes.segment(minted_id)}")


RAIL = RecurlyCodes()


def _coupon_fields(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    coupon: dict[str, object] = {
        "code": order.code,
        "name": terms.name_with_mark(order),
        "coupon_type": "single_code",
        "applies_to_all_plans": not discount.product_refs,
        "applies_to_non_plan_charges": not discount.product_refs,
    }
    if terms.is_percent(discount):
        coupon |= {"discount_type": "percent", "discount_percent": discount.value}
    else:
        amount = {"currency": discount.currency, "discount": terms.number(terms.decimal(discount))}
        coupon |= {"discount_type": "fixed", "currencies": [amount]}
    if discount.months:
        coupon |= {"duration": "temporal", "temporal_unit": "month", "temporal_amount": discount.months}
    else:
        coupon["duration"] = _DURATIONS[discount.duration]
    coupon |= terms.optional(plan_codes=list(discount.product_refs))
    coupon |= terms.optional(max_redemptions=discount.max_redemptions_per_code)
    if discount.expires_at:
        coupon["redeem_by_date"] = _last_day(discount.expires_at, clock.now())
    return coupon


def _last_day(expires_at: datetime, now: datetime) -> str:
    last = (expires_at.astimezone(_PACIFIC_STANDARD) + timedelta(seconds=1)).date() - timedelta(days=1)
    if last < now.astimezone(_PACIFIC_STANDARD).date():
        raise DiscountUnsupported(
            "its codes end with a day in Pacific time, here before today; choose a later expiresAt."
        )
    return last.isoformat()
