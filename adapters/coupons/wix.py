"""wix: each code is a coupon of the site's store, whose name ends with our id.

A coupon is for all products of the store, off one order.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson

from adapters import clock
from adapters.coupons import rails
from adapters.coupons.base import CodeOrder
from adapters.coupons.rails import StandingCode
from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected
from adapters.gateways.storefront import wix
from domain.coupons.codes import CodeShape
from domain.coupons.discounts import DiscountType
from domain.gateways.names import Gateway

_COUPONS = "/stores/v2/coupons"
_PAGE, _MOST_PAGES = 100, 50


class WixCodes:
    """The rail; it has no state."""

    gateway = Gateway.Wix
    shape = CodeShape(longest=20)

    def mint(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Make a coupon with this code."""
        return rails.mint_once(order, lambda: _standing(account, order), lambda: _made(account, order))

    def find_code(self, account: GatewayAccount, order: CodeOrder) -> str | None:
        """Look at the coupon with this code."""
        return rails.ours(_standing(account, order))

    def switch_off(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a coupon; one that is only inactive would keep its text."""
        try:
            wix.ask(account, "DELETE", f"{_COUPONS}/{shapes.segment(minted_id)}")
        except GatewayRejected as refused:
            if refused.status != 404:
                raise


RAIL = WixCodes()


def _made(account: GatewayAccount, order: CodeOrder) -> str:
    rails.require_first_payment_only(order.family.discount)
    rails.require_currency(order.family.discount, lambda: _currency(account))
    return shapes.needed(wix.ask(account, "POST", _COUPONS, {"specification": _specification(order)}), "id")


def _specification(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    wanted: dict[str, object] = {
        "name": rails.marked_name(order),
        "code": order.code,
        "startTime": _milliseconds(clock.now()),
        "scope": {"namespace": "stores"},
        "active": True,
    }
    if discount.type == DiscountType.PercentOff:
        wanted["percentOffRate"] = discount.value
    else:
        wanted["moneyOffAmount"] = rails.number(rails.decimal(discount))
    if discount.expires_at:
        wanted["expirationTime"] = _milliseconds(discount.expires_at)
    if discount.max_redemptions_per_code:
        wanted["usageLimit"] = discount.max_redemptions_per_code
    return wanted


def _milliseconds(at: datetime) -> str:
    return str(int(at.timestamp()) * 1000)


def _currency(account: GatewayAccount) -> str | None:
    return shapes.text(wix.ask(account, "GET", "/apps/v1/instance"), "site", "paymentCurrency")


def _standing(account: GatewayAccount, order: CodeOrder) -> StandingCode | None:
    for coupon in _coupons(account, order):
        told = shapes.at(coupon, "specification")
        if rails.is_text_of(order, shapes.text(told, "code")):
            return StandingCode(shapes.needed(coupon, "id"), rails.is_marked(shapes.text(told, "name"), order.code_id))
    return None


def _coupons(account: GatewayAccount, order: CodeOrder) -> Iterator[Any]:
    wanted = orjson.dumps({"specification.code": order.code}).decode()
    for page in range(_MOST_PAGES):
        query = {"filter": wanted, "paging": {"limit": _PAGE, "offset": page * _PAGE}}
        found = shapes.items(wix.ask(account, "POST", f"{_COUPONS}/query", {"query": query}), "coupons")
        yield from found
        if len(found) < _PAGE:
            return
