"""When a source is asked again. Source: the switch-over rules, "Jobs" (limits of the source)."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from domain.webhooks import delivery

#: Seconds before each further try of a request without a usable answer; after the last one the switch pauses.
RETRY_AT_S = (1, 5, 15, 60, 120, 300, 300, 300)
#: Seconds to wait after each 429 in a row that tells no time.
BUSY_WAIT_S = (2, 4, 8, 16, 32, 60)
#: A header that asks for a longer wait is a mistake of the source.
MAX_WAIT_S = 24 * 60 * 60

# Reset headers: some hold a Unix time in seconds or milliseconds, those of the IETF drafts the seconds until then.
_RESET_NAMES = ("x-ratelimit-reset", "ratelimit-reset")
_REMAINING_NAMES = ("x-ratelimit-remaining", "ratelimit-remaining")
_LIMIT_NAMES = ("x-ratelimit-limit", "ratelimit-limit")
_UNIX_S, _UNIX_MS = 1_000_000_000, 100_000_000_000
_NUMBER = re.compile(r"([0-9]{1,15})(?:\.[0-9]+)?")
# `RateLimit: limit=45, remaining=0, reset=12` and the later `RateLimit: "default";r=0;t=12`.
_DRAFT = re.compile(r"\b(reset|t|remaining|r)\s*=\s*([0-9]{1,15})")
_DRAFT_NAMES = {"t": "reset", "r": "remaining"}


def retry_wait_s(failures: int, schedule: Sequence[int]) -> int | None:
    """Return the seconds before the next try after so many failures in a row (from 1); None if all tries are used."""
    return schedule[failures - 1] if failures <= len(schedule) else None


def busy_until(headers: Mapping[str, str], *, in_a_row: int, now: datetime) -> datetime:
    """Return when to ask again after a 429, the `in_a_row`-th (from 1).

    By Retry-After, else by the Reset header, else by `BUSY_WAIT_S`. `headers` are found by any case.
    """
    wait_s = _retry_after_s(headers, now)
    if wait_s is None:
        wait_s = _reset_s(headers, now)
    if wait_s is None:
        wait_s = BUSY_WAIT_S[min(in_a_row, len(BUSY_WAIT_S)) - 1]
    return now + timedelta(seconds=min(wait_s, MAX_WAIT_S))


def after_failure(headers: Mapping[str, str], *, wait_s: int, now: datetime) -> datetime:
    """Return when to ask again after an answer that cannot be used: after `wait_s`, or later if Retry-After says so."""
    return now + timedelta(seconds=min(max(wait_s, _retry_after_s(headers, now) or 0), MAX_WAIT_S))


def exhausted_until(headers: Mapping[str, str], *, now: datetime) -> datetime | None:
    """Return when to ask again after a usable answer whose headers say that no request is left; None if some are.

    Without a Reset header it is the first wait of `BUSY_WAIT_S`.
    """
    remaining = _number(headers, _REMAINING_NAMES)
    if remaining is None:
        remaining = _draft(headers).get("remaining")
    if remaining != 0:
        return None
    wait_s = _reset_s(headers, now)
    return now + timedelta(seconds=BUSY_WAIT_S[0] if wait_s is None else min(wait_s, MAX_WAIT_S))


def next_at(requested_at: datetime, requests_per_s: float) -> datetime | None:
    """Return the earliest time of the request after one at `requested_at`; None without a pace (0)."""
    return requested_at + timedelta(seconds=1 / requests_per_s) if requests_per_s > 0 else None


def requests_per_s_of(headers: Mapping[str, str]) -> float | None:
    """Return the pace that a limit per minute in the headers allows; None without one."""
    per_minute = _number(headers, _LIMIT_NAMES)
    return per_minute / 60 if per_minute else None


def _retry_after_s(headers: Mapping[str, str], now: datetime) -> int | None:
    # A date is compared with the source's own clock, if it tells its time.
    return delivery.parse_retry_after(headers.get("retry-after"), now=_their_time(headers) or now)


def _reset_s(headers: Mapping[str, str], now: datetime) -> int | None:
    reset = _number(headers, _RESET_NAMES)
    if reset is None:
        return _draft(headers).get("reset")
    if reset < _UNIX_S:
        return reset
    at_s = reset / 1000 if reset >= _UNIX_MS else reset
    return max(0, -int(-(at_s - (_their_time(headers) or now).timestamp()) // 1))


def _their_time(headers: Mapping[str, str]) -> datetime | None:
    try:
        date = parsedate_to_datetime(headers.get("date") or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _number(headers: Mapping[str, str], names: Sequence[str]) -> int | None:
    for name in names:
        match = _NUMBER.match((headers.get(name) or "").strip())
        if match:
            return int(match[1])
    return None


def _draft(headers: Mapping[str, str]) -> dict[str, int]:
    stated = _DRAFT.findall((headers.get("ratelimit") or "").lower())
    return {_DRAFT_NAMES.get(name, name): int(value) for name, value in stated}
