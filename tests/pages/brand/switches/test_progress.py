"""The pace of a switch, from recent points. Source: the switch-over rules, "Screens and command"."""

from datetime import UTC, datetime, timedelta

from pages.brand.switches import progress
from pages.brand.switches.progress import Pace, Point

_NOW = datetime(2026, 5, 18, 12, 0, tzinfo=UTC)
_NOW_S = int(_NOW.timestamp())


def _reading(*parts, began_s=7_200):
    names = ("affiliates", "customers", "commissions")
    return {
        "state": "Reading",
        "readingAt": (_NOW - timedelta(seconds=began_s)).isoformat(),
        "progress": {
            name: {"read": read, "total": total, "written": 0}
            for name, (read, total) in zip(names, parts, strict=False)
        },
    }


def test_pace_counts_only_recent_minutes():
    switch = _reading((100, 100), (900, 1_500))

    assert progress.measure(switch, [Point(_NOW_S - 60, 800)], now=_NOW) == Pace(200, 3, knows_all=True)


def test_pace_without_recent_point_is_unknown():
    assert progress.measure(_reading((100, 100)), [], now=_NOW) is None


def test_first_minutes_have_the_pace_since_reading_began():
    assert progress.measure(_reading((100, 300), began_s=60), [], now=_NOW) == Pace(100, 2, knows_all=True)


def test_list_without_total_makes_the_time_a_least_one():
    switch = _reading((100, 300), (100, None))

    assert progress.measure(switch, [Point(_NOW_S - 60, 0)], now=_NOW) == Pace(200, 1, knows_all=False)


def test_points_are_carried_in_steps_and_forgotten():
    switch = _reading((500, 900))
    points = [Point(_NOW_S - 400, 10), Point(_NOW_S - 100, 300)]

    recent = progress.add_point(points, switch, now=_NOW)

    assert recent == [Point(_NOW_S - 100, 300), Point(_NOW_S, 500)]
    assert progress.add_point(recent, switch, now=_NOW + timedelta(seconds=5)) == recent
    assert progress.parse_points(progress.format_points(recent)) == recent


def test_malformed_points_are_ignored():
    for text in ("", "1", "1747569600-5-", "1747569600-x", "9" * 500, "1747569600-5." * 13):
        assert progress.parse_points(text) == []
