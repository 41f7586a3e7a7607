import dataclasses
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.scale import limits
from bench.scale.costs import MEASURED, Costs, CostsMissing
from bench.scale.demand import Load
from bench.scale.sizing import Prices, Sizing, size_load

_COSTS = Costs(
    sale={"web": 1.0, "relay": 0.5, "sales": 2.0, "webhooks": 2.0, "postgres": 4.0, "valkey": 0.5},
    click={"web": 0.2, "clicks": 0.1, "postgres": 0.1, "valkey": 0.02},
    sale_kept=2_000,
    sale_passing=1_000,
    sale_wal=10_000,
    click_passing=300,
    click_wal=500,
)
_PAGE = Path(__file__).resolve().parents[3] / "docs" / "scale.md"


def _of(clicks: int, sales: int) -> Sizing:
    return size_load(Load(clicks, sales), _COSTS, Prices())


def test_disk_is_what_stays_for_ever_and_what_has_not_ended_yet() -> None:
    # A year of 10,000 sales of 2,000 bytes, and 90 days of their 1,000 and of 100,000 clicks of 300.
    expected = 365 * 10_000 * 2_000 + 90 * 10_000 * 1_000 + 90 * 100_000 * 300

    assert _of(100_000, 10_000).needs["disk"] == pytest.approx(expected / 1e12)


def test_a_quiet_brand_runs_on_one_machine_with_a_process_of_each_kind() -> None:
    found = _of(100_000, 10_000)

    assert {fleet.processes for fleet in found.fleets} == {1}
    assert found.verdict == limits.Runway(limits.STEPS[0], {})


@pytest.mark.parametrize("what", ["clicks", "sales"])
def test_more_never_needs_less(what: str) -> None:
    found = [_of(**({"clicks": 10**5, "sales": 10**4} | {what: 10**power})) for power in range(3, 10)]

    for less, more in itertools.pairwise(found):
        assert all(less.needs[limit] <= more.needs[limit] for limit in limits.LIMITS)
        assert sum(less.money.values()) <= sum(more.money.values())
        assert [fleet.processes for fleet in less.fleets] <= [fleet.processes for fleet in more.fleets]


def test_what_breaks_first_is_what_is_most_above_its_bound() -> None:
    needs = dict.fromkeys(limits.LIMITS, 0.0) | {"disk": 4, "postgres": 18}

    found = limits.find_step(needs)

    assert found.broke == {"one machine": "postgres"}
    assert found.step == limits.STEPS[1]


def test_a_load_for_which_nothing_is_built_is_told_so() -> None:
    needs = dict.fromkeys(limits.LIMITS, 0.0) | {"turn": 2}

    found = limits.find_step(needs)

    assert found.step is None
    assert list(found.broke) == [step.name for step in limits.STEPS]


def test_every_step_says_of_each_limit_how_much_it_takes_and_none_takes_less_than_the_one_before() -> None:
    for step in limits.STEPS:
        assert set(step.bounds) == set(limits.LIMITS)
    for step, later in itertools.pairwise(limits.STEPS):
        assert all(step.bounds[what] <= later.bounds[what] for what in limits.LIMITS)


def test_a_file_without_a_figure_says_how_to_get_it(tmp_path: Path) -> None:
    lacking = [figure for figure in json.loads(MEASURED.read_text()) if figure["name"] != "click_cost"]
    results = tmp_path / "results.json"
    results.write_text(json.dumps(lacking))

    with pytest.raises(CostsMissing, match=r"no figure click_cost.*--only clicks_timed"):
        Costs.read(results)


def test_what_came_along_has_every_cost() -> None:
    for cost in dataclasses.astuple(Costs.read(MEASURED)):
        assert all(part > 0 for part in cost.values()) if isinstance(cost, dict) else cost > 0


def test_the_page_shows_what_the_command_prints() -> None:
    (shown,) = re.findall(r"```text\n\$ python -m bench\.scale\n(.*?)```", _PAGE.read_text(), re.DOTALL)

    assert _trimmed(shown) == _trimmed(_said())


def test_the_answer_can_be_read_by_a_program() -> None:
    (found,) = json.loads(_said("--clicks", "10_000_000", "--sales", "1,000,000", "--json"))

    assert (found["clicks"], found["sales"]) == (10_000_000, 1_000_000)
    assert set(found["needs"]) == set(limits.LIMITS)


def _said(*arguments: str) -> str:
    asked = [sys.executable, "-m", "bench.scale", *arguments]
    return subprocess.run(asked, check=True, capture_output=True, text=True, cwd=_PAGE.parents[1]).stdout


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
