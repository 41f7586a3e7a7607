"""A webhook is attempted five times, later if the endpoint requests a wait."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.statuses import DeliveryStatus
from domain.webhooks import delivery
from domain.webhooks.delivery import DeliveryVerdict

EVENT_AT = datetime(2026, 5, 10, 12, 0, 0, tzinfo=UTC)
FAILED = DeliveryVerdict(status=DeliveryStatus.Failed, next_attempt_at=None)
DELIVERED = DeliveryVerdict(status=DeliveryStatus.Delivered, next_attempt_at=None)


def pending_at(at: datetime) -> DeliveryVerdict:
    return DeliveryVerdict(status=DeliveryStatus.Pending, next_attempt_at=at)


def verdict(*, attempt: int, status: int | None, now: datetime, retry_after: str | None = None) -> DeliveryVerdict:
    return delivery.after_attempt(attempt=attempt, status=status, retry_after=retry_after, event_at=EVENT_AT, now=now)


def test_attempts_are_at_once_and_after_1_2_4_and_8_minutes() -> None:
    assert delivery.ATTEMPTS_AT_S == (0, 60, 120, 240, 480)


def test_timeout_is_10_seconds() -> None:
    assert delivery.TIMEOUT_S == 10


@pytest.mark.parametrize("status", [200, 201, 204, 299])
@pytest.mark.parametrize("attempt", [1, 5, 6])
def test_2xx_response_counts_as_delivered(attempt: int, status: int) -> None:
    assert verdict(attempt=attempt, status=status, now=EVENT_AT) == DELIVERED


@pytest.mark.parametrize("status", [None, 100, 199, 300, 301, 400, 404, 410, 500])
@pytest.mark.parametrize(
    ("attempt", "next_at"),
    [
        (1, datetime(2026, 5, 10, 12, 1, tzinfo=UTC)),
        (2, datetime(2026, 5, 10, 12, 2, tzinfo=UTC)),
        (3, datetime(2026, 5, 10, 12, 4, tzinfo=UTC)),
        (4, datetime(2026, 5, 10, 12, 8, tzinfo=UTC)),
    ],
)
def test_other_response_is_retried_on_schedule(attempt: int, next_at: datetime, status: int | None) -> None:
    assert verdict(attempt=attempt, status=status, now=EVENT_AT + timedelta(seconds=5)) == pending_at(next_at)


@pytest.mark.parametrize("status", [None, 404, 429, 500, 503])
@pytest.mark.parametrize("attempt", [5, 6])
def test_fifth_attempt_is_the_last(attempt: int, status: int | None) -> None:
    now = datetime(2026, 5, 10, 12, 8, tzinfo=UTC)

    assert verdict(attempt=attempt, status=status, retry_after="60", now=now) == FAILED


@pytest.mark.parametrize(
    ("attempt", "next_at"),
    [
        (1, datetime(2026, 5, 10, 13, 1, tzinfo=UTC)),
        (2, datetime(2026, 5, 10, 13, 1, tzinfo=UTC)),
        (3, datetime(2026, 5, 10, 13, 2, tzinfo=UTC)),
        (4, datetime(2026, 5, 10, 13, 4, tzinfo=UTC)),
    ],
)
def test_late_attempt_keeps_the_gap_to_the_next(attempt: int, next_at: datetime) -> None:
    an_hour_late = datetime(2026, 5, 10, 13, 0, tzinfo=UTC)

    assert verdict(attempt=attempt, status=500, now=an_hour_late) == pending_at(next_at)


def test_scheduled_time_equal_to_now_is_skipped() -> None:
    now = datetime(2026, 5, 10, 12, 1, tzinfo=UTC)

    assert verdict(attempt=1, status=500, now=now) == pending_at(datetime(2026, 5, 10, 12, 2, tzinfo=UTC))


def test_next_attempt_is_at_least_a_second_away() -> None:
    now = datetime(2026, 5, 10, 12, 0, 59, 500000, tzinfo=UTC)

    assert verdict(attempt=1, status=500, now=now) == pending_at(datetime(2026, 5, 10, 12, 1, 0, 500000, tzinfo=UTC))


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "next_at"),
    [
        ("0", datetime(2026, 5, 10, 12, 0, 35, tzinfo=UTC)),
        ("29", datetime(2026, 5, 10, 12, 0, 35, tzinfo=UTC)),
        ("31", datetime(2026, 5, 10, 12, 0, 36, tzinfo=UTC)),
        ("300", datetime(2026, 5, 10, 12, 5, 5, tzinfo=UTC)),
        ("3600", datetime(2026, 5, 10, 13, 0, 5, tzinfo=UTC)),
        ("3601", datetime(2026, 5, 10, 13, 0, 5, tzinfo=UTC)),
        ("9999999999", datetime(2026, 5, 10, 13, 0, 5, tzinfo=UTC)),
        ("Sun, 10 May 2026 12:10:05 GMT", datetime(2026, 5, 10, 12, 10, 5, tzinfo=UTC)),
        ("Sun, 10 May 2020 12:10:05 GMT", datetime(2026, 5, 10, 12, 0, 35, tzinfo=UTC)),
        ("Mon, 11 May 2026 12:10:05 GMT", datetime(2026, 5, 10, 13, 0, 5, tzinfo=UTC)),
    ],
)
def test_retry_after_of_429_or_503_sets_the_wait(status: int, retry_after: str, next_at: datetime) -> None:
    now = datetime(2026, 5, 10, 12, 0, 5, tzinfo=UTC)

    assert verdict(attempt=1, status=status, retry_after=retry_after, now=now) == pending_at(next_at)


@pytest.mark.parametrize("retry_after", [None, "", "soon", "-5", "1.5", "120, 60"])
def test_malformed_retry_after_is_ignored(retry_after: str | None) -> None:
    now = datetime(2026, 5, 10, 12, 0, 5, tzinfo=UTC)

    expected = pending_at(datetime(2026, 5, 10, 12, 1, tzinfo=UTC))
    assert verdict(attempt=1, status=429, retry_after=retry_after, now=now) == expected


@pytest.mark.parametrize("status", [None, 404, 500, 502])
def test_retry_after_of_other_statuses_is_ignored(status: int | None) -> None:
    now = datetime(2026, 5, 10, 12, 0, 5, tzinfo=UTC)

    expected = pending_at(datetime(2026, 5, 10, 12, 1, tzinfo=UTC))
    assert verdict(attempt=1, status=status, retry_after="600", now=now) == expected


def test_custom_schedule_is_respected() -> None:
    verdict_after_two = delivery.after_attempt(
        attempt=2, status=500, retry_after=None, event_at=EVENT_AT, now=EVENT_AT, schedule=(0, 5)
    )

    assert verdict_after_two == FAILED


def test_attempts_count_from_one() -> None:
    with pytest.raises(ValueError, match="count from 1"):
        verdict(attempt=0, status=500, now=EVENT_AT)


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("0", 0),
        ("Sun, 10 May 2026 12:02:00 GMT", 120),
        ("Sunday, 10-May-26 12:02:00 GMT", 120),
        ("Sun May 10 12:02:00 2026", 120),
        ("Sun, 10 May 2026 11:00:00 GMT", 0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("\u0661\u0662", None),
        ("9" * 5000, None),
        ("1 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Sun, 10 May 2026 14:02:00 +0200", 120),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, wait_s: int | None) -> None:
    assert delivery.parse_retry_after(value, now=EVENT_AT) == wait_s


def test_retry_after_date_is_rounded_up_to_a_second() -> None:
    now = datetime(2026, 5, 10, 12, 0, 0, 1, tzinfo=UTC)

    assert delivery.parse_retry_after("Sun, 10 May 2026 12:02:00 GMT", now=now) == 120


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,25} \d+:\d+:\d+ [-+A-Z0-9]{1,8}"))
def test_parsing_retry_after_never_raises(value: str) -> None:
    wait_s = delivery.parse_retry_after(value, now=EVENT_AT)

    assert wait_s is None or wait_s >= 0


@given(
    attempt=st.integers(min_value=1, max_value=4),
    delay=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=30)),
)
def test_next_attempt_is_always_in_the_future(attempt: int, delay: timedelta) -> None:
    now = EVENT_AT + delay

    next_at = verdict(attempt=attempt, status=500, now=now).next_attempt_at

    assert next_at is not None
    assert next_at >= now + timedelta(seconds=1)
