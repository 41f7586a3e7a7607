import math

import pytest

from bench.scale import demand, fleets


@pytest.mark.parametrize("a_day", [0, 1, 86_400, 10**9])
def test_demand_sums_to_the_daily_number(a_day: int) -> None:
    assert sum(demand.per_second(a_day)) * demand.STEP_S == pytest.approx(a_day)


def test_peak_demand_is_five_to_ten_times_the_mean() -> None:
    rates = demand.per_second(86_400)

    assert 5 < max(rates) < 10
    assert 0 < min(rates) < 0.5


def test_work_within_capacity_does_not_wait() -> None:
    assert fleets.longest_wait_s([0.5, 2.0, 0.5], 2) == 0


def test_burst_waits_until_it_is_processed() -> None:
    # 10 s of 3 cores are 30 core seconds; two processes do 20 of them in that time and need 5 s for the rest.
    assert fleets.longest_wait_s([0, 3, 0, 0], 2) == 5


def test_backlog_at_the_end_of_the_day_waits_infinitely() -> None:
    assert fleets.longest_wait_s([2, 2], 1) == math.inf


def test_queue_gets_the_smallest_fleet_within_its_maximum_wait() -> None:
    cores = [0, 8, 0, 0, 0, 0, 0, 0]

    slow_queue = fleets.size_queue("sales", cores, threads=8, max_wait_s=10)
    urgent_queue = fleets.size_queue("sales", cores, threads=8, max_wait_s=0)

    assert (slow_queue.processes, slow_queue.longest_wait_s) == (4, 10)
    assert (urgent_queue.processes, urgent_queue.longest_wait_s) == (8, 0)


def test_serving_fleet_has_spare_capacity() -> None:
    assert fleets.size_serving("web", [0.1, 1.4], threads=8).processes == 2
    assert fleets.size_serving("web", [0.1, 1.5], threads=8).processes == 3
    assert fleets.size_serving("web", [0.0], threads=8).processes == 1
