"""Starts without money are leads without commission; the first payment is a conversion and converts them."""

from tests.support.gateways.stage import Purchase

_EVE = {"customer": "7", "email": "eve@example.com"}
_LEADS = "select method, state from lead"


def test_a_trial_is_a_lead_and_its_first_payment_converts_it(shop):
    shop.hear(*shop.stage.start_trial(Purchase(cents=0, **_EVE)))
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Open")]
    assert shop.conversions() == []
    shop.sell(slug=None, **_EVE)
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Converted")]
    assert shop.conversions("attribution_method, type") == [("metadata_or_customer", "OneTime")]


def test_a_subscription_and_its_invoice_of_nothing_are_one_lead_in_either_order(shop):
    trial, invoice = shop.stage.start_trial(Purchase(cents=0, **_EVE)), shop.stage.pay(Purchase(cents=0, **_EVE))
    shop.hear(*trial, *invoice.notifications)
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Open")]

    other = {"customer": "8", "email": "bob@example.com"}
    trial, invoice = shop.stage.start_trial(Purchase(cents=0, **other)), shop.stage.pay(Purchase(cents=0, **other))
    shop.hear(*invoice.notifications, *trial, *invoice.notifications)
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Open")] * 2
    assert shop.conversions() == []


def test_a_payment_of_nothing_is_never_a_sale_and_a_lead_of_whom_it_names(shop):
    shop.sell(cents=0, **_EVE)
    shop.sell(cents=0, slug=None, customer="8", email="bob@example.com")
    assert shop.conversions() == []
    assert shop.brand.rows("select email from lead") == [("eve@example.com",)]
    reasons = [reason for kind, _, reason in shop.events() if kind == "invoice.paid"]
    assert reasons == [None, "nobody_referred"]


def test_a_rehearsed_trial_is_a_rehearsed_lead(shop):
    shop.hear(*shop.stage.start_trial(Purchase(cents=0, is_test=True, **_EVE)))
    assert shop.brand.rows("select is_test from lead") == [(True,)]
    shop.sell(slug=None, **_EVE)
    assert shop.brand.rows("select state from lead") == [("Open",)]


def test_a_start_for_somebody_who_cannot_earn_is_no_lead(shop):
    shop.change("update affiliate set status = 'Paused'")
    shop.hear(*shop.stage.start_trial(Purchase(cents=0, **_EVE)))
    assert shop.brand.rows(_LEADS) == []


def test_what_waits_for_a_payment_of_nothing_goes_on_once_that_is_told(shop):
    invoice, other_ids = shop.stage.pay(Purchase(cents=0)).notifications
    shop.hear(other_ids)
    assert shop.events("status") == [("Parked",)]
    shop.hear(invoice)
    assert shop.events("status") == [("Processed",)] * 2
