"""Gateways that take cards and payments, from their events to the money: what is told twice, two ways, or not."""

import pytest

from tests.support.gateways.card import mollie
from tests.support.gateways.stage import Purchase


def played(*names):
    """Return the mark that has a test played by these gateways."""
    return pytest.mark.parametrize("stage", names, indirect=True)


@played("paypal")
def test_a_renewal_of_a_subscription_is_credited_by_its_history(shop):
    first = shop.stage.pay(Purchase(customer="1"))
    shop.hear(*shop.stage.pay(Purchase(renews=first)).notifications)
    shop.hear(*shop.stage.pay(Purchase(renews=first, slug=None)).notifications)
    methods = shop.conversions("attribution_method")
    assert methods == [("paypal_custom_field",), ("paypal_subscription_history",)]


@played("mollie")
def test_calls_that_are_not_signed_bring_each_change_once(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.hear(mollie.build_classic_call(sale.id), mollie.build_classic_call(sale.id))
    (signed,) = shop.stage.refund(sale, 4_000)
    shop.hear(mollie.build_classic_call(sale.id), signed, mollie.build_classic_call(sale.id))
    shop.hear(mollie.build_classic_call("tr_Nobody"))
    assert shop.conversions("external_event_id, amount_cents, refunded_cents") == [(sale.id, 10_000, 4_000)]
    assert [status for (status,) in shop.events("status")][-1] == "Ignored"


@played("paypal")
@pytest.mark.parametrize("fault", ["fail", "busy", "cut", "html"])
def test_an_event_whose_verdict_cannot_be_had_is_asked_for_again(shop, fault):
    (sent,) = shop.stage.pay(Purchase()).notifications
    shop.stage.faults.append(fault)
    assert shop.deliver(sent) == [503]
    assert shop.events() == []
    shop.hear(sent)
    assert len(shop.conversions()) == 1


@played("mollie")
def test_a_refund_that_fails_after_all_is_undone_by_its_id_whichever_is_told_first(shop):
    early, late = (shop.sell(cents=10_000, customer=customer) for customer in ("1", "2"))
    shop.hear(*shop.stage.refund(early, 1_000))
    told = shop.stage.refund(early, 3_000)
    shop.hear(*told, *shop.stage.restore(), *shop.stage.restore())
    assert dict(shop.conversions("external_event_id, refunded_cents")) == {early.id: 1_000, late.id: 0}

    told = shop.stage.refund(late, 4_000)
    shop.hear(*shop.stage.restore())
    assert shop.events()[-1] == ("refund.failed", "Parked", "refund_unknown")
    shop.hear(*told)
    assert dict(shop.conversions("external_event_id, refunded_cents")) == {early.id: 1_000, late.id: 0}
    assert {status for (status,) in shop.events("status")} == {"Processed"}
