import math

import pytest

from bench.scale import demand, fleets


@pytest.mark.parametrize("a_day", [0, 1, 86_400, 10**9])
def test_a_day_brings_what_it_is_said_to_bring(a_day: int) -> None:
    assert sum(demand.per_second(a_day)) * demand.STEP_S == pytest.approx(a_day)


def test_the_worst_moment_is_many_times_the_mean() -> None:
    rates = demand.per_second(86_400)

    assert 5 < max(rates) < 10
    assert 0 < min(rates) < 0.5


def test_what_a_fleet_can_take_does_not_wait() -> None:
    assert fleets.longest_wait_s([0.5, 2.0, 0.5], 2) == 0


def test_work_that_comes_at_once_waits_until_it_is_done() -> None:
    # 10 s of 3 cores are 30 core seconds; two processes do 20 of them meanwhile and need 5 s more for the rest.
    assert fleets.longest_wait_s([0, 3, 0, 0], 2) == 5


def test_a_day_that_leaves_work_behind_waits_for_ever() -> None:
    assert fleets.longest_wait_s([2, 2], 1) == math.inf


def test_the_smallest_fleet_is_taken_that_waits_no_longer_than_it_may() -> None:
    cores = [0, 8, 0, 0, 0, 0, 0, 0]

    patient = fleets.size_queue("sales", cores, threads=8, wait_most_s=10)
    hasty = fleets.size_queue("sales", cores, threads=8, wait_most_s=0)

    assert (patient.processes, patient.longest_wait_s) == (4, 10)
    assert (hasty.processes, hasty.longest_wait_s) == (8, 0)


def test_who_answers_people_keeps_some_of_its_time_free() -> None:
    assert fleets.size_serving("web", [0.1, 1.4], threads=8).processes == 2
    assert fleets.size_serving("web", [0.1, 1.5], threads=8).processes == 3
    assert fleets.size_serving("web", [0.0], threads=8).processes == 1
