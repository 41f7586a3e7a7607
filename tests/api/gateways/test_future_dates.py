"""A gateway whose clock is ahead: its payments are dated by their events' arrival and credit the right affiliate."""

from datetime import timedelta

import pytest

from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain

_AHEAD = [timedelta(minutes=2), timedelta(hours=1), timedelta(days=400)]


@pytest.mark.parametrize("ahead", _AHEAD)
def test_payment_dated_ahead_takes_its_events_arrival_time(shop, ahead):
    shop.stage.now += ahead
    shop.sell()

    ((occurred_at,),) = shop.conversions("occurred_at")
    assert shop.brand.rows("select paid_at from gateway_payment") == [(occurred_at,)]
    assert shop.brand.rows("select first_paid_at from program_customer where joined_to is null") == [(occurred_at,)]
    received = shop.brand.rows("select date_trunc('second', received_at) from gateway_event")
    assert (occurred_at,) in received


@pytest.mark.parametrize("ahead", _AHEAD)
def test_renewal_after_clock_correction_is_credited_by_history(shop, ahead):
    shop.stage.now += ahead
    first = shop.sell()
    shop.stage.now += timedelta(seconds=30) - ahead

    shop.sell(slug=None, renews=first)

    assert shop.conversions("type") == [("OneTime",), ("Recurring",)]


@pytest.mark.parametrize("ahead", _AHEAD)
def test_payment_dated_ahead_ignores_a_later_lead(shop, ahead):
    buyer = {"customer": "7", "email": "eve@example.com"}
    trial = shop.stage.start_trial(Purchase(cents=0, **buyer))
    shop.stage.now += ahead
    payment = shop.stage.pay(Purchase(slug=None, **buyer))
    shop.deliver(*payment.notifications)
    shop.change("update gateway_event set received_at = received_at - interval '10 seconds'")
    shop.change("update job set run_at = now() + interval '1 hour' where name = 'gateway.event'")
    shop.stage.now -= ahead

    shop.receive(*trial)  # the lead
    shop.change("update job set run_at = now() where name = 'gateway.event'")
    drain()

    assert shop.brand.rows("select count(*) from lead") == [(1,)]
    assert shop.conversions() == []


def test_payment_dated_up_to_a_minute_ahead_keeps_its_date(shop):
    shop.stage.now += timedelta(seconds=50)
    shop.sell()

    assert shop.conversions("occurred_at > clock_timestamp()") == [(True,)]
