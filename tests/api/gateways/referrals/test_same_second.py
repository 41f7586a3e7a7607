"""Gateways report whole seconds: a lead or checkout-door visit in a payment's second counts as before it."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.fraud import human_check
from tests.support.api.doors import PAY, submit_door_form
from tests.support.gateways.stage import Purchase

_METHOD = "attribution_method"
_EVE = {"customer": "7", "email": "eve@example.com"}


@pytest.fixture(autouse=True)
def _no_minimum_filling_time(monkeypatch):
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 0)


@pytest.mark.parametrize(("behind_s", "credited"), [(0.9, [("email_lead_match",)]), (1.0, [])])
def test_lead_in_the_payments_second_counts(shop, behind_s, credited):
    shop.stage.now = shop.stage.now.replace(microsecond=0) + timedelta(seconds=2)
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, **_EVE)))
    shop.change("update lead set occurred_at = %s", shop.stage.now + timedelta(seconds=behind_s))
    shop.sell(slug=None, customer="8", email="eve@example.com")
    assert shop.conversions(_METHOD) == credited


@pytest.mark.parametrize("stage", ["lemonsqueezy"], indirect=True)
def test_payment_is_credited_by_a_trial_later_in_its_second(shop):
    second = shop.stage.now.replace(microsecond=0) + timedelta(seconds=2)
    shop.stage.now = second + timedelta(milliseconds=200)
    shop.receive(shop.stage.pay(Purchase(slug=None, customer="8", email="eve@example.com")).notifications[0])
    assert shop.conversions() == []
    shop.stage.now = second + timedelta(milliseconds=700)
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, **_EVE)))
    assert shop.conversions(_METHOD) == [("email_lead_match",)]


def test_door_visit_in_the_payments_second_is_the_newest(shop):
    shop.change(
        "update program set hosted_checkout_door_enabled = true, hosted_checkout_door_mode = 'email',"
        " referral_destination_url = %s",
        PAY,
    )
    rob = shop.brand.affiliate("rob")
    shop.stage.now = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
    for slug, first_ago_s, last_ago_s in (("jane", 3_600, 60), ("rob", 7_200, -0.5)):
        assert submit_door_form(shop.brand, slug, "ann@example.com").status_code == 303
        first, last = (shop.stage.now - timedelta(seconds=ago_s) for ago_s in (first_ago_s, last_ago_s))
        shop.change("update door_visit set first_at = %s, last_at = %s where slug = %s", first, last, slug)
    shop.sell(slug=None)
    assert shop.conversions(f"affiliate_id, {_METHOD}") == [(rob, "checkout_door")]
