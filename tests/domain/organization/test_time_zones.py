"""Start and end of a day in a time zone, including days on which the clock changes."""

from datetime import UTC, date, datetime

import pytest

from domain.organization import time_zones


@pytest.mark.parametrize(
    ("zone", "day", "start", "end"),
    [
        ("UTC", "2026-11-28", "2026-11-28T00:00:00", "2026-11-28T23:59:59"),
        ("Europe/Berlin", "2026-11-28", "2026-11-27T23:00:00", "2026-11-28T22:59:59"),
        # 23 hours: summer time begins at 02:00
        ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00", "2026-03-29T21:59:59"),
        # 25 hours: summer time ends at 03:00
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00", "2026-10-25T22:59:59"),
        ("America/New_York", "2026-11-01", "2026-11-01T04:00:00", "2026-11-02T04:59:59"),
        # no midnight: the clock jumps from 00:00 to 01:00
        ("Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00", "2026-04-24T20:59:59"),
        ("Asia/Kolkata", "2026-01-01", "2025-12-31T18:30:00", "2026-01-01T18:29:59"),
        ("Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00", "2026-01-01T09:59:59"),
    ],
)
def test_day_starts_and_ends_at_midnight_of_its_zone(zone, day, start, end):
    time_zone, local_date = time_zones.find_zone(zone), date.fromisoformat(day)

    assert time_zones.start_of_day(local_date, time_zone) == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert time_zones.end_of_day(local_date, time_zone) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@pytest.mark.parametrize("name", [None, "", "Berlin", "europe/berlin", "../etc/passwd", "Europe", "UTC\x00"])
def test_unknown_time_zone_is_utc(name):
    assert time_zones.find_zone(name).key == "UTC"
    assert name is None or not time_zones.is_known(name)


def test_repeated_hour_is_recognized():
    berlin = time_zones.find_zone("Europe/Berlin")

    for utc_hour, is_repeated in ((23, False), (0, True), (1, True), (2, False)):
        day = 24 if utc_hour == 23 else 25
        assert (
            time_zones.is_repeated(datetime(2026, 10, day, utc_hour, 30, tzinfo=UTC).astimezone(berlin)) is is_repeated
        )
