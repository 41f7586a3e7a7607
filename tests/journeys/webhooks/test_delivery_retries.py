"""When a webhook is retried (tracking spec, sections 3 and 6 "Retry semantics").

Tests move the job's time instead of waiting; the planned times are read first.
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


def _retry(endpoint, drain, times=1):
    for _ in range(times):
        endpoint.make_deliveries_due()
        drain()


def _state(endpoint):
    (row,) = endpoint.deliveries("d.status, attempt_count, response_status, settled_at is not null")
    return row


def _planned_s(endpoint):
    """Return the seconds from the event to the next attempt; the delivery and its job must agree."""
    ((planned, due),) = endpoint.deliveries(
        "extract(epoch from next_attempt_at - e.created_at)::float,"
        " (select extract(epoch from run_at - e.created_at)::float from job where args->>'delivery_id' = d.id::text)"
    )
    assert planned == pytest.approx(due, abs=0.01)
    return planned


def _waits_after_sale(endpoint, drain, *, before):
    """Record a sale; return the minimum and maximum wait for the next attempt in seconds."""
    _sell(endpoint, drain)
    after = datetime.now(UTC)
    ((planned,),) = endpoint.deliveries("next_attempt_at")
    return (planned - after).total_seconds(), (planned - before).total_seconds()


def _signed_with(secret, received):
    t, v1 = received.headers["x-service-signature"].removeprefix("t=").split(",v1=")
    return v1 == hmac.new(secret.encode(), f"{t}.".encode() + received.body, hashlib.sha256).hexdigest()


def test_five_attempts_are_planned_after_the_event(endpoint, receiver, drain):
    receiver.answers = [status(500)]

    planned = []
    _sell(endpoint, drain)
    for _ in range(4):
        planned.append(_planned_s(endpoint))
        _retry(endpoint, drain)
    _retry(endpoint, drain, times=3)

    assert planned == pytest.approx([60, 120, 240, 480], abs=0.01)
    assert len(receiver.received) == 5
    assert _state(endpoint) == ("Failed", 5, 500, True)
    assert endpoint.deliveries("next_attempt_at") == [(None,)]
    assert endpoint.brand.rows("select count(*) from job") == [(0,)]


def test_default_schedule_and_timeout_match_the_spec():
    defaults = settings.read({})

    assert defaults.webhooks.attempts_at_s == (0, 60, 120, 240, 480)
    assert defaults.webhooks.timeout_s == 10


def test_retry_is_not_sent_before_its_time(endpoint, receiver, drain):
    receiver.answers = [status(500)]

    _sell(endpoint, drain)
    drain()

    assert len(receiver.received) == 1


def test_every_attempt_carries_the_same_id_and_body_and_a_fresh_signature(endpoint, receiver, drain):
    receiver.answers = [status(500)]

    _sell(endpoint, drain)
    time.sleep(1.1)
    _retry(endpoint, drain, times=4)

    assert len({received.headers["x-service-delivery-id"] for received in receiver.received}) == 1
    assert len({received.body for received in receiver.received}) == 1
    assert all(_signed_with(endpoint.secret, received) for received in receiver.received)
    stamps = [int(received.headers["x-service-timestamp"]) for received in receiver.received]
    assert stamps == sorted(stamps)
    assert stamps[0] < stamps[-1]


@pytest.mark.parametrize("code", [200, 201, 202, 204, 226, 299])
@pytest.mark.parametrize("failures", [0, 1, 4])
def test_any_2xx_response_settles_the_delivery(endpoint, receiver, drain, code, failures):
    receiver.answers = [*[status(500)] * failures, status(code, b"" if code == 204 else b"error: no")]

    _sell(endpoint, drain)
    _retry(endpoint, drain, times=6)

    assert _state(endpoint) == ("Delivered", failures + 1, code, True)
    assert len(receiver.received) == failures + 1


@pytest.mark.parametrize("code", [301, 302, 303, 304, 307, 308, 400, 401, 404, 410, 418, 429, 500, 502, 503, 599])
def test_other_responses_are_failures_and_redirects_not_followed(endpoint, receiver, drain, code):
    target = receiver.url.replace("/hook", "/elsewhere")
    receiver.answers = [status(code, b"" if code == 304 else b"no", Location=target), status(200)]

    _sell(endpoint, drain)

    assert _state(endpoint) == ("Pending", 1, code, False)
    assert [received.path for received in receiver.received] == ["/hook"]
    assert _planned_s(endpoint) == pytest.approx(60, abs=0.01)
    _retry(endpoint, drain)
    assert _state(endpoint) == ("Delivered", 2, 200, True)


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "waited_s"),
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
def test_retry_after_seconds_are_clamped(endpoint, receiver, drain, *, code, retry_after, waited_s):
    receiver.answers = [status(code, Retry_After=retry_after)]

    least_s, most_s = _waits_after_sale(endpoint, drain, before=datetime.now(UTC))

    assert least_s <= waited_s <= most_s


@pytest.mark.parametrize(
    ("offset_s", "waited_s"), [(-3_600, 30), (0, 30), (10, 30), (600, 600), (7_200, 3_600), (10**9, 3_600)]
)
def test_retry_after_date_is_clamped(endpoint, receiver, drain, offset_s, waited_s):
    before = datetime.now(UTC)
    date = format_datetime(before + timedelta(seconds=offset_s), usegmt=True)
    receiver.answers = [status(429, Retry_After=date)]

    least_s, most_s = _waits_after_sale(endpoint, drain, before=before)

    assert least_s <= waited_s <= most_s + 1  # a date has no fractions of a second


@pytest.mark.parametrize(
    "retry_after", ["soon", "", "-5", "1.5", "1e3", "30s", "0x1f", "٣٠", "9" * 400, "Mon, 99 Foo 2025 00:00:00 GMT"]
)
def test_malformed_retry_after_keeps_the_schedule(endpoint, receiver, drain, retry_after):
    receiver.answers = [status(503, Retry_After=retry_after.encode().decode("latin-1"))]

    _sell(endpoint, drain)

    assert _planned_s(endpoint) == pytest.approx(60, abs=0.01)


@pytest.mark.parametrize("code", [400, 408, 500, 502, 504, 301])
def test_retry_after_of_other_responses_is_ignored(endpoint, receiver, drain, code):
    receiver.answers = [status(code, Retry_After="900")]

    _sell(endpoint, drain)

    assert _planned_s(endpoint) == pytest.approx(60, abs=0.01)


def test_receiver_sending_retry_after_gets_five_attempts(endpoint, receiver, drain):
    receiver.answers = [status(429, Retry_After="1")]

    _sell(endpoint, drain)
    _retry(endpoint, drain, times=8)

    assert len(receiver.received) == 5
    assert _state(endpoint) == ("Failed", 5, 429, True)


def test_attempt_after_a_rotation_uses_the_new_secret(endpoint, receiver, drain):
    old_secret = endpoint.secret
    receiver.answers = [status(500)]
    _sell(endpoint, drain)

    endpoint.rotate()
    _retry(endpoint, drain)

    first, second = receiver.received
    assert (_signed_with(old_secret, first), _signed_with(endpoint.secret, first)) == (True, False)
    assert (_signed_with(old_secret, second), _signed_with(endpoint.secret, second)) == (False, True)


def test_deleted_endpoint_gets_no_retry(endpoint, receiver, drain):
    receiver.answers = [status(500)]
    _sell(endpoint, drain)

    endpoint.delete()
    _retry(endpoint, drain, times=3)

    assert len(receiver.received) == 1
    assert _state(endpoint)[0] == "Failed"
    assert endpoint.brand.rows("select count(*) from job") == [(0,)]


def test_settled_delivery_is_not_sent_by_a_late_job(endpoint, receiver, drain):
    receiver.answers = [status(500), status(200)]
    _sell(endpoint, drain)
    endpoint.make_deliveries_due()

    drain(deliveries=3)

    assert len(receiver.received) == 2
    assert _state(endpoint) == ("Delivered", 2, 200, True)
