"""Tax, shipping, discount and net amount of a sale in each gateway's objects; and sales sent with changed amounts."""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.gateways.card.braintree import BraintreeStage
from tests.support.gateways.digital.thrivecart import form
from tests.support.gateways.stage import Notification, Sale
from tests.support.gateways.storefront.wix import PAID as WIX_PAID

Path = tuple[str | int, ...]

#: Instead of a value: the field is missing.
MISSING = object()


@dataclass(frozen=True, slots=True)
class Figure:
    """An amount of a payment, and its path in the gateway's object.

    Without `counts` the net amount does not depend on it. `is_optional`: a missing amount means zero.
    """

    name: str
    path: Path
    is_minor: bool = False
    counts: bool = True
    is_optional: bool = False


def _minor(name: str, *path: str | int, **kind: bool) -> Figure:
    return Figure(name, path, is_minor=True, **kind)


def _major(name: str, *path: str | int, **kind: bool) -> Figure:
    return Figure(name, path, **kind)


#: The amounts of a sale of 100.00 at each gateway; its tax is 1.00.
FIELDS: Mapping[str, dict[str, Any]] = {
    "stripe": {
        "total": 10_000,
        "total_excluding_tax": 9_900,
        "shipping_cost": {"amount_subtotal": 200},
        "total_discount_amounts": [{"amount": 300, "discount": "di_1"}],
    },
    "braintree": {"tax-amount": "1.00", "shipping-amount": "2.00", "discount-amount": "3.00"},
    "mollie": {
        "lines": [
            {"totalAmount": {"value": "101.00"}, "vatAmount": {"value": "1.00"}},
            {"type": "shipping_fee", "totalAmount": {"value": "2.00"}, "vatAmount": {"value": "0.00"}},
            {"type": "discount", "totalAmount": {"value": "-3.00"}, "vatAmount": {"value": "0.00"}},
        ]
    },
    "paypal": {
        "amount": {
            "currency_code": "USD",
            "value": "100.00",
            "breakdown": {
                "tax_total": {"value": "1.00"},
                "shipping": {"value": "2.00"},
                "discount": {"value": "3.00"},
            },
        }
    },
    "shopify": {
        "total_tax": "1.00",
        "total_shipping_price_set": {"shop_money": {"amount": "2.00"}},
        "total_discounts": "3.00",
        "subtotal_price": "97.00",
    },
    "bigcommerce": {
        "total_tax": "1.0000",
        "shipping_cost_inc_tax": "2.0000",
        "discount_amount": "3.0000",
        "subtotal_ex_tax": "97.0000",
    },
    "wix": {
        "priceSummary": {
            "total": {"amount": "100.00"},
            "tax": {"amount": "1.00"},
            "shipping": {"amount": "2.00"},
            "discount": {"amount": "3.00"},
            "subtotal": {"amount": "100.00"},
        }
    },
    "woocommerce": {"total_tax": "1.00", "shipping_total": "2.00", "discount_total": "3.00"},
    "paddle": {
        "details": {
            "totals": {"grand_total": "10000", "grand_total_tax": "100", "discount": "300", "subtotal": "10200"},
        }
    },
    "chargebee": {"tax": 100, "total": 10_000, "discounts": [], "sub_total": 9_900},
    "recurly": {"tax": 1, "discount": 3, "subtotal": 102},
    "maxio": {"tax_amount": "1.0", "discount_amount": "3.0", "subtotal_amount": "102.0"},
    "gumroad": {"gumroad_fee": 100, "tax_cents": 100, "shipping_in_cents": 200},
    "lemonsqueezy": {"tax": 100, "discount_total": 300, "subtotal": 10_200},
    "thrivecart": {"tax": 100, "discount": 300},
}

FIGURES: Mapping[str, tuple[Figure, ...]] = {
    "stripe": (
        _minor("net", "total_excluding_tax"),
        _minor("total", "total"),
        _minor("shipping", "shipping_cost", "amount_subtotal", is_optional=True),
        _minor("discount", "total_discount_amounts", 0, "amount", counts=False),
    ),
    "braintree": (
        _major("tax", "tax-amount"),
        _major("shipping", "shipping-amount", is_optional=True),
        _major("discount", "discount-amount", counts=False),
    ),
    "mollie": (
        _major("tax", "lines", 0, "vatAmount", "value"),
        _major("shipping", "lines", 1, "totalAmount", "value"),
        _major("discount", "lines", 2, "totalAmount", "value", counts=False),
    ),
    "paypal": (
        _major("tax", "amount", "breakdown", "tax_total", "value"),
        _major("shipping", "amount", "breakdown", "shipping", "value", is_optional=True),
        _major("discount", "amount", "breakdown", "discount", "value", counts=False),
        _major("total", "amount", "value"),
    ),
    "shopify": (
        _major("tax", "total_tax"),
        _major("shipping", "total_shipping_price_set", "shop_money", "amount"),
        _major("discount", "total_discounts", counts=False),
        _major("net", "subtotal_price", counts=False),
    ),
    "bigcommerce": (
        _major("tax", "total_tax"),
        _major("shipping", "shipping_cost_inc_tax"),
        _major("shipping without tax", "shipping_cost_ex_tax", is_optional=True),
        _major("discount", "discount_amount", counts=False),
        _major("net", "subtotal_ex_tax", counts=False),
    ),
    "wix": (
        _major("tax", "priceSummary", "tax", "amount"),
        _major("shipping", "priceSummary", "shipping", "amount"),
        _major("discount", "priceSummary", "discount", "amount", counts=False),
        _major("net", "priceSummary", "subtotal", "amount", counts=False),
    ),
    "woocommerce": (
        _major("tax", "total_tax"),
        _major("shipping", "shipping_total"),
        _major("discount", "discount_total", counts=False),
    ),
    "paddle": (
        _minor("tax", "details", "totals", "grand_total_tax"),
        _minor("discount", "details", "totals", "discount", counts=False),
        _minor("net", "details", "totals", "subtotal", counts=False),
    ),
    "chargebee": (
        _minor("tax", "tax"),
        _minor("total", "total"),
        _minor("net", "sub_total", counts=False),
    ),
    "recurly": (
        _major("tax", "tax"),
        _major("total", "total"),
        _major("discount", "discount", counts=False),
        _major("net", "subtotal", counts=False),
    ),
    "maxio": (
        _major("tax", "tax_amount"),
        _major("total", "total_amount"),
        _major("discount", "discount_amount", counts=False),
        _major("net", "subtotal_amount", counts=False),
    ),
    "gumroad": (
        _minor("tax", "tax_cents", counts=False),
        _minor("shipping", "shipping_in_cents", counts=False),
        _minor("fee", "gumroad_fee", counts=False),
    ),
    "lemonsqueezy": (
        _minor("tax", "tax"),
        _minor("discount", "discount_total", counts=False),
        _minor("net", "subtotal", counts=False),
        _minor("refunded", "refunded_amount", counts=False),
    ),
    "thrivecart": (
        _minor("tax", "tax"),
        _minor("net", "total", counts=False),
        _minor("discount", "discount", counts=False),
    ),
}


def resend_sale(stage: Any, sale: Sale, changes: Mapping[Path, object]) -> tuple[Notification, ...]:
    """Return the notifications about a sale whose object has `FIELDS`, changed to these values at these paths."""

    def change(fields: dict[str, Any]) -> dict[str, Any]:
        fields |= copy.deepcopy(FIELDS[stage.gateway.name])
        for path, value in changes.items():
            _put(fields, path, value)
        return fields

    return _RESEND[stage.gateway.name](stage, sale, change)


Change = Callable[[dict[str, Any]], dict[str, Any]]


def _in_event(*place: str) -> Callable[[Any, Sale, Change], tuple[Notification, ...]]:
    """Return a function that changes the object in the event itself, and signs the event again."""

    def resend(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
        event = json.loads(sale.notifications[0].body)
        fields = event
        for name in place:
            fields = fields[name]
        change(fields)
        return (stage.sign_body(json.dumps(event).encode()), *sale.notifications[1:])

    return resend


def _braintree(stage: BraintreeStage, sale: Sale, change: Change) -> tuple[Notification, ...]:
    change(stage.transactions[sale.id])
    return (stage.notify("transaction_settled", {"transaction": stage.transactions[sale.id]}),)


def _at_gateway(path: Callable[[Sale], str], *place: str) -> Callable[[Any, Sale, Change], tuple[Notification, ...]]:
    """Return a function that changes an object in the gateway's API, for events that only contain its id."""

    def resend(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
        fields = stage.objects[path(sale)]
        for name in place:
            fields = fields[name]
        change(fields)
        return sale.notifications

    return resend


def _paypal(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
    number = sale.id.removeprefix("PPCAP")
    change(stage.objects[f"/v2/checkout/orders/PPORD{number}"]["purchase_units"][0])
    return sale.notifications


def _gumroad(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
    change(stage.sales[sale.id])
    return sale.notifications


def _wix(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
    payload = {"previousPaymentStatus": "NOT_PAID", "order": change(stage.orders[sale.id])}
    return (stage.notify(WIX_PAID, payload),)


def _woocommerce(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
    return (stage.notify(change(stage.orders[int(sale.id)])),)


def _chargebee(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
    event = json.loads(sale.notifications[0].body)
    change(stage.objects[f"/events/{event['id']}"]["event"]["content"]["invoice"])
    return sale.notifications


def _thrivecart(stage: Any, sale: Sale, change: Change) -> tuple[Notification, ...]:
    order_id, invoice_id = sale.id.split(":")
    payload = stage.build_event("order.success", order_id, invoice_id, sale.purchase)
    order = {"id": order_id, "total": sale.purchase.cents, "total_gross": sale.purchase.cents}
    return (form({**payload, "order": change(order)}),)


def _order_number(sale: Sale) -> str:
    return str(1000 + int(sale.id.removeprefix("rinv")))


_RESEND: Mapping[str, Callable[[Any, Sale, Change], tuple[Notification, ...]]] = {
    "stripe": _in_event("data", "object"),
    "braintree": _braintree,
    "mollie": _in_event("_embedded", "entity"),
    "paypal": _paypal,
    "shopify": _in_event(),
    "bigcommerce": _at_gateway(lambda sale: f"/v2/orders/{sale.id}"),
    "wix": _wix,
    "woocommerce": _woocommerce,
    "paddle": _in_event("data"),
    "chargebee": _chargebee,
    "recurly": _at_gateway(lambda sale: f"/invoices/number-{_order_number(sale)}"),
    "maxio": _at_gateway(lambda sale: f"/invoices/inv_{int(sale.id) - 7000}.json"),
    "gumroad": _gumroad,
    "lemonsqueezy": _in_event("data", "attributes"),
    "thrivecart": _thrivecart,
}


def _put(holder: Any, path: Path, value: object) -> None:
    for name in path[:-1]:
        holder = holder[name]
    if value is MISSING:
        holder.pop(path[-1], None)
    else:
        holder[path[-1]] = value
