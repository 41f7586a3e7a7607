"""Deliveries to one endpoint that are sent one after another by one worker: what happens in the middle of it."""

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

_MANY = 5


@pytest.fixture
def endpoint(brand, receiver):
    """An endpoint with five deliveries that are due."""
    batch_pauses.clear()
    brand.program()
    brand.affiliate("ben")
    made = Endpoint.create(brand, receiver.url, "conversion.created")
    for _ in range(_MANY):
        assert brand.sale().status_code == 200
    drain("sales")
    return made


@pytest.fixture
def takes_long(monkeypatch):
    """What is known of an endpoint is old at once."""
    monkeypatch.setattr("workers.queues.webhooks._MAX_AGE", timedelta(0))


def _run_one_pointer():
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue=jobs.WEBHOOK_DELIVER.queue, per_thread=1, share=1, lease_s=30)
    run_pointer(pointer)


def _at_request(receiver, number, act, answer=200):
    """Have the receiver act when it has this request in its hands, and answer it so."""

    def acting(handler):
        act()
        status(answer)(handler)

    receiver.answers = [*[status(200)] * (number - 1), acting, status(200)]


def _is_signed(sent, secret):
    at_s = int(sent.headers["x-service-timestamp"])
    signature = signing.outbound_header(secret=secret.encode(), timestamp_s=at_s, body=sent.body)
    return sent.headers["x-service-signature"] == signature


def _states(endpoint):
    return sorted(endpoint.deliveries("d.status, d.attempt_count, d.response_status"), key=str)


def _attempts(endpoint):
    counted = "select d.status, count(a.number) from delivery d left join delivery_attempt a on a.delivery_id = d.id"
    return sorted(endpoint.brand.rows(f"{counted} group by d.id, d.status"))


def _left():
    with db.any_org_work():
        return db.db.run("select max_attempts - attempt, deadline is null, run_at <= now() from job order by id")


def test_each_is_sent_once_and_signed_and_counted_by_itself_in_the_order_of_their_events(endpoint, receiver):
    _run_one_pointer()

    assert [sent.event["id"] for sent in receiver.received] == [
        f"evt_{event.hex}" for (event,) in endpoint.deliveries("e.id")
    ]
    assert all(_is_signed(sent, endpoint.secret) for sent in receiver.received)
    assert len({sent.headers["x-service-delivery-id"] for sent in receiver.received}) == _MANY
    assert _states(endpoint) == [("Delivered", 1, 200)] * _MANY
    assert _attempts(endpoint) == [("Delivered", 1)] * _MANY
    assert endpoint.brand.rows("select count(*) from delivery_attempt where ended_at < began_at") == [(0,)]
    assert _left() == []


def test_a_failure_of_one_touches_no_other(endpoint, receiver):
    receiver.answers = [status(200), status(200), status(500), status(200)]

    _run_one_pointer()

    assert _states(endpoint) == [("Delivered", 1, 200)] * (_MANY - 1) + [("Pending", 1, 500)]
    # It was reached since then.
    assert endpoint.brand.rows("select failing_since from webhook_endpoint") == [(None,)]
    assert _left() == [(50, True, False)]


def test_an_endpoint_that_fails_at_the_end_has_failed_since_then(endpoint, receiver):
    receiver.answers = [status(200), status(500)]

    _run_one_pointer()

    (first,) = endpoint.brand.rows("select min(ended_at) from delivery_attempt where response_status = 500")
    assert endpoint.brand.rows("select failing_since from webhook_endpoint") == [first]


def test_at_the_first_that_is_not_answered_the_rest_is_not_sent_and_uses_no_attempt(endpoint, receiver):
    def cut(handler):
        handler.close_connection = True

    receiver.answers = [status(200), cut, status(200)]

    _run_one_pointer()

    assert len(receiver.received) == 2
    assert _states(endpoint) == [("Delivered", 1, 200), *[("Pending", 0, None)] * 3, ("Pending", 1, None)]
    assert _attempts(endpoint) == [("Delivered", 1), *[("Pending", 0)] * 3, ("Pending", 1)]
    assert _left() == [(50, True, False), *[(50, True, True)] * 3]
    drain()
    assert sorted(_states(endpoint)) == [("Delivered", 1, 200)] * 4 + [("Pending", 1, None)]


def test_a_secret_that_is_replaced_in_the_middle_signs_no_more(endpoint, receiver, takes_long):
    old = endpoint.secret
    _at_request(receiver, 2, endpoint.rotate)

    _run_one_pointer()
    drain()

    assert [_is_signed(sent, old) for sent in receiver.received] == [True, True, False, False, False]
    assert all(_is_signed(sent, endpoint.secret) for sent in receiver.received[2:])


def test_an_endpoint_that_is_deleted_in_the_middle_is_told_nothing_more(endpoint, receiver, takes_long):
    _at_request(receiver, 2, endpoint.delete)

    _run_one_pointer()
    drain()

    assert len(receiver.received) == 2
    assert _states(endpoint) == [("Delivered", 1, 200)] * 2 + [("Failed", 1, None)] * 3


def test_a_delivery_that_was_settled_meanwhile_is_not_sent(endpoint, receiver):
    with db.unit_of_work(endpoint.brand.id):
        db.db.run("update delivery set status = 'Failed' where id = (select id from delivery limit 1)")

    _run_one_pointer()

    assert len(receiver.received) == _MANY - 1
    assert _left() == []
