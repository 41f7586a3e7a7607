"""A hook of a no-code platform on its way: told and signed like every endpoint, and gone when its target says so."""

import pytest

from adapters import clock
from models import db
from models.webhooks import hooks
from pipelines.webhooks import deliver
from tests.support.api.lists import count_round_trips
from tests.support.endpoints import Endpoint
from tests.support.outside.receiver import status


@pytest.fixture
def hook(brand, receiver):
    brand.program()
    brand.affiliate("ben")
    made = brand.post("/api/v1/automation/hooks", {"event": "conversion.created", "targetUrl": receiver.url}).json
    return Endpoint(brand, made["id"], made["secret"])


def _standing(hook):
    return hook.brand.rows(
        "select deleted_at is null, failing_since is null from webhook_endpoint where id = %s", hook.id
    )


def _ends(hook):
    return hook.brand.rows(
        "select entity_id, actor_type, before ->> 'managedBy', after ->> 'responseStatus' from audit_entry"
        " where action = 'webhook_endpoint.deleted'"
    )


def test_a_hook_is_told_of_its_event_alone_and_signed(hook, receiver, drain):
    hook.brand.sale(externalEventId="order-1")
    drain()
    hook.brand.refund("order-1")
    drain()

    (told,) = receiver.received
    assert (told.event["type"], told.headers["x-service-event"]) == ("conversion.created",) * 2
    assert told.headers["x-service-signature"].startswith("t=")


def test_a_target_that_answers_410_ends_its_hook_and_what_waits_for_it(hook, receiver, drain):
    receiver.answers = [status(500), status(500), status(410)]
    for number in range(3):
        hook.brand.sale(externalEventId=f"order-{number}")
    drain()
    assert [row for (row,) in hook.deliveries("d.status")].count("Failed") == 1
    asked = len(receiver.received)

    assert _standing(hook) == [(False, False)]
    assert _ends(hook) == [(hook.id, "system", "automation", "410")]
    hook.hurry()
    drain()
    hook.brand.sale(externalEventId="later")
    drain()
    assert len(receiver.received) == asked == 3
    assert hook.deliveries("d.status, d.settled_at is not null") == [("Failed", True)] * 3
    reasons = hook.deliveries("d.response_status, d.failure_reason")
    assert sorted(reasons, key=str) == [(410, None)] + [(None, "The endpoint was deleted.")] * 2
    assert hook.brand.rows("select count(*) from job") == [(0,)]


def test_the_platform_may_subscribe_anew_afterwards(hook, receiver, drain):
    receiver.answers = [status(410), status(200)]
    hook.brand.sale()
    drain()
    body = {"event": "conversion.created", "targetUrl": receiver.url}

    again = hook.brand.post("/api/v1/automation/hooks", body)
    hook.brand.sale()
    drain()
    assert again.status_code == 201
    assert len(receiver.received) == 2


def test_an_endpoint_of_the_brands_own_outlives_a_410(brand, receiver, drain):
    brand.program()
    brand.affiliate("ben")
    own = Endpoint.create(brand, receiver.url)
    receiver.answers = [status(410)]
    brand.sale()
    drain()

    assert _standing(own) == [(True, False)]
    assert own.deliveries("d.status, d.response_status") == [("Pending", 410)]
    assert _ends(own) == []


def test_told_so_twice_at_once_it_ends_once_and_without_another_round_trip(hook):
    brand = hook.brand
    brand.sale(externalEventId="order-1")
    brand.sale(externalEventId="order-2")
    brand.get("/api/v1/automation/search/conversions?externalEventId=order-1")
    brand.get("/api/v1/automation/search/conversions?externalEventId=order-2")
    deliveries = brand.rows("select id, event_id from delivery order by id")
    with db.unit_of_work(brand.id):
        wanted = [deliver.RequestedAttempt(*ids) for ids in deliveries]
        begun = deliver.prepare(organization_id=brand.id, requests=wanted, now=clock.now())

    def record(prepared, answer):
        with db.unit_of_work(brand.id):
            deliver.record([(prepared, deliver.DeliveryOutcome(clock.now(), clock.now(), status=answer))])

    usual = count_round_trips(lambda: record(begun[0], 500))
    with db.unit_of_work(brand.id):
        (again,) = deliver.prepare(organization_id=brand.id, requests=wanted[:1], now=clock.now())
    for prepared in (again, begun[1]):
        assert count_round_trips(lambda prepared=prepared: record(prepared, 410)) == usual == 1

    assert len(_ends(hook)) == 1
    assert hook.deliveries("d.status") == [("Failed",)] * 2
    with db.unit_of_work(brand.id):
        assert hooks.remove(organization_id=brand.id, hook_id=hook.id, at=clock.now()) is None
