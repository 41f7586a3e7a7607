"""When a source is requested again (switch-over rules, "Jobs", limits of the source)."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.switches import pace

_NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


def _seconds(at):
    return (at - _NOW).total_seconds()


def test_failures_wait_by_the_schedule_until_it_ends():
    waits = [pace.retry_wait_s(failures, pace.RETRY_AT_S) for failures in range(1, 10)]

    assert waits == [1, 5, 15, 60, 120, 300, 300, 300, None]


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({"retry-after": "30"}, 30),
        ({"retry-after": "Sun, 29 Nov 2026 12:01:30 GMT"}, 90),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "7", "x-ratelimit-reset": "99"}, 7),
        ({"retry-after": "soon", "x-ratelimit-reset": "99"}, 99),
        ({"x-ratelimit-reset": str(int(_NOW.timestamp()) + 40)}, 40),
        ({"x-ratelimit-reset": str(int(_NOW.timestamp() * 1000) + 40_500)}, 41),
        ({"x-ratelimit-reset": str(int(_NOW.timestamp()) - 5)}, 0),
        ({"ratelimit-reset": "12"}, 12),
        ({"ratelimit": "limit=45, remaining=0, reset=13"}, 13),
        ({"ratelimit": '"default";r=0;t=14'}, 14),
        ({"retry-after": "9999999999"}, pace.MAX_WAIT_S),
    ],
)
def test_busy_source_is_asked_again_when_it_says(headers, expected_s):
    assert _seconds(pace.busy_until(headers, in_a_row=4, now=_NOW)) == expected_s


def test_dates_are_read_by_the_clock_of_the_source():
    headers = {"retry-after": "Sun, 29 Nov 2026 12:06:30 GMT", "date": "Sun, 29 Nov 2026 12:06:00 GMT"}

    assert _seconds(pace.busy_until(headers, in_a_row=1, now=_NOW)) == 30


def test_busy_source_that_names_no_time_is_asked_after_doubling_waits():
    waits = [_seconds(pace.busy_until({}, in_a_row=number, now=_NOW)) for number in range(1, 9)]

    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({}, None),
        ({"x-ratelimit-remaining": "1", "x-ratelimit-reset": "20"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "20"}, 20),
        ({"x-ratelimit-remaining": "0"}, 2),
        ({"ratelimit": "limit=45, remaining=0, reset=13"}, 13),
        ({"ratelimit": '"default";r=3;t=14'}, None),
    ],
)
def test_last_request_of_a_limit_leads_to_a_wait(headers, expected_s):
    until = pace.exhausted_until(headers, now=_NOW)

    assert (None if until is None else _seconds(until)) == expected_s


def test_failure_waits_at_least_as_long_as_the_source_asks():
    assert _seconds(pace.after_failure({}, wait_s=5, now=_NOW)) == 5
    assert _seconds(pace.after_failure({"retry-after": "60"}, wait_s=5, now=_NOW)) == 60
    assert _seconds(pace.after_failure({"retry-after": "1"}, wait_s=5, now=_NOW)) == 5


def test_pace_spaces_requests_evenly():
    assert pace.next_at(_NOW, 4) == _NOW + timedelta(milliseconds=250)
    assert pace.next_at(_NOW, 0) is None


def test_limit_per_minute_in_headers_is_a_pace():
    assert pace.requests_per_s_of({"x-ratelimit-limit": "600"}) == 10
    assert pace.requests_per_s_of({"x-ratelimit-limit": "0"}) is None
    assert pace.requests_per_s_of({}) is None
