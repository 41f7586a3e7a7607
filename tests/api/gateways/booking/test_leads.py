"""Signups without payment are leads without commission; the first payment converts them."""

from tests.support.gateways.stage import Purchase

_EVE = {"customer": "7", "email": "eve@example.com"}
_LEADS = "select method, state from lead"


def test_trial_is_a_lead_converted_by_its_first_payment(shop):
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, **_EVE)))
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Open")]
    assert shop.conversions() == []
    shop.sell(slug=None, **_EVE)
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Converted")]
    assert shop.conversions("attribution_method, type") == [("metadata_or_customer", "OneTime")]


def test_subscription_and_zero_invoice_are_one_lead_in_either_order(shop):
    trial, invoice = shop.stage.start_trial(Purchase(cents=0, **_EVE)), shop.stage.pay(Purchase(cents=0, **_EVE))
    shop.receive(*trial, *invoice.notifications)
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Open")]

    other = {"customer": "8", "email": "bob@example.com"}
    trial, invoice = shop.stage.start_trial(Purchase(cents=0, **other)), shop.stage.pay(Purchase(cents=0, **other))
    shop.receive(*invoice.notifications, *trial, *invoice.notifications)
    assert shop.brand.rows(_LEADS) == [("lead_signup", "Open")] * 2
    assert shop.conversions() == []


def test_zero_payment_is_no_sale_and_a_lead_only_with_a_referral(shop):
    shop.sell(cents=0, **_EVE)
    shop.sell(cents=0, slug=None, customer="8", email="bob@example.com")
    assert shop.conversions() == []
    assert shop.brand.rows("select email from lead") == [("eve@example.com",)]
    reasons = [reason for event_type, _, reason in shop.events() if event_type == "invoice.paid"]
    assert reasons == [None, "nobody_referred"]


def test_test_trial_is_a_test_lead(shop):
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, is_test=True, **_EVE)))
    assert shop.brand.rows("select is_test from lead") == [(True,)]
    shop.sell(slug=None, **_EVE)
    assert shop.brand.rows("select state from lead") == [("Open",)]


def test_trial_for_paused_affiliate_is_no_lead(shop):
    shop.change("update affiliate set status = 'Paused'")
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, **_EVE)))
    assert shop.brand.rows(_LEADS) == []


def test_event_waiting_for_a_zero_payment_is_processed_once_it_arrives(shop):
    invoice, invoice_payment = shop.stage.pay(Purchase(cents=0)).notifications
    shop.receive(invoice_payment)
    assert shop.events("status") == [("Parked",)]
    shop.receive(invoice)
    assert shop.events("status") == [("Processed",)] * 2
