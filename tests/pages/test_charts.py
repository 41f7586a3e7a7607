"""Charts as SVG: no content that a strict policy blocks, a text alternative, an axis that fits the values."""

import re
from xml.etree import ElementTree

import pytest

from pages import charts
from pages.charts import ChartPoint

_POINTS = [ChartPoint("1 Nov", 0, "0"), ChartPoint("2 <Nov>", 40, "40"), ChartPoint("3 Nov", 10, "10")]


def _draw(values, *, before=(), running=False, currency=None):
    points = [
        ChartPoint(
            label=f"day {at}",
            value=value,
            shown=str(value),
            before=ChartPoint(f"before {at}", before[at], str(before[at])) if at < len(before) else None,
            is_running=running and at == len(values) - 1,
        )
        for at, value in enumerate(values)
    ]
    picture = ElementTree.fromstring(str(charts.draw_bars(points, "Sales", currency=currency)))
    return picture, [text.text for text in picture.iter("text")]


def _percent(element, name):
    return float(element.get(name).removesuffix("%"))


def test_chart_has_a_text_alternative_and_no_style():
    picture = charts.draw_bars(_POINTS, "Sales", currency=None)
    root = ElementTree.fromstring(str(picture))

    assert root.get("aria-label") == "Sales: 1 Nov to 3 Nov, lowest 0 (1 Nov), highest 40 (2 <Nov>), last 10"
    assert root.get("role") == "img"
    assert not re.search(r"style|<script|on\w+=", str(picture))


@pytest.mark.parametrize(
    ("values", "currency", "labels"),
    [
        ([0, 0], None, ["0", "1"]),
        ([1], None, ["0", "1"]),
        ([3, 8], None, ["0", "2", "4", "6", "8"]),
        ([41], None, ["0", "20", "40", "60"]),
        ([1_234], None, ["0", "500", "1k", "1.5k"]),
        ([3, -2], None, ["−2", "0", "2", "4"]),
        ([-7], None, ["−8", "−6", "−4", "−2", "0"]),
        ([7], "USD", ["0", "0.02", "0.04", "0.06", "0.08"]),
        ([123_456], "USD", ["0", "500", "1k", "1.5k"]),
        ([123_456], "JPY", ["0", "50k", "100k", "150k"]),
        ([-30_000_000_000], "USD", ["−300M", "−200M", "−100M", "0"]),
        ([10**21], "USD", ["0", "5,000,000T", "10,000,000T"]),
    ],
    ids=str,
)
def test_axis_covers_the_values_with_round_labels(values, currency, labels):
    picture, axis = _draw(values, currency=currency)

    assert axis == labels
    for bar in picture.findall("rect"):
        assert 0 <= _percent(bar, "y") <= _percent(bar, "y") + _percent(bar, "height") <= 100.1
    assert "NaN" not in ElementTree.tostring(picture, "unicode")


def test_axis_has_two_to_six_lines_for_any_values():
    for size in (1, 2, 3, 7, 99, 12_345, 10**15 + 1):
        for values in ([size], [-size], [size, -size], [0, size // 3, -size // 7]):
            _, axis = _draw(values)
            assert 2 <= len(axis) <= 6, values
            assert "0" in axis, values


def test_bars_stay_in_the_picture_for_any_number_of_days():
    for count in (1, 2, 7, 31, 366):
        picture, _ = _draw([5] * count, before=[4] * count)
        bars = picture.findall("rect")
        assert len(bars) == count
        assert all(_percent(bar, "width") > 0 for bar in bars)
        assert _percent(bars[-1], "x") + _percent(bars[-1], "width") <= 100
        line = picture.find("svg/polyline").get("points").split()
        assert len(line) == max(2, count)
        assert all(0 <= int(number) <= 1000 for point in line for number in point.split(","))


def test_period_before_counts_for_the_axis_and_may_be_shorter():
    picture, axis = _draw([1, 1, 1], before=[90, 10])

    assert axis[-1] == "100"
    assert picture.find("svg/polyline").get("points") == "167,100 500,900"


def test_running_day_is_drawn_apart():
    picture, _ = _draw([1, 2, 3], running=True)

    assert [bar.get("class") for bar in picture.findall("rect")] == [None, None, "running"]


def test_empty_data_draws_no_chart():
    chart = charts.create_chart("Sales", [], currency=None)

    assert chart.picture == ""
    assert not chart.has_anything
    assert not charts.create_chart("Sales", [ChartPoint("a", 0, "0")], currency=None).has_anything
    before = ChartPoint("b", 1, "1")
    assert charts.create_chart("Sales", [ChartPoint("a", 0, "0", before=before)], currency=None).has_anything


def test_ticks_are_the_first_the_middle_and_the_last_point():
    points = [ChartPoint(f"{day} Nov 2026", day, "1", short=f"{day} Nov") for day in range(1, 8)]

    assert charts.list_ticks(points) == ["1 Nov", "4 Nov", "7 Nov"]
    assert charts.list_ticks(points[:2]) == ["1 Nov", "2 Nov"]
    assert charts.list_ticks(points[:1]) == ["1 Nov"]
    assert charts.list_ticks(_POINTS) == ["1 Nov", "3 Nov"]
