"""Processes and the database die while a switch reads, writes and is undone: it ends as an undisturbed one does.

Source: the switch-over rules, "Jobs" (kill -9).
"""

import random
import threading
from collections.abc import Callable, Iterator

import pytest

from commands.demo.played import rewardful
from commands.demo.played.sample import Sample
from commands.demo.played.server import PlayedServer, playing
from models import db
from pipelines.switches import digests
from tests.support.installation.machine import Machine
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings
from tests.support.switches.judged_rows import list_exceptions
from tests.support.switches.played_switch import WholeSwitch

_SAMPLE = Sample(affiliates=40, customers=200, commissions=2_500)
# How long the switch is left alone between two kills, and how often something is killed in each part.
_PAUSE_S, _MAX_KILLS = 0.5, 6


@pytest.fixture
def account(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlayedServer]:
    """Play an account at the address that the installation's processes call."""
    url = f"http://127.0.0.1:{machine.source_port}"
    override_settings(monkeypatch, switches={"rewardful_base_url": url})
    source = rewardful.build_source(rewardful.build_account(_SAMPLE))
    with playing(source, port=machine.source_port) as server:
        yield server


def test_kill_9_at_any_moment_ends_in_the_rows_of_an_undisturbed_switch(
    machine: Machine, account: PlayedServer
) -> None:
    # given
    chance = random.Random(machine.seed)
    undisturbed = _bring(machine, account, disturb=lambda: None)

    # when
    kills: list[str] = []

    def disturb() -> None:
        kills.append(_kill_something(machine, chance))

    disturbed = _bring(machine, account, disturb=disturb)

    # then
    assert len(kills) >= 6, kills
    with machine.use_models():
        assert _digest(disturbed) == _digest(undisturbed)
    counts = "select count(*), count(distinct external_event_id) from conversion where organization_id = %s"
    assert machine.rows(counts, disturbed.brand.id) == machine.rows(counts, undisturbed.brand.id)
    with machine.use_models():
        assert list_exceptions(disturbed.brand.id) == []

    # when: the undo is disturbed too
    with machine.use_models():
        disturbed.undo()
    _wait_for(machine, disturbed, "Undone", disturb)

    # then
    for table in ("conversion", "brought_customer", "old_token", "import_customer"):
        assert machine.rows(f"select count(*) from {table} where organization_id = %s", disturbed.brand.id) == [(0,)]
    with machine.use_models():
        assert list_exceptions(disturbed.brand.id) == []


def _bring(machine: Machine, account: PlayedServer, *, disturb: Callable[[], None]) -> WholeSwitch:
    """Bring the played account into a new brand, and return the switch."""
    with machine.use_models():
        brand = Brand.create(None)
        program_id = brand.program()
        switch = WholeSwitch(brand, "rewardful", account, program_id)
        switch.connect()
        switch.start_reading()
    _wait_for(machine, switch, "Ready", disturb)
    with machine.use_models():
        switch.start_run()
    _wait_for(machine, switch, "Completed", disturb)
    return switch


def _wait_for(machine: Machine, switch: WholeSwitch, state: str, disturb: Callable[[], None]) -> None:
    find = "select state, last_error_message from switch where id = %s"

    def has_arrived() -> bool:
        ((now, error),) = machine.rows(find, switch.id)
        assert now != "Paused", error
        return bool(now == state)

    for _ in range(_MAX_KILLS):
        if has_arrived():
            return
        disturb()
        threading.Event().wait(_PAUSE_S)
    machine.wait_until(has_arrived, f"the switch is {state}")


def _kill_something(machine: Machine, chance: random.Random) -> str:
    victim = chance.choice(("gateways", "gateways", "relay", "PostgreSQL"))
    if victim == "PostgreSQL":
        machine.restart_postgres()
    else:
        machine.kill(victim)
        machine.start(victim)
    return victim


def _digest(switch: WholeSwitch) -> dict[str, str]:
    with db.unit_of_work(switch.brand.id):
        return digests.compute(organization_id=switch.brand.id, switch_id=switch.id)
