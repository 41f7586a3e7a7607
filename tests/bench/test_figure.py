"""Percentiles, targets and the JSON of a figure."""

import pytest

from bench import figure
from bench.figure import Figure, Target


@pytest.mark.parametrize(("percent", "value"), [(50, 10), (95, 19), (96, 20), (100, 20), (1, 1), (0, 1)])
def test_percentile_is_one_of_the_values(percent, value):
    values = [20, *range(1, 20)]

    assert figure.percentile(values, percent) == value
    assert figure.percentile([7.5], percent) == 7.5


@pytest.mark.parametrize(
    ("target", "value", "anchor", "meets"),
    [
        (Target(0.8), 80.0, 100.0, True),
        (Target(0.8), 79.0, 100.0, False),
        (Target(0.8), 80.0, None, False),
        (Target(2, is_ceiling=True), 201.0, 100.0, False),
        (Target(50, is_ceiling=True, is_on_value=True), 50.0, None, True),
        (None, 80.0, 100.0, None),
    ],
)
def test_figure_meets_its_target_by_value_or_ratio(target, value, anchor, meets):
    assert Figure("figure", value, "unit", target, anchor).meets is meets


def test_json_contains_parts_and_others_only_if_known():
    cost = Figure("cost", 13.24567, "CPU ms", None, parts={"web": 1.234567, "relay": 12.0111}, others=0.33333)

    assert cost.as_json() == {
        "name": "cost",
        "value": 13.25,
        "unit": "CPU ms",
        "anchor": None,
        "ratio": None,
        "target": None,
        "meets": None,
        "others": 0.3333,
        "parts": {"web": 1.235, "relay": 12.01},
    }
    assert "parts" not in Figure("rate", 1.0, "sales/s", Target(1), 2.0).as_json()
