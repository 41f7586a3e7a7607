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


def _size(clicks: int, sales: int) -> Sizing:
    return size_load(Load(clicks, sales), _COSTS, Prices())


def test_disk_holds_permanent_and_not_yet_expired_data() -> None:
    # 365 days of 10,000 sales of 2,000 bytes, and 90 days of their 1,000 temporary bytes and 100,000 clicks of 300.
    expected = 365 * 10_000 * 2_000 + 90 * 10_000 * 1_000 + 90 * 100_000 * 300

    assert _size(100_000, 10_000).needs["disk"] == pytest.approx(expected / 1e12)


def test_small_load_runs_on_one_machine_with_one_process_per_fleet() -> None:
    sizing = _size(100_000, 10_000)

    assert {fleet.processes for fleet in sizing.fleets} == {1}
    assert sizing.verdict == limits.StepResult(limits.STEPS[0], {})


@pytest.mark.parametrize("kind", ["clicks", "sales"])
def test_more_load_never_needs_fewer_resources(kind: str) -> None:
    sizings = [_size(**({"clicks": 10**5, "sales": 10**4} | {kind: 10**power})) for power in range(3, 10)]

    for less, more in itertools.pairwise(sizings):
        assert all(less.needs[limit] <= more.needs[limit] for limit in limits.LIMITS)
        assert sum(less.money.values()) <= sum(more.money.values())
        assert [fleet.processes for fleet in less.fleets] <= [fleet.processes for fleet in more.fleets]


def test_limit_exceeded_most_is_reported_as_broken() -> None:
    needs = dict.fromkeys(limits.LIMITS, 0.0) | {"disk": 4, "postgres": 18}

    runway = limits.find_step(needs)

    assert runway.broke == {"one machine": "postgres"}
    assert runway.step == limits.STEPS[1]


def test_load_beyond_every_step_has_no_step() -> None:
    needs = dict.fromkeys(limits.LIMITS, 0.0) | {"turn": 2}

    runway = limits.find_step(needs)

    assert runway.step is None
    assert list(runway.broke) == [step.name for step in limits.STEPS]


def test_every_step_has_all_bounds_and_none_below_the_step_before() -> None:
    for step in limits.STEPS:
        assert set(step.bounds) == set(limits.LIMITS)
    for step, later in itertools.pairwise(limits.STEPS):
        assert all(step.bounds[limit] <= later.bounds[limit] for limit in limits.LIMITS)


def test_missing_figure_is_refused_with_the_command_to_measure_it(tmp_path: Path) -> None:
    incomplete = [figure for figure in json.loads(MEASURED.read_text()) if figure["name"] != "click_cost"]
    results = tmp_path / "results.json"
    results.write_text(json.dumps(incomplete))

    with pytest.raises(CostsMissing, match=r"no figure click_cost.*--only clicks_timed"):
        Costs.read(results)


def test_shipped_measurements_contain_every_cost() -> None:
    for cost in dataclasses.astuple(Costs.read(MEASURED)):
        assert all(part > 0 for part in cost.values()) if isinstance(cost, dict) else cost > 0


def test_page_quotes_the_current_output_of_the_command() -> None:
    (quoted,) = re.findall(r"```text\n\$ python -m bench\.scale\n(.*?)```", _PAGE.read_text(), re.DOTALL)

    assert _trim_lines(quoted) == _trim_lines(_run_sizing())


def test_json_output_contains_load_and_needs() -> None:
    (sizing,) = json.loads(_run_sizing("--clicks", "10_000_000", "--sales", "1,000,000", "--json"))

    assert (sizing["clicks"], sizing["sales"]) == (10_000_000, 1_000_000)
    assert set(sizing["needs"]) == set(limits.LIMITS)


def _run_sizing(*arguments: str) -> str:
    command = [sys.executable, "-m", "bench.scale", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=_PAGE.parents[1]).stdout


def _trim_lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
