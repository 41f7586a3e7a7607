"""Deliveries that one worker sends to one endpoint in sequence, and changes in between."""

from datetime import timedelta

import pytest

from domain import jobs
from domain.webhooks import signing
from models import db
from models.jobs import rows
from tests.support.endpoints import Endpoint
from tests.support.job_queues import drain, run_pointer
from tests.support.outside.receiver import status
from workers.batching.batch_pauses import batch_pauses

_COUNT = 5


@pytest.fixture
def endpoint(brand, receiver):
    """An endpoint with five deliveries that are due."""
    batch_pauses.clear()
    brand.skip_first_sale()
    brand.program()
    brand.affiliate("ben")
    new_endpoint = Endpoint.create(brand, receiver.url, "conversion.created")
    for _ in range(_COUNT):
        assert brand.sale().status_code == 200
    drain("sales")
    return new_endpoint


@pytest.fixture
def expired_cache(monkeypatch):
    """Cached endpoint data expires at once."""
    monkeypatch.setattr("workers.queues.webhooks._MAX_AGE", timedelta(0))


def _run_one_pointer():
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue=jobs.WEBHOOK_DELIVER.queue, per_thread=1, share=1, lease_s=30)
    run_pointer(pointer)


def _at_request(receiver, number, act, answer=200):
    """Make the receiver run `act` during the given request, then respond with `answer`."""

    def acting(handler):
        act()
        status(answer)(handler)

    receiver.answers = [*[status(200)] * (number - 1), acting, status(200)]


def _is_signed(request, secret):
    at_s = int(request.headers["x-service-timestamp"])
    signature = signing.outbound_header(secret=secret.encode(), timestamp_s=at_s, body=request.body)
    return request.headers["x-service-signature"] == signature


def _states(endpoint):
    return sorted(endpoint.deliveries("d.status, d.attempt_count, d.response_status"), key=str)


def _attempts(endpoint):
    counted = "select d.status, count(a.number) from delivery d left join delivery_attempt a on a.delivery_id = d.id"
    return sorted(endpoint.brand.rows(f"{counted} group by d.id, d.status"))


def _list_jobs():
    with db.any_org_work():
        return db.db.run("select max_attempts - attempt, deadline is null, run_at <= now() from job order by id")


def test_each_delivery_is_sent_signed_and_counted_in_event_order(endpoint, receiver):
    _run_one_pointer()

    assert [request.event["id"] for request in receiver.received] == [
        f"evt_{event.hex}" for (event,) in endpoint.deliveries("e.id")
    ]
    assert all(_is_signed(request, endpoint.secret) for request in receiver.received)
    assert len({request.headers["x-service-delivery-id"] for request in receiver.received}) == _COUNT
    assert _states(endpoint) == [("Delivered", 1, 200)] * _COUNT
    assert _attempts(endpoint) == [("Delivered", 1)] * _COUNT
    assert endpoint.brand.rows("select count(*) from delivery_attempt where ended_at < began_at") == [(0,)]
    assert _list_jobs() == []


def test_failed_delivery_does_not_affect_others(endpoint, receiver):
    receiver.answers = [status(200), status(200), status(500), status(200)]

    _run_one_pointer()

    assert _states(endpoint) == [("Delivered", 1, 200)] * (_COUNT - 1) + [("Pending", 1, 500)]
    # A later delivery succeeded.
    assert endpoint.brand.rows("select failing_since from webhook_endpoint") == [(None,)]
    assert _list_jobs() == [(50, True, False)]


def test_endpoint_is_failing_since_the_first_failure_after_a_success(endpoint, receiver):
    receiver.answers = [status(200), status(500)]

    _run_one_pointer()

    (first,) = endpoint.brand.rows("select min(ended_at) from delivery_attempt where response_status = 500")
    assert endpoint.brand.rows("select failing_since from webhook_endpoint") == [first]


def test_unanswered_delivery_stops_the_batch_and_the_rest_use_no_attempt(endpoint, receiver):
    def cut(handler):
        handler.close_connection = True

    receiver.answers = [status(200), cut, status(200)]

    _run_one_pointer()

    assert len(receiver.received) == 2
    assert _states(endpoint) == [("Delivered", 1, 200), *[("Pending", 0, None)] * 3, ("Pending", 1, None)]
    assert _attempts(endpoint) == [("Delivered", 1), *[("Pending", 0)] * 3, ("Pending", 1)]
    assert _list_jobs() == [(50, True, False), *[(50, True, True)] * 3]
    drain()
    assert sorted(_states(endpoint)) == [("Delivered", 1, 200)] * 4 + [("Pending", 1, None)]


def test_rotated_secret_applies_within_a_batch(endpoint, receiver, expired_cache):
    old_secret = endpoint.secret
    _at_request(receiver, 2, endpoint.rotate)

    _run_one_pointer()
    drain()

    assert [_is_signed(request, old_secret) for request in receiver.received] == [True, True, False, False, False]
    assert all(_is_signed(request, endpoint.secret) for request in receiver.received[2:])


def test_endpoint_deleted_within_a_batch_gets_nothing_more(endpoint, receiver, expired_cache):
    _at_request(receiver, 2, endpoint.delete)

    _run_one_pointer()
    drain()

    assert len(receiver.received) == 2
    assert _states(endpoint) == [("Delivered", 1, 200)] * 2 + [("Failed", 1, None)] * 3


def test_settled_delivery_is_not_sent(endpoint, receiver):
    with db.unit_of_work(endpoint.brand.id):
        db.db.run("update delivery set status = 'Failed' where id = (select id from delivery limit 1)")

    _run_one_pointer()

    assert len(receiver.received) == _COUNT - 1
    assert _list_jobs() == []
