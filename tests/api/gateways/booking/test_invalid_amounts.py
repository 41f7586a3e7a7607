"""Invalid amounts, currencies and ids: the event fails, its bytes are stored, and nothing is booked."""

import json

import pytest

from tests.support.gateways.card import mollie
from tests.support.gateways.digital.thrivecart import form
from tests.support.gateways.stage import Purchase

_LONG = "x" * 500


def at_gateways(*names):
    """Return the mark that runs a test at each of these gateways."""
    return pytest.mark.parametrize("stage", names, indirect=True)


def _is_nothing_booked(shop):
    """Return whether nothing but the inbox has rows."""
    statement = "select " + ", ".join(
        f"(select count(*) from {table})"
        for table in ("conversion", "gateway_payment", "gateway_alias", "ledger_entry", "program_customer", "event")
    )
    return shop.brand.rows(statement) == [(0,) * 6]


@pytest.mark.parametrize(
    "amount", [10.5, "10.50", -1, "-1", 10**13, 10**30, True, None, [], {}, "", "١٠", "1e3"], ids=repr
)
def test_amount_that_is_no_integer_of_minor_units_fails(shop, amount):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.receive(shop.replace_fields(sale.notifications[0], amount_paid=amount))
    assert shop.events("status, reason, raw is not null") == [("Failed", "unreadable", True)]
    assert _is_nothing_booked(shop)

    event = json.loads(sale.notifications[0].body) | {"id": "evt_corrected"}
    shop.receive(shop.stage.sign_body(json.dumps(event).encode()))
    assert shop.conversions("amount_cents") == [(10_000,)]


@pytest.mark.parametrize(
    ("currency", "reason"),
    [
        *((currency, "unsupported_currency") for currency in ("xts", "usdt", "us", "")),
        *((currency, "unreadable") for currency in (None, 840, {})),
    ],
    ids=repr,
)
def test_unknown_currency_fails(shop, currency, reason):
    sale = shop.stage.pay(Purchase())
    shop.receive(shop.replace_fields(sale.notifications[0], currency=currency))
    assert shop.events("status, reason") == [("Failed", reason)]
    assert _is_nothing_booked(shop)


@pytest.mark.parametrize(
    ("currency", "amount", "booked"), [("isk", 10_050, 100), ("isk", 10_150, 102), ("isk", 10_000, 100)]
)
def test_hundredths_of_zero_decimal_currency_are_rounded_half_even(shop, currency, amount, booked):
    sale = shop.stage.pay(Purchase())
    shop.receive(shop.replace_fields(sale.notifications[0], currency=currency, amount_paid=amount, total=amount))
    assert shop.conversions("amount_cents, currency") == [(booked, "ISK")]


@pytest.mark.parametrize("field", ["id", "customer"])
def test_id_of_500_characters_fails(shop, field):
    sale = shop.stage.pay(Purchase())
    shop.receive(shop.replace_fields(sale.notifications[0], **{field: _LONG}))
    assert shop.events("status, reason") == [("Failed", "unreadable")]
    assert _is_nothing_booked(shop)


def test_descriptive_fields_of_any_length_are_accepted(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.receive(
        shop.replace_fields(
            sale.notifications[0], customer_name="n" * 5_000, metadata={"affiliate_slug": "jane", _LONG: _LONG}
        )
    )
    assert shop.conversions("amount_cents") == [(10_000,)]


@pytest.mark.parametrize("amount", [10.5, -1, 10**30, None, "x"], ids=repr)
def test_refund_of_invalid_amount_reverses_nothing(shop, amount):
    sale = shop.sell(cents=10_000)
    (refund,) = shop.stage.refund(sale, 4_000)
    shop.receive(shop.replace_fields(refund, amount_refunded=amount))
    assert shop.events()[-1] == ("charge.refunded", "Failed", "unreadable")
    assert shop.conversions("refunded_cents, reversed_cents") == [(0, 0)]


def test_refund_above_the_payment_reverses_the_payment(shop):
    sale = shop.sell(cents=10_000)
    (refund,) = shop.stage.refund(sale, 10_000)
    shop.receive(shop.replace_fields(refund, amount_refunded=999_999_999))
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_000, 2_000, "Refunded")]


@at_gateways("mollie")
@pytest.mark.parametrize("value", ["-10.00", "1e5", "9" * 30, "x", "", None, []], ids=repr)
def test_mollie_amount_that_is_no_decimal_fails_by_call_and_by_event(shop, value):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.objects[f"/v2/payments/{sale.id}"]["amount"]["value"] = value
    event = json.loads(sale.notifications[0].body)
    event["_embedded"]["entity"]["amount"]["value"] = value
    shop.receive(mollie.build_classic_call(sale.id), shop.stage.sign_body(json.dumps(event).encode()))
    assert shop.events("status, reason") == [("Failed", "unreadable")] * 2
    assert _is_nothing_booked(shop)


@at_gateways("mollie")
def test_mollie_call_without_a_payment_id_is_refused_or_ignored(shop):
    assert (
        shop.deliver(
            mollie.build_classic_call("tr_" + _LONG),
            mollie.build_classic_call("../refunds"),
            mollie.build_classic_call(""),
        )
        == [401] * 3
    )
    shop.receive(mollie.build_classic_call("tr_unknown"), mollie.build_classic_call("ord_1"))
    assert {status for (status,) in shop.events("status")} == {"Ignored"}
    assert _is_nothing_booked(shop)


@at_gateways("gumroad")
@pytest.mark.parametrize("price", [10.5, "10.50", -1, 10**30, None, "x"], ids=repr)
def test_gumroad_price_that_is_no_integer_of_cents_fails(shop, price):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.sales[sale.id]["price"] = price
    shop.receive(*sale.notifications)
    assert shop.events("status, reason") == [("Failed", "unreadable")]
    assert _is_nothing_booked(shop)


@at_gateways("gumroad")
def test_gumroad_form_price_is_not_trusted(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    form_fields = {**shop.stage.sales[sale.id], "price": 99_999_999}
    shop.receive(shop.stage.ping("sale", form_fields, sale.purchase, quantity="-5"))
    assert shop.conversions("amount_cents") == [(10_000,)]


@at_gateways("thrivecart")
@pytest.mark.parametrize("total", ["10.50", "-1", str(10**30), "x", "1e5"])
def test_thrivecart_total_that_is_no_integer_of_hundredths_fails(shop, total):
    event = shop.stage.build_event("order.success", "38000001", "000000001", Purchase())
    event["order"] = {"id": "38000001", "total": total, "total_gross": total, "tax": 0}
    shop.stage.transact("charge", "38000001", "000000001", 10_000, Purchase())
    shop.receive(form(event))
    assert shop.events("status, reason") == [("Failed", "unreadable")]
    assert _is_nothing_booked(shop)


@at_gateways("thrivecart")
def test_thrivecart_total_unconfirmed_by_its_list_is_parked(shop):
    event = shop.stage.build_event("order.success", "38000001", "000000001", Purchase())
    event["order"] = {"id": "38000001", "total": 99_999, "total_gross": 99_999, "tax": 0}
    shop.stage.transact("charge", "38000001", "000000001", 10_000, Purchase())
    shop.receive(form(event))
    assert shop.events("status, reason") == [("Parked", "amount_not_confirmed")]
    assert _is_nothing_booked(shop)
