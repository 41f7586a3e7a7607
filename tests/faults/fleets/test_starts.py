"""Starts and ends of fleets, of one process or of several under a master: each is logged in one line."""

import json
import os
import signal
import time

import pytest

from tests.support.installation import outcome, servers
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

# A fleet ends within five seconds, or five times as long on a busy machine. It used to take half a minute.
_SOON_S = 25


@pytest.mark.parametrize("is_up", [False, True], ids=["before it is up", "when it is up"])
def test_fleet_ends_when_its_worker_is_killed(machine: Machine, is_up: bool) -> None:
    # given
    launched_s = time.monotonic()
    fleet = machine.launch("pair")
    machine.wait_until(lambda: bool(fleet.children), "the fleet starts its workers")
    if is_up:
        alive = "select from worker_process where queues = '{payouts}' and threads = 1 having count(*) = 2"
        machine.wait_until(lambda: bool(machine.rows(alive)), "the workers announce themselves")

    # when
    started_after_s = time.monotonic() - launched_s
    os.kill(fleet.children[0], signal.SIGKILL)

    # then: the other worker may have to start first, which takes as long as the first one took
    machine.wait_until(lambda: fleet.has_ended, "the fleet ends", within_s=_SOON_S + 2 * started_after_s)
    last = [line for line in _read_log(machine, "pair") if "exited unexpectedly" in line["event"]][-1]
    assert (last["level"], last["logger"].partition(".")[0]) == ("critical", "dramatiq")


def test_failed_fleet_start_logs_one_line(machine: Machine) -> None:
    fleet = machine.launch("payouts-2", variables={"PROMETHEUS_MULTIPROC_DIR": "/no/such/place"})
    machine.wait_until(lambda: fleet.has_ended, "the fleet ends")

    failures = [line for line in _read_log(machine, "payouts-2") if line["event"] == "fleet.does_not_start"]

    assert "FileNotFoundError" in failures[-1]["exception"]
    assert failures[-1]["exception"].count("\n") > 5


def test_invalid_setting_ends_the_fleet_with_one_sentence(machine: Machine) -> None:
    log = machine.home / "payouts-3.out"

    fleet = machine.launch("payouts-3", variables={"JOB_LEASE_S": "soon"})
    machine.wait_until(lambda: fleet.has_ended, "the fleet ends")

    assert log.read_text().startswith("finderfee: JOB_LEASE_S")
    assert log.read_text().count("\n") == 1


def test_dramatiq_messages_about_a_lost_broker_are_json(machine: Machine, shop: Shop) -> None:
    # when: consumers get no reply, and then no connection
    lines_before = len(_read_log(machine, "workers"))
    machine.freeze_valkey()
    machine.wait_until(
        lambda: "unexpected error" in _read_new_output(machine, lines_before), "a consumer logs an error"
    )
    machine.freeze_valkey(signal.SIGCONT)
    servers.stop_valkey(machine.home, save=True)
    machine.wait_until(
        lambda: "connection error" in _read_new_output(machine, lines_before), "a consumer logs that it cannot connect"
    )
    machine.start_valkey()
    shop.sell()
    outcome.check(machine, shop)

    # then
    errors = [line for line in _read_log(machine, "workers")[lines_before:] if "unexpected error" in line["event"]]
    assert errors[0]["level"] == "critical"
    assert errors[0]["exception"].startswith("Traceback (most recent call last):\n")


def _read_new_output(machine: Machine, lines_before: int) -> str:
    """Return the output of the workers after this many lines."""
    return "\n".join(machine.read_output("workers").splitlines()[lines_before:])


def _read_log(machine: Machine, name: str) -> list[dict[str, str]]:
    """Return the log lines of a process, each of which must be a JSON object."""
    return [json.loads(line) for line in machine.read_output(name).splitlines()]
