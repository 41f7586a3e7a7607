"""Pacing of mail: the time between two messages, and the usable slots."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.mail import pace

_NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("per_minute", "expected"),
    [
        (1, timedelta(minutes=1)),
        (60, timedelta(seconds=1)),
        (7, timedelta(microseconds=8_571_429)),
        (60_000, timedelta(milliseconds=1)),
    ],
)
def test_gap_is_at_least_a_minute_divided_by_the_pace(per_minute, expected):
    assert pace.gap(per_minute) == expected


@pytest.mark.parametrize(
    ("slot_at", "is_early", "is_usable"),
    [
        (None, False, False),
        (_NOW, False, True),
        (_NOW + _MICROSECOND, True, False),
        (_NOW - pace.GRACE, False, True),
        (_NOW - pace.GRACE - _MICROSECOND, False, False),
    ],
)
def test_slot_is_usable_from_its_time_until_the_grace_ends(slot_at, is_early, is_usable):
    assert pace.is_early(slot_at, now=_NOW) is is_early
    assert pace.is_usable(slot_at, now=_NOW) is is_usable
