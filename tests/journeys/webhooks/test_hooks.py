"""Hooks of no-code platforms: delivered and signed like endpoints, and deleted when the target responds 410."""

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
    created = brand.post("/api/v1/automation/hooks", {"event": "conversion.created", "targetUrl": receiver.url}).json
    return Endpoint(brand, created["id"], created["secret"])


def _read_status(hook):
    return hook.brand.rows(
        "select deleted_at is null, failing_since is null from webhook_endpoint where id = %s", hook.id
    )


def _list_deletions(hook):
    return hook.brand.rows(
        "select entity_id, actor_type, before ->> 'managedBy', after ->> 'responseStatus' from audit_entry"
        " where action = 'webhook_endpoint.deleted'"
    )


def test_hook_gets_only_its_event_and_is_signed(hook, receiver, drain):
    hook.brand.sale(externalEventId="order-1")
    drain()
    hook.brand.refund("order-1")
    drain()

    (request,) = receiver.received
    assert (request.event["type"], request.headers["x-service-event"]) == ("conversion.created",) * 2
    assert request.headers["x-service-signature"].startswith("t=")


def test_response_410_deletes_the_hook_and_its_deliveries(hook, receiver, drain):
    receiver.answers = [status(500), status(500), status(410)]
    for number in range(3):
        hook.brand.sale(externalEventId=f"order-{number}")
    drain()
    assert [row for (row,) in hook.deliveries("d.status")].count("Failed") == 1
    request_count = len(receiver.received)

    assert _read_status(hook) == [(False, False)]
    assert _list_deletions(hook) == [(hook.id, "system", "automation", "410")]
    hook.make_deliveries_due()
    drain()
    hook.brand.sale(externalEventId="later")
    drain()
    assert len(receiver.received) == request_count == 3
    assert hook.deliveries("d.status, d.settled_at is not null") == [("Failed", True)] * 3
    reasons = hook.deliveries("d.response_status, d.failure_reason")
    assert sorted(reasons, key=str) == [(410, None)] + [(None, "The endpoint was deleted.")] * 2
    assert hook.brand.rows("select count(*) from job") == [(0,)]


def test_platform_may_subscribe_again_after_410(hook, receiver, drain):
    receiver.answers = [status(410), status(200)]
    hook.brand.sale()
    drain()
    body = {"event": "conversion.created", "targetUrl": receiver.url}

    response = hook.brand.post("/api/v1/automation/hooks", body)
    hook.brand.sale()
    drain()
    assert response.status_code == 201
    assert len(receiver.received) == 2


def test_endpoint_of_the_brand_survives_410(brand, receiver, drain):
    brand.program()
    brand.affiliate("ben")
    own_endpoint = Endpoint.create(brand, receiver.url)
    receiver.answers = [status(410)]
    brand.sale()
    drain()

    assert _read_status(own_endpoint) == [(True, False)]
    assert own_endpoint.deliveries("d.status, d.response_status") == [("Pending", 410)]
    assert _list_deletions(own_endpoint) == []


def test_concurrent_410_deletes_the_hook_once(hook):
    brand = hook.brand
    brand.sale(externalEventId="order-1")
    brand.sale(externalEventId="order-2")
    brand.get("/api/v1/automation/search/conversions?externalEventId=order-1")
    brand.get("/api/v1/automation/search/conversions?externalEventId=order-2")
    deliveries = brand.rows("select id, event_id from delivery order by id")
    with db.unit_of_work(brand.id):
        requested_attempts = [deliver.RequestedAttempt(*ids) for ids in deliveries]
        prepared_attempts = deliver.prepare(organization_id=brand.id, requests=requested_attempts, now=clock.now())

    def record(prepared, answer):
        with db.unit_of_work(brand.id):
            deliver.record([(prepared, deliver.DeliveryOutcome(clock.now(), clock.now(), status=answer))])

    usual_trips = count_round_trips(lambda: record(prepared_attempts[0], 500))
    with db.unit_of_work(brand.id):
        (again,) = deliver.prepare(organization_id=brand.id, requests=requested_attempts[:1], now=clock.now())
    for prepared in (again, prepared_attempts[1]):
        assert count_round_trips(lambda prepared=prepared: record(prepared, 410)) == usual_trips == 1

    assert len(_list_deletions(hook)) == 1
    assert hook.deliveries("d.status") == [("Failed",)] * 2
    with db.unit_of_work(brand.id):
        assert hooks.remove(organization_id=brand.id, hook_id=hook.id, at=clock.now()) is None
