"""Fleets that begin and end: of one process, and of one that watches others. What is said of it is a line each."""

import json
import os
import signal
import time

import pytest

from tests.support.installation import outcome, servers
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

# A supervisor sees its end within five seconds, and a busy machine within five times as many. It was half a minute.
_SOON_S = 25


@pytest.mark.parametrize("is_up", [False, True], ids=["before it is up", "when it is up"])
def test_fleet_ends_when_its_worker_is_killed(machine: Machine, is_up: bool) -> None:
    # given
    begun = time.monotonic()
    fleet = machine.launch("pair")
    machine.wait_until(lambda: bool(fleet.children), "it starts its workers")
    if is_up:
        alive = "select from worker_process where queues = '{payouts}' and threads = 1 having count(*) = 2"
        machine.wait_until(lambda: bool(machine.rows(alive)), "the workers announce themselves")

    # when
    started_s = time.monotonic() - begun
    os.kill(fleet.children[0], signal.SIGKILL)

    # then: the other one may have to come up first, which takes as long here as the first one took
    machine.wait_until(lambda: fleet.has_ended, "the fleet ends", within_s=_SOON_S + 2 * started_s)
    last = [line for line in _lines(machine, "pair") if "exited unexpectedly" in line["event"]][-1]
    assert (last["level"], last["logger"].partition(".")[0]) == ("critical", "dramatiq")


def test_failed_fleet_start_logs_one_line(machine: Machine) -> None:
    fleet = machine.launch("payouts-2", variables={"PROMETHEUS_MULTIPROC_DIR": "/no/such/place"})
    machine.wait_until(lambda: fleet.has_ended, "the fleet ends")

    said = [line for line in _lines(machine, "payouts-2") if line["event"] == "fleet.does_not_start"]

    assert "FileNotFoundError" in said[-1]["exception"]
    assert said[-1]["exception"].count("\n") > 5


def test_invalid_setting_ends_the_fleet_with_one_sentence(machine: Machine) -> None:
    log = machine.home / "payouts-3.out"

    fleet = machine.launch("payouts-3", variables={"JOB_LEASE_S": "soon"})
    machine.wait_until(lambda: fleet.has_ended, "the fleet ends")

    assert log.read_text().startswith("finderfee: JOB_LEASE_S")
    assert log.read_text().count("\n") == 1


def test_dramatiq_messages_about_a_lost_broker_are_json(machine: Machine, shop: Shop) -> None:
    # when: consumers wait in vain for an answer, and then nobody is there
    before = len(_lines(machine, "workers"))
    machine.freeze_valkey()
    machine.wait_until(lambda: "unexpected error" in _read_new_output(machine, before), "a consumer tells of it")
    machine.freeze_valkey(signal.SIGCONT)
    servers.stop_valkey(machine.home, save=True)
    machine.wait_until(lambda: "connection error" in _read_new_output(machine, before), "a consumer finds nobody")
    machine.start_valkey()
    shop.sell()
    outcome.check(machine, shop)

    # then
    told = [line for line in _lines(machine, "workers")[before:] if "unexpected error" in line["event"]]
    assert told[0]["level"] == "critical"
    assert told[0]["exception"].startswith("Traceback (most recent call last):\n")


def _read_new_output(machine: Machine, before: int) -> str:
    """Return what the workers wrote after so many lines."""
    return "\n".join(machine.read_output("workers").splitlines()[before:])


def _lines(machine: Machine, name: str) -> list[dict[str, str]]:
    """Return what a process wrote, every line of which must be an object."""
    return [json.loads(line) for line in machine.read_output(name).splitlines()]
