"""Signals to a fleet of one process."""

import signal

import pytest

from tests.support.installation import outcome
from tests.support.installation.actors import ENDLESS
from tests.support.installation.machine import Machine
from tests.support.installation.processes import Process
from tests.support.installation.shop import Shop

_ANNOUNCED = "select id from worker_process where queues = '{payouts}' and id::text <> all(%s)"


def _launch_second_fleet(machine: Machine, known_ids: list[str]) -> Process:
    """Start a second fleet and return it once it has announced itself; `known_ids` are the ids of older processes."""
    fleet = machine.launch("payouts-2")
    machine.wait_until(lambda: bool(machine.rows(_ANNOUNCED, known_ids)), "the fleet announces itself")
    return fleet


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_the_process_with_status_0(machine: Machine, number: signal.Signals) -> None:
    known_ids = machine.list_known_process_ids()
    fleet = _launch_second_fleet(machine, known_ids)

    fleet.terminate(number)

    assert fleet.wait() == 0
    assert machine.rows("select from worker_process where id::text <> all(%s)", known_ids) == []


def test_hangup_restarts_the_process(machine: Machine) -> None:
    known_ids = machine.list_known_process_ids()
    fleet = _launch_second_fleet(machine, known_ids)
    known_ids = machine.list_known_process_ids()

    fleet.terminate(signal.SIGHUP)
    machine.wait_until(lambda: bool(machine.rows(_ANNOUNCED, known_ids)), "the fleet announces itself with a new id")

    assert not fleet.has_ended
    fleet.terminate()
    assert fleet.wait() == 0


def test_second_signal_stops_without_waiting_for_jobs(machine: Machine, shop: Shop) -> None:
    # given
    machine.kill("workers")
    machine.forget_killed_fleets()
    machine.start("workers-2", modules=["tests.support.installation.actors"])
    fleet = machine.processes["workers-2"]
    machine.insert_job(shop.id, ENDLESS.name, max_attempts=2)
    machine.wait_until(lambda: "endless.begins" in machine.read_output("workers-2"), "the endless job runs")

    # when
    fleet.terminate()
    machine.wait_until(
        lambda: bool(machine.rows("select from worker_process where queues = '{}'")), "the fleet is stopping"
    )
    assert not fleet.has_ended
    fleet.terminate()

    # then: only that job is left
    assert fleet.wait() == 1
    machine.kill("workers-2")
    machine.rows("delete from job where name = %s returning 1", ENDLESS.name)
    machine.forget_killed_fleets()
    machine.start("workers")
    shop.sell()
    outcome.check(machine, shop)
