"""Charts as SVG: no content that a strict policy blocks, and a text alternative."""

import re
from xml.etree import ElementTree

from pages import charts
from pages.charts import ChartPoint

_POINTS = [ChartPoint("1 Nov", 0, "0"), ChartPoint("2 <Nov>", 40, "40"), ChartPoint("3 Nov", 10, "10")]


def test_chart_has_a_text_alternative_and_no_style():
    picture = charts.draw_line(_POINTS, "Sales")
    root = ElementTree.fromstring(str(picture))

    assert root.get("aria-label") == "Sales: 1 Nov to 3 Nov, least 0 (1 Nov), most 40 (2 <Nov>), last 10"
    assert root.get("role") == "img"
    assert not re.search(r"style|<script|on\w+=", str(picture))


def test_chart_of_zeros_is_drawn():
    assert "NaN" not in charts.draw_line([ChartPoint("a", 0, "0"), ChartPoint("b", 0, "0")], "Clicks")


def test_empty_data_draws_no_chart():
    assert charts.draw_line([], "Sales") == charts.draw_line(_POINTS[:1], "Sales") == ""
