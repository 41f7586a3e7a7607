"""Card gateways, from event to conversion: events repeated, reported in two ways, or missing."""

import pytest

from tests.support.gateways.card import mollie
from tests.support.gateways.stage import Purchase


def at_gateways(*names):
    """Return the mark that runs a test at each of these gateways."""
    return pytest.mark.parametrize("stage", names, indirect=True)


@at_gateways("paypal")
def test_subscription_renewal_is_credited_by_history(shop):
    first = shop.stage.pay(Purchase(customer="1"))
    shop.receive(*shop.stage.pay(Purchase(renews=first)).notifications)
    shop.receive(*shop.stage.pay(Purchase(renews=first, slug=None)).notifications)
    methods = shop.conversions("attribution_method")
    assert methods == [("paypal_custom_field",), ("paypal_subscription_history",)]


@at_gateways("mollie")
def test_unsigned_calls_book_each_change_once(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.receive(mollie.build_classic_call(sale.id), mollie.build_classic_call(sale.id))
    (signed_refund,) = shop.stage.refund(sale, 4_000)
    shop.receive(mollie.build_classic_call(sale.id), signed_refund, mollie.build_classic_call(sale.id))
    shop.receive(mollie.build_classic_call("tr_Nobody"))
    assert shop.conversions("external_event_id, amount_cents, refunded_cents") == [(sale.id, 10_000, 4_000)]
    assert [status for (status,) in shop.events("status")][-1] == "Ignored"


@at_gateways("paypal")
@pytest.mark.parametrize("fault", ["fail", "busy", "cut", "html"])
def test_unavailable_verification_returns_503_and_accepts_the_retry(shop, fault):
    (notification,) = shop.stage.pay(Purchase()).notifications
    shop.stage.faults.append(fault)
    assert shop.deliver(notification) == [503]
    assert shop.events() == []
    shop.receive(notification)
    assert len(shop.conversions()) == 1


@at_gateways("mollie")
def test_failed_refund_is_undone_by_id_in_either_event_order(shop):
    early, late = (shop.sell(cents=10_000, customer=customer) for customer in ("1", "2"))
    shop.receive(*shop.stage.refund(early, 1_000))
    refund = shop.stage.refund(early, 3_000)
    shop.receive(*refund, *shop.stage.restore(), *shop.stage.restore())
    assert dict(shop.conversions("external_event_id, refunded_cents")) == {early.id: 1_000, late.id: 0}

    refund = shop.stage.refund(late, 4_000)
    shop.receive(*shop.stage.restore())
    assert shop.events()[-1] == ("refund.failed", "Parked", "refund_unknown")
    shop.receive(*refund)
    assert dict(shop.conversions("external_event_id, refunded_cents")) == {early.id: 1_000, late.id: 0}
    assert {status for (status,) in shop.events("status")} == {"Processed"}
