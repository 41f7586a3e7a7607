"""Amounts, currencies and ids that cannot be: the event fails with its bytes, and nothing is booked on a guess."""

import json

import pytest

from tests.support.gateways.card import mollie
from tests.support.gateways.digital.thrivecart import form
from tests.support.gateways.stage import Purchase

_LONG = "x" * 500


def played(*names):
    """Return the mark that has a test played by these gateways."""
    return pytest.mark.parametrize("stage", names, indirect=True)


def _has_nothing(shop):
    """Say that nothing was written but the inbox."""
    counted = "select " + ", ".join(
        f"(select count(*) from {table})"
        for table in ("conversion", "gateway_payment", "gateway_alias", "ledger_entry", "program_customer", "event")
    )
    return shop.brand.rows(counted) == [(0,) * 6]


@pytest.mark.parametrize(
    "amount", [10.5, "10.50", -1, "-1", 10**13, 10**30, True, None, [], {}, "", "١٠", "1e3"], ids=repr
)
def test_an_amount_that_is_no_number_of_minor_units_fails(shop, amount):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.hear(shop.changed(sale.notifications[0], amount_paid=amount))
    assert shop.events("status, reason, raw is not null") == [("Failed", "unreadable", True)]
    assert _has_nothing(shop)

    event = json.loads(sale.notifications[0].body) | {"id": "evt_mended"}
    shop.hear(shop.stage.sign_body(json.dumps(event).encode()))
    assert shop.conversions("amount_cents") == [(10_000,)]


@pytest.mark.parametrize(
    ("currency", "reason"),
    [
        *((currency, "unsupported_currency") for currency in ("xts", "usdt", "us", "")),
        *((currency, "unreadable") for currency in (None, 840, {})),
    ],
    ids=repr,
)
def test_a_currency_that_is_not_known_fails(shop, currency, reason):
    sale = shop.stage.pay(Purchase())
    shop.hear(shop.changed(sale.notifications[0], currency=currency))
    assert shop.events("status, reason") == [("Failed", reason)]
    assert _has_nothing(shop)


@pytest.mark.parametrize(
    ("currency", "amount", "booked"), [("isk", 10_050, 100), ("isk", 10_150, 102), ("isk", 10_000, 100)]
)
def test_hundredths_of_a_currency_that_has_none_are_rounded_half_even(shop, currency, amount, booked):
    sale = shop.stage.pay(Purchase())
    shop.hear(shop.changed(sale.notifications[0], currency=currency, amount_paid=amount, total=amount))
    assert shop.conversions("amount_cents, currency") == [(booked, "ISK")]


@pytest.mark.parametrize("field", ["id", "customer"])
def test_an_id_of_500_characters_fails(shop, field):
    sale = shop.stage.pay(Purchase())
    shop.hear(shop.changed(sale.notifications[0], **{field: _LONG}))
    assert shop.events("status, reason") == [("Failed", "unreadable")]
    assert _has_nothing(shop)


def test_what_only_describes_may_have_any_length(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.hear(
        shop.changed(
            sale.notifications[0], customer_name="n" * 5_000, metadata={"affiliate_slug": "jane", _LONG: _LONG}
        )
    )
    assert shop.conversions("amount_cents") == [(10_000,)]


@pytest.mark.parametrize("amount", [10.5, -1, 10**30, None, "x"], ids=repr)
def test_a_refund_of_what_is_no_amount_takes_nothing_back(shop, amount):
    sale = shop.sell(cents=10_000)
    (refund,) = shop.stage.refund(sale, 4_000)
    shop.hear(shop.changed(refund, amount_refunded=amount))
    assert shop.events()[-1] == ("charge.refunded", "Failed", "unreadable")
    assert shop.conversions("refunded_cents, reversed_cents") == [(0, 0)]


def test_a_refund_of_more_than_was_paid_takes_back_what_was_paid(shop):
    sale = shop.sell(cents=10_000)
    (refund,) = shop.stage.refund(sale, 10_000)
    shop.hear(shop.changed(refund, amount_refunded=999_999_999))
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(10_000, 2_000, "Refunded")]


@played("mollie")
@pytest.mark.parametrize("value", ["-10.00", "1e5", "9" * 30, "x", "", None, []], ids=repr)
def test_mollies_amount_that_is_no_decimal_fails_by_both_ways_in(shop, value):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.objects[f"/v2/payments/{sale.id}"]["amount"]["value"] = value
    event = json.loads(sale.notifications[0].body)
    event["_embedded"]["entity"]["amount"]["value"] = value
    shop.hear(mollie.build_classic_call(sale.id), shop.stage.sign_body(json.dumps(event).encode()))
    assert shop.events("status, reason") == [("Failed", "unreadable")] * 2
    assert _has_nothing(shop)


@played("mollie")
def test_a_call_of_mollie_that_names_no_payment_is_refused_or_ignored(shop):
    assert (
        shop.deliver(
            mollie.build_classic_call("tr_" + _LONG),
            mollie.build_classic_call("../refunds"),
            mollie.build_classic_call(""),
        )
        == [401] * 3
    )
    shop.hear(mollie.build_classic_call("tr_unknown"), mollie.build_classic_call("ord_1"))
    assert {status for (status,) in shop.events("status")} == {"Ignored"}
    assert _has_nothing(shop)


@played("gumroad")
@pytest.mark.parametrize("price", [10.5, "10.50", -1, 10**30, None, "x"], ids=repr)
def test_gumroads_price_that_is_no_number_of_cents_fails(shop, price):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.stage.sales[sale.id]["price"] = price
    shop.hear(*sale.notifications)
    assert shop.events("status, reason") == [("Failed", "unreadable")]
    assert _has_nothing(shop)


@played("gumroad")
def test_what_a_form_says_about_a_sale_of_gumroad_is_never_its_money(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    said = {**shop.stage.sales[sale.id], "price": 99_999_999}
    shop.hear(shop.stage.ping("sale", said, sale.purchase, quantity="-5"))
    assert shop.conversions("amount_cents") == [(10_000,)]


@played("thrivecart")
@pytest.mark.parametrize("total", ["10.50", "-1", str(10**30), "x", "1e5"])
def test_thrivecarts_total_that_is_no_number_of_hundredths_fails(shop, total):
    told = shop.stage.build_event("order.success", "38000001", "000000001", Purchase())
    told["order"] = {"id": "38000001", "total": total, "total_gross": total, "tax": 0}
    shop.stage.transact("charge", "38000001", "000000001", 10_000, Purchase())
    shop.hear(form(told))
    assert shop.events("status, reason") == [("Failed", "unreadable")]
    assert _has_nothing(shop)


@played("thrivecart")
def test_a_total_of_thrivecart_that_its_list_does_not_confirm_waits(shop):
    told = shop.stage.build_event("order.success", "38000001", "000000001", Purchase())
    told["order"] = {"id": "38000001", "total": 99_999, "total_gross": 99_999, "tax": 0}
    shop.stage.transact("charge", "38000001", "000000001", 10_000, Purchase())
    shop.hear(form(told))
    assert shop.events("status, reason") == [("Parked", "amount_not_confirmed")]
    assert _has_nothing(shop)
