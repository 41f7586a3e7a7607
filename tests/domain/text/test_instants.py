"""Instants in the text of emails."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from domain.text import instants


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (datetime(2026, 11, 28, 20, 5, 59, tzinfo=UTC), "28 Nov 2026, 20:05 UTC"),
        (datetime(2027, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=1))), "31 Dec 2026, 23:30 UTC"),
    ],
)
def test_instant_is_written_in_utc(at, words):
    assert instants.format_instant(at) == words
