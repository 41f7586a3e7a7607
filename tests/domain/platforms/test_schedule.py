"""Retry times of platform lookups. Source: tracking spec, section 8, step 6 (retries over about two hours)."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from domain.platforms import schedule

SALE = datetime(2026, 5, 4, 12, tzinfo=UTC)


def _next_after(seconds, **more):
    next_at = schedule.next_at(SALE, now=SALE + timedelta(seconds=seconds), at_s=schedule.RETRY_AT_S, **more)
    return None if next_at is None else int((next_at - SALE).total_seconds())


def test_waits_are_1_5_15_40_and_60_minutes():
    times = [0]
    while (due := _next_after(times[-1])) is not None:
        times.append(due)
    assert [(later - earlier) // 60 for earlier, later in itertools.pairwise(times)] == [1, 5, 15, 40, 60]
    assert times[-1] == 121 * 60


@pytest.mark.parametrize(("at_s", "due_s"), [(0.5, 60), (61, 360), (400, 1260), (3700, 7260), (7261, None)])
def test_late_lookup_skips_the_missed_times(at_s, due_s):
    assert _next_after(at_s) == due_s


@pytest.mark.parametrize(("wait_s", "due_s"), [(0, 60), (40, 60), (120, 120), (1000, 1000), (10**9, 3600)])
def test_longer_requested_wait_is_respected_up_to_an_hour(wait_s, due_s):
    assert _next_after(0, requested_wait_s=wait_s) == due_s


def test_requested_wait_adds_no_further_lookup():
    assert _next_after(7260, requested_wait_s=60) is None
