"""When a webhook is sent again, and when never (tracking spec, sections 3 and 6 "Retry semantics").

Waiting is done by moving the job's time; the times that were planned are read first.
"""

import hashlib
import hmac
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

import settings
from tests.support.outside.receiver import status


def _sell(endpoint, drain):
    assert endpoint.brand.sale().status_code == 200
    drain()


def _again(endpoint, drain, times=1):
    for _ in range(times):
        endpoint.hurry()
        drain()


def _state(endpoint):
    (row,) = endpoint.deliveries("d.status, attempt_count, response_status, settled_at is not null")
    return row


def _planned_s(endpoint):
    """Seconds from the event to the next attempt, by the delivery's record and by the job that makes it."""
    ((planned, due),) = endpoint.deliveries(
        "extract(epoch from next_attempt_at - e.created_at)::float,"
        " (select extract(epoch from run_at - e.created_at)::float from job where args->>'delivery_id' = d.id::text)"
    )
    assert planned == pytest.approx(due, abs=0.01)
    return planned


def _waits_after_sale(endpoint, drain, *, before):
    """Sell; return what the next attempt waits for at least and at most, in seconds: an answer came in between."""
    _sell(endpoint, drain)
    after = datetime.now(UTC)
    ((planned,),) = endpoint.deliveries("next_attempt_at")
    return (planned - after).total_seconds(), (planned - before).total_seconds()


def _signed_with(secret, received):
    t, v1 = received.headers["x-service-signature"].removeprefix("t=").split(",v1=")
    return v1 == hmac.new(secret.encode(), f"{t}.".encode() + received.body, hashlib.sha256).hexdigest()


def test_five_attempts_are_planned_after_the_event_and_then_never_again(endpoint, receiver, drain):
    receiver.answers = [status(500)]

    planned = []
    _sell(endpoint, drain)
    for _ in range(4):
        planned.append(_planned_s(endpoint))
        _again(endpoint, drain)
    _again(endpoint, drain, times=3)

    assert planned == pytest.approx([60, 120, 240, 480], abs=0.01)
    assert len(receiver.received) == 5
    assert _state(endpoint) == ("Failed", 5, 500, True)
    assert endpoint.deliveries("next_attempt_at") == [(None,)]
    assert endpoint.brand.rows("select count(*) from job") == [(0,)]


def test_the_schedule_and_the_time_allowed_are_the_specs_by_default():
    chosen = settings.read({})

    assert chosen.webhooks.attempts_at_s == (0, 60, 120, 240, 480)
    assert chosen.webhooks.timeout_s == 10


def test_nothing_is_sent_before_it_is_due(endpoint, receiver, drain):
    receiver.answers = [status(500)]

    _sell(endpoint, drain)
    drain()

    assert len(receiver.received) == 1


def test_every_attempt_carries_the_same_id_and_body_and_a_fresh_signature(endpoint, receiver, drain):
    receiver.answers = [status(500)]

    _sell(endpoint, drain)
    time.sleep(1.1)
    _again(endpoint, drain, times=4)

    assert len({received.headers["x-service-delivery-id"] for received in receiver.received}) == 1
    assert len({received.body for received in receiver.received}) == 1
    assert all(_signed_with(endpoint.secret, received) for received in receiver.received)
    stamps = [int(received.headers["x-service-timestamp"]) for received in receiver.received]
    assert stamps == sorted(stamps)
    assert stamps[0] < stamps[-1]


@pytest.mark.parametrize("code", [200, 201, 202, 204, 226, 299])
@pytest.mark.parametrize("failures", [0, 1, 4])
def test_any_2xx_settles_whichever_attempt_it_answers(endpoint, receiver, drain, code, failures):
    receiver.answers = [*[status(500)] * failures, status(code, b"" if code == 204 else b"error: no")]

    _sell(endpoint, drain)
    _again(endpoint, drain, times=6)

    assert _state(endpoint) == ("Delivered", failures + 1, code, True)
    assert len(receiver.received) == failures + 1


@pytest.mark.parametrize("code", [301, 302, 303, 304, 307, 308, 400, 401, 404, 410, 418, 429, 500, 502, 503, 599])
def test_everything_else_is_a_failure_and_nothing_is_followed(endpoint, receiver, drain, code):
    target = receiver.url.replace("/hook", "/elsewhere")
    receiver.answers = [status(code, b"" if code == 304 else b"no", Location=target), status(200)]

    _sell(endpoint, drain)

    assert _state(endpoint) == ("Pending", 1, code, False)
    assert [received.path for received in receiver.received] == ["/hook"]
    assert _planned_s(endpoint) == pytest.approx(60, abs=0.01)
    _again(endpoint, drain)
    assert _state(endpoint) == ("Delivered", 2, 200, True)


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize(
    ("asked", "waited_s"),
    [
        ("0", 30),
        ("5", 30),
        ("30", 30),
        ("31", 31),
        ("900", 900),
        ("3600", 3_600),
        ("3601", 3_600),
        ("99999", 3_600),
        ("9999999999", 3_600),
    ],
)
def test_a_retry_after_in_seconds_is_clamped(endpoint, receiver, drain, *, code, asked, waited_s):
    receiver.answers = [status(code, Retry_After=asked)]

    least_s, most_s = _waits_after_sale(endpoint, drain, before=datetime.now(UTC))

    assert least_s <= waited_s <= most_s


@pytest.mark.parametrize(
    ("offset_s", "waited_s"), [(-3_600, 30), (0, 30), (10, 30), (600, 600), (7_200, 3_600), (10**9, 3_600)]
)
def test_a_retry_after_in_a_date_is_clamped(endpoint, receiver, drain, offset_s, waited_s):
    before = datetime.now(UTC)
    date = format_datetime(before + timedelta(seconds=offset_s), usegmt=True)
    receiver.answers = [status(429, Retry_After=date)]

    least_s, most_s = _waits_after_sale(endpoint, drain, before=before)

    assert least_s <= waited_s <= most_s + 1  # a date has no fractions of a second


@pytest.mark.parametrize(
    "asked", ["soon", "", "-5", "1.5", "1e3", "30s", "0x1f", "٣٠", "9" * 400, "Mon, 99 Foo 2025 00:00:00 GMT"]
)
def test_a_retry_after_that_cannot_be_read_leaves_the_schedule(endpoint, receiver, drain, asked):
    receiver.answers = [status(503, Retry_After=asked.encode().decode("latin-1"))]

    _sell(endpoint, drain)

    assert _planned_s(endpoint) == pytest.approx(60, abs=0.01)


@pytest.mark.parametrize("code", [400, 408, 500, 502, 504, 301])
def test_a_retry_after_of_another_answer_is_not_honored(endpoint, receiver, drain, code):
    receiver.answers = [status(code, Retry_After="900")]

    _sell(endpoint, drain)

    assert _planned_s(endpoint) == pytest.approx(60, abs=0.01)


def test_a_receiver_that_always_asks_for_time_gets_five_attempts_too(endpoint, receiver, drain):
    receiver.answers = [status(429, Retry_After="1")]

    _sell(endpoint, drain)
    _again(endpoint, drain, times=8)

    assert len(receiver.received) == 5
    assert _state(endpoint) == ("Failed", 5, 429, True)


def test_after_a_rotation_the_next_attempt_is_signed_with_the_new_secret_only(endpoint, receiver, drain):
    old = endpoint.secret
    receiver.answers = [status(500)]
    _sell(endpoint, drain)

    endpoint.rotate()
    _again(endpoint, drain)

    first, second = receiver.received
    assert (_signed_with(old, first), _signed_with(endpoint.secret, first)) == (True, False)
    assert (_signed_with(old, second), _signed_with(endpoint.secret, second)) == (False, True)


def test_an_endpoint_deleted_while_a_delivery_waits_is_told_no_more(endpoint, receiver, drain):
    receiver.answers = [status(500)]
    _sell(endpoint, drain)

    endpoint.delete()
    _again(endpoint, drain, times=3)

    assert len(receiver.received) == 1
    assert _state(endpoint)[0] == "Failed"
    assert endpoint.brand.rows("select count(*) from job") == [(0,)]


def test_a_delivery_that_is_settled_is_not_sent_by_a_job_that_comes_late(endpoint, receiver, drain):
    receiver.answers = [status(500), status(200)]
    _sell(endpoint, drain)
    endpoint.hurry()

    drain(deliveries=3)

    assert len(receiver.received) == 2
    assert _state(endpoint) == ("Delivered", 2, 200, True)
