"""recurly: each code is a coupon of its own, whose internal name ends with our id.

The codes of a bulk coupon are good for one use each, so none is used. A coupon ends with a day of the Pacific coast:
the last one that is over when the code expires.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from adapters import clock
from adapters.coupons import rails
from adapters.coupons.base import CodeOrder, DiscountNotHeld
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.billing import recurly
from adapters.gateways.wire import GatewayWire
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import DiscountDuration, DiscountType
from domain.gateways.names import Gateway

_LASTS = {DiscountDuration.Once: "single_use", DiscountDuration.Forever: "forever"}
_WINTER = timezone(timedelta(hours=-8))
_OVER = ("expired", "inactive")


class RecurlyCodes:
    """The rail; it has no state."""

    gateway = Gateway.Recurly
    shape = CodeShape()

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a coupon with this code."""
        wire = recurly.api(account)
        return rails.mint_once(
            order,
            lambda: _standing(wire, order),
            lambda: shapes.needed(wire.ask("POST", "/coupons", json=_coupon(order)).json, "id"),
        )

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the coupon with this code."""
        return rails.ours(_standing(recurly.api(account), order))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Expire a coupon."""
        recurly.api(account).drop(f"/coupons/{shapes.segment(minted_id)}")


RAIL = RecurlyCodes()


def _coupon(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    wanted: dict[str, object] = {
        "code": order.code,
        "name": rails.marked_name(order),
        "coupon_type": "single_code",
        "applies_to_all_plans": not discount.product_refs,
        "applies_to_non_plan_charges": not discount.product_refs,
    }
    if discount.type == DiscountType.PercentOff:
        wanted |= {"discount_type": "percent", "discount_percent": discount.value}
    else:
        off = {"currency": discount.currency, "discount": rails.number(rails.decimal(discount))}
        wanted |= {"discount_type": "fixed", "currencies": [off]}
    if discount.months:
        wanted |= {"duration": "temporal", "temporal_unit": "month", "temporal_amount": discount.months}
    else:
        wanted["duration"] = _LASTS[discount.duration]
    if discount.product_refs:
        wanted["plan_codes"] = list(discount.product_refs)
    if discount.max_redemptions_per_code:
        wanted["max_redemptions"] = discount.max_redemptions_per_code
    if discount.expires_at:
        wanted["redeem_by_date"] = _last_day(discount.expires_at, clock.now())
    return wanted


def _last_day(expires_at: datetime, now: datetime) -> str:
    last = (expires_at.astimezone(_WINTER) + timedelta(seconds=1)).date() - timedelta(days=1)
    if last < now.astimezone(_WINTER).date():
        raise DiscountNotHeld("its codes end with a day of the Pacific coast, and this one ends before today does.")
    return last.isoformat()


def _standing(wire: GatewayWire, order: CodeOrder) -> StandingCode | None:
    coupon = wire.find(f"/coupons/code-{shapes.segment(order.code)}")
    if coupon is None:
        return None
    is_ours = rails.is_marked(shapes.text(coupon, "name"), order.code_id)
    return StandingCode(shapes.needed(coupon, "id"), is_ours, shapes.at(coupon, "state") in _OVER)
