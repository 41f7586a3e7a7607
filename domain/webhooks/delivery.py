"""The result of an attempt to deliver a webhook: delivered, failed, or the time of the next attempt.

Source: tracking spec, section 6 "Retry semantics", and section 3, "Webhook delivery". Signatures are in `signing`.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from domain import statuses

#: When each attempt is due, in seconds after the event. The first is sent at once; the spec allows up to 30 s.
ATTEMPTS_AT_S = (0, 60, 120, 240, 480)

#: The timeout of an endpoint's answer, in seconds.
TIMEOUT_S = 10

#: The shortest and the longest wait that a Retry-After header can request, in seconds.
RETRY_AFTER_MIN_S = 30
RETRY_AFTER_MAX_S = 3600

_RETRY_AFTER_STATUSES = (429, 503)
_SECOND = timedelta(seconds=1)

# Ten digits are three centuries: a longer number is not a wait.
_SECONDS = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class DeliveryVerdict:
    """A delivery's status after an attempt, and when the next one is due: None unless Pending."""

    status: statuses.DeliveryStatus
    next_attempt_at: datetime | None


def outcome(status: int | None) -> str:
    """Return the outcome of an attempt: delivered (2xx), refused (another answer), unreachable (no complete answer)."""
    if status is None:
        return "unreachable"
    return "delivered" if _is_success(status) else "refused"


def after_attempt(
    *,
    attempt: int,
    status: int | None,
    retry_after: str | None,
    event_at: datetime,
    now: datetime,
    schedule: tuple[int, ...] = ATTEMPTS_AT_S,
) -> DeliveryVerdict:
    """Return the verdict on the attempt that just ended.

    1. With a 2xx answer the delivery succeeds, with any body and on any attempt.
    2. The last attempt of the schedule fails the delivery for good.
    3. A 429 or 503 with a readable Retry-After moves the next attempt, between 30 seconds and 1 hour from now.
    4. Otherwise the schedule decides.
    `attempt` counts from 1; `status` is the HTTP status, None for a timeout or no answer; times are aware; the
    schedule is in seconds after the event. Raises ValueError for an attempt below 1.
    Source: tracking spec, section 6 "Retry semantics".
    """
    if attempt < 1:
        raise ValueError("attempts count from 1")
    if status is not None and _is_success(status):
        return DeliveryVerdict(status=statuses.DeliveryStatus.Delivered, next_attempt_at=None)
    if attempt >= len(schedule):
        return DeliveryVerdict(status=statuses.DeliveryStatus.Failed, next_attempt_at=None)
    requested_at = _requested_at(status=status, retry_after=retry_after, now=now)
    due_at = requested_at or _scheduled_at(attempt=attempt, event_at=event_at, now=now, schedule=schedule)
    return DeliveryVerdict(status=statuses.DeliveryStatus.Pending, next_attempt_at=due_at)


def parse_retry_after(value: str | None, *, now: datetime) -> int | None:
    """Return the seconds that a Retry-After header requests, or None if it is missing or invalid.

    Accepts whole seconds or an HTTP date; a date is rounded up to the next second, one in the past is 0. Not clamped.
    Source: tracking spec, section 6 "Retry semantics".
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return int(text)
    try:
        date = parsedate_to_datetime(text)
        # A date without a zone is HTTP's old asctime form, which is in GMT.
        aware = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        return max(0, -((now - aware) // _SECOND))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _is_success(status: int) -> bool:
    return 200 <= status <= 299


def _requested_at(*, status: int | None, retry_after: str | None, now: datetime) -> datetime | None:
    if status not in _RETRY_AFTER_STATUSES:
        return None
    wait_s = parse_retry_after(retry_after, now=now)
    if wait_s is None:
        return None
    return now + timedelta(seconds=min(max(wait_s, RETRY_AFTER_MIN_S), RETRY_AFTER_MAX_S))


def _scheduled_at(*, attempt: int, event_at: datetime, now: datetime, schedule: tuple[int, ...]) -> datetime:
    planned_at = event_at + timedelta(seconds=schedule[attempt])
    if planned_at > now:
        return max(planned_at, now + _SECOND)
    # The queue is late. Keeping the interval gives the endpoint the time to recover that the schedule intends.
    return now + timedelta(seconds=schedule[attempt] - schedule[attempt - 1])
