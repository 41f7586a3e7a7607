"""wix: each code is a coupon of the site's store, whose name ends with our id.

A coupon applies to all products of the store and discounts one order.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson

from adapters import clock
from adapters.coupons import terms
from adapters.coupons.base import CodeOrder, ExistingCode, UniqueCodeRail
from adapters.gateways import paging, shapes
from adapters.gateways.base import GatewayAccount
from adapters.gateways.storefront import wix
from adapters.gateways.wire import ignoring_missing_object
from domain.coupons.codes import CodeShape
from domain.gateways.names import Gateway

_COUPONS = "/stores/v2/coupons"
_PAGE, _MAX_PAGES = 100, 50


class WixCodes(UniqueCodeRail):
    gateway = Gateway.Wix
    shape = CodeShape(max_length=20)

    def find_by_text(self, account: GatewayAccount, order: CodeOrder) -> ExistingCode | None:
        """Return the coupon with this code."""
        for coupon in _coupons(account, order):
            specification = shapes.get(coupon, "specification")
            if terms.matches_order(order, shapes.text(specification, "code")):
                is_ours = terms.is_marked(shapes.text(specification, "name"), order.code_id)
                return ExistingCode(shapes.require(coupon, "id"), is_ours)
        return None

    def create_code(self, account: GatewayAccount, order: CodeOrder) -> str:
        """Create a coupon with this code."""

        def currency() -> str | None:
            return shapes.text(wix.request(account, "GET", "/apps/v1/instance"), "site", "paymentCurrency")

        terms.require_first_payment_only(order.family.discount)
        terms.require_currency(order.family.discount, currency)
        return shapes.require(wix.request(account, "POST", _COUPONS, {"specification": _specification(order)}), "id")

    def deactivate(self, account: GatewayAccount, order: CodeOrder, minted_id: str) -> None:
        """Delete a coupon: an inactive one would keep its text taken."""
        with ignoring_missing_object():
            wix.request(account, "DELETE", f"{_COUPONS}/{shapes.segment(minted_id)}")


RAIL = WixCodes()


def _specification(order: CodeOrder) -> Mapping[str, object]:
    discount = order.family.discount
    specification: dict[str, object] = {
        "name": terms.name_with_mark(order),
        "code": order.code,
        "startTime": _milliseconds(clock.now()),
        "scope": {"namespace": "stores"},
        "active": True,
    }
    if terms.is_percent(discount):
        specification["percentOffRate"] = discount.value
    else:
        specification["moneyOffAmount"] = terms.number(terms.decimal(discount))
    if discount.expires_at:
        specification["expirationTime"] = _milliseconds(discount.expires_at)
    return specification | terms.optional(usageLimit=discount.max_redemptions_per_code)


def _milliseconds(at: datetime) -> str:
    return str(int(at.timestamp()) * 1000)


def _coupons(account: GatewayAccount, order: CodeOrder) -> Iterator[Any]:
    def fetch(number: int) -> list[Any]:
        query = {"filter": by_code, "paging": {"limit": _PAGE, "offset": (number - 1) * _PAGE}}
        return shapes.items(wix.request(account, "POST", f"{_COUPONS}/query", {"query": query}), "coupons")

    by_code = orjson.dumps({"specification.code": order.code}).decode()
    for coupons in paging.read_by_number(fetch, _PAGE, max_pages=_MAX_PAGES):
        yield from coupons
