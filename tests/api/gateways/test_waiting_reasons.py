"""A job waiting for a gateway reports why and until when; the event of a discarded job is not lost."""

import pytest

from domain import jobs
from models import db
from tests.support.gateways.stage import Purchase
from tests.support.outside.console import Console
from workers.batching import call_slots
from workers.batching.call_slots import CallSlots


@pytest.fixture
def console(app):
    return Console(app)


@pytest.fixture
def waiting_job_id(shop, drain):
    """Return the id of an event's job that has to call its gateway, which is unavailable."""
    sale = shop.stage.pay(Purchase(slug=None, code="JANE10"))
    shop.deliver(sale.notifications[0])
    shop.stage.faults.extend(["fail"] * 20)
    drain("gateways")
    ((job_id,),) = shop.brand.rows("select id from job where name = 'gateway.event' and failed_at is null")
    return job_id


def test_waiting_job_reports_its_gateway_and_the_answer(waiting_job_id, flask, console):
    job = flask.json("jobs", "show", str(waiting_job_id))
    (listed_job,) = [row for row in flask.json("jobs", "list") if row["id"] == waiting_job_id]
    _, output = flask("jobs", "show", str(waiting_job_id))
    _, table = flask("jobs", "list")
    (queue,) = [queue for queue in console.get("queues") if queue["queue"] == "gateways"]

    assert job["waits_for"].startswith("stripe: it answers 5")
    assert listed_job["waits_for"] == job["waits_for"] == queue["waitsFor"]
    assert f"until {job['run_at'][:10]}" in output
    assert job["waits_for"] in output
    assert job["waits_for"][:30] in table
    assert (queue["heldUp"], queue["waitsUntil"][:16]) == (1, job["run_at"][:16])


def test_job_of_paused_queue_reports_the_pause(waiting_job_id, flask):
    flask("jobs", "pause", "gateways", "--why", "keys are rotated")
    try:
        assert flask.json("jobs", "show", str(waiting_job_id))["waits_for"] == "the queue is paused: keys are rotated"
    finally:
        flask("jobs", "resume", "gateways")


def test_job_done_waiting_clears_the_reason(shop, waiting_job_id, drain):
    shop.stage.faults.clear()
    shop.change("update job set run_at = now() where name = 'gateway.event'")
    drain()

    assert shop.events("status") == [("Processed",)]
    assert shop.brand.rows("select count(*) from job where waits_for is not null") == [(0,)]


def test_parked_refund_reports_the_missing_payment(shop, flask):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.receive(*shop.stage.refund(sale, 4_000))
    ((job_id,),) = shop.brand.rows("select id from job where name = 'gateway.event' and failed_at is null")

    waits_for = flask.json("jobs", "show", str(job_id))["waits_for"]

    assert waits_for == "it waits for the payment or refund that it names: payment_unknown"


def _discard_job(shop, flask):
    shop.change("update job set failed_at = now(), attempt = max_attempts where name = 'gateway.event'")
    ((job_id,),) = shop.brand.rows("select id from job where name = 'gateway.event'")
    return flask.json("jobs", "discard", str(job_id), "--why", "by mistake")["leaves"]


@pytest.mark.parametrize("remedy", ["sent again", "replayed"])
def test_discarded_event_fails_and_can_still_be_booked(shop, drain, flask, remedy):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(sale.notifications[0])
    discarded = _discard_job(shop, flask)
    ((status, reason, error),) = shop.events("status, reason, error")

    if remedy == "replayed":
        ((event_id,),) = shop.brand.rows("select id from gateway_event")
        path = f"/api/v1/connections/{shop.connection['id']}/events/{event_id}/replay"
        assert shop.brand.person("Owner").post(path).status_code == 202
    else:
        shop.deliver(sale.notifications[0])
        shop.deliver(sale.notifications[0])
    drain()

    assert discarded["kind"] == "gateway.event"
    assert discarded["externalEventId"]
    assert (status, reason) == ("Failed", "discarded")
    assert "Replay it" in error
    assert len(shop.conversions()) == 1
    assert shop.brand.rows("select count(*) from job") == [(0,)]


def test_booked_event_stays_when_its_old_failed_job_is_discarded(shop, drain, flask):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.receive(*sale.notifications)
    ((event_id,),) = shop.brand.rows("select id from gateway_event order by received_at desc, id desc limit 1")
    with db.any_org_work():
        db.db.stage(
            "insert into job (organization_id, queue, name, args, fair_key, attempt, max_attempts, failed_at)"
            " values (%s, 'gateways', 'gateway.event', jsonb_build_object('event_id', %s::text), 'x', 1, 1, now())",
            (shop.brand.id, event_id),
        )

    assert _discard_job(shop, flask) is None
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}


@pytest.fixture
def busy_stripe_slot(monkeypatch):
    """Limit calls per gateway to one slot, and hold Stripe's."""
    slots = CallSlots(waits_s=0.05)
    slots.limit_to(lambda: 1)
    monkeypatch.setattr(call_slots, "gateways", slots)
    with slots.hold("stripe"):
        yield


def _deliver_payment_with_code(shop):
    """Deliver a payment whose coupon code must be requested from the gateway."""
    sale = shop.stage.pay(Purchase(slug=None, code="JANE10"))
    shop.stage.calls.clear()
    shop.deliver(sale.notifications[0])
    return sale


def test_event_is_delayed_without_a_call_when_no_slot_is_free(shop, drain, busy_stripe_slot, flask):
    _deliver_payment_with_code(shop)

    drain("gateways")

    ((job_id, attempts_left, is_soon),) = shop.brand.rows(
        "select id, max_attempts - attempt, run_at between now() and now() + interval '10 seconds' from job"
        " where name = 'gateway.event'"
    )
    assert (attempts_left, is_soon) == (jobs.GATEWAY_EVENT.max_attempts, True)
    assert shop.stage.calls == []
    assert shop.events("status, error") == [("Received", None)]
    assert flask.json("jobs", "show", str(job_id))["waits_for"].startswith("stripe: it is slow")


def test_delayed_event_is_booked_once_a_slot_is_free(shop, drain, monkeypatch):
    slots = CallSlots(waits_s=0.05)
    slots.limit_to(lambda: 1)
    monkeypatch.setattr(call_slots, "gateways", slots)
    with slots.hold("stripe"):
        _deliver_payment_with_code(shop)
        drain("gateways")
    shop.change("update job set run_at = now() where name = 'gateway.event'")

    drain()

    assert shop.events("status") == [("Processed",)]


@pytest.mark.parametrize("stage", ["woocommerce", "paddle"], indirect=True)
def test_busy_gateway_does_not_delay_another(shop, drain, busy_stripe_slot):
    sale = shop.sell()

    assert [row[0] for row in shop.conversions()] == [sale.id]
