"""What has to do with each other keeps its order behind, also where an event does not say what it is about."""

import pytest

from tests.support.draining import drain_behind
from tests.support.gateways.stage import Purchase
from workers.behind.alone import alone


@pytest.fixture(autouse=True)
def forgets():
    """What one test found at fault, or not to be worth taking along, is nothing to the next."""
    alone.forget()


def _guest(shop, **fields):
    """Return a checkout of somebody without an account."""
    session = {"id": f"cs_{shop.stage.number()}", "object": "checkout.session", "mode": "payment", "livemode": True}
    session |= {"payment_status": "paid", "customer_details": {"email": "guest@x.test", "name": "Guest"}}
    return shop.event("checkout.session.completed", session | fields)


def _started_and_paid(shop):
    """Return what is told of a guest who begins without paying, through jane, and of the same guest who pays then."""
    started = _guest(shop, client_reference_id="jane")
    shop.wait()
    return started, _guest(shop, payment_intent="pi_guest", amount_total=7_000, currency="usd")


def _others(shop):
    bought = [shop.stage.pay(Purchase(customer=str(place), email=f"{place}@x.test")) for place in range(3)]
    return [sale.sent[0] for sale in bought]


def _credited(shop):
    found = shop.conversions("amount_cents, attribution_method, type")
    return [(cents, method, kind) for cents, method, kind in found if cents in (7_000, 9_000)]


def test_who_began_without_paying_is_not_overtaken_by_the_payment_from_the_same_inbox(shop):
    started, paid = _started_and_paid(shop)
    shop.deliver(*_others(shop), started, paid)

    drain_behind("gateways")

    assert _credited(shop) == [(7_000, "email_lead_match", "OneTime")]


def test_a_payment_that_comes_before_its_buyers_lead_is_credited_when_that_is_known(shop):
    started, paid = _started_and_paid(shop)
    shop.hear(paid)
    assert _credited(shop) == []

    shop.hear(started)

    assert _credited(shop) == [(7_000, "email_lead_match", "OneTime")]
    assert {(status, reason) for _, status, reason in shop.events()} == {("Processed", None)}


def test_a_first_payment_that_says_nothing_before_its_gateway_was_asked_is_not_overtaken_by_the_next(shop):
    first = shop.stage.pay(Purchase(customer="9", email="nine@x.test", cents=9_000, code="SUMMER"))
    shop.wait()
    again = shop.stage.pay(Purchase(customer="9", email="nine@x.test", cents=7_000, renews=first))
    shop.deliver(*_others(shop), first.sent[0], again.sent[0])

    drain_behind("gateways")

    assert _credited(shop) == [
        (9_000, "metadata_or_customer", "OneTime"),
        (7_000, "metadata_or_customer", "Recurring"),
    ]


def test_what_was_handed_out_and_waits_for_a_thread_is_not_overtaken_by_what_is_taken_along(shop):
    first = shop.stage.pay(Purchase(customer="9", email="nine@x.test", cents=9_000))
    shop.wait()
    again = shop.stage.pay(Purchase(customer="9", email="nine@x.test", cents=7_000, renews=first))
    others = _others(shop)
    shop.deliver(others[0], first.sent[0], others[1], again.sent[0], others[2])

    drain_behind("gateways", at_once=2)

    assert [(cents, kind) for cents, _, kind in _credited(shop)] == [(9_000, "OneTime"), (7_000, "Recurring")]
