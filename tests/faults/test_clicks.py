"""Click writers are killed and their servers fail: each click is written once and earns once.

The clicks are added to the stream as the web processes add them.
"""

import json
import signal
import threading
from contextlib import closing
from datetime import UTC, datetime

import pytest

from adapters.clicks import serialization
from adapters.clicks.stream import FIELD, GROUP, KEY
from adapters.embedded import data_folder
from domain.clicks.raw_click import RawClick
from tests.support.installation import invariants, outcome, servers
from tests.support.installation.backing_servers import PATIENCE_S
from tests.support.installation.machine import Machine
from tests.support.installation.process_killer import ProcessKiller
from tests.support.installation.proxy import Action, Proxy
from tests.support.installation.shop import Shop
from tests.support.rows.click_rows import build_click
from tests.support.rows.link_visits import BROWSER, CLICK

_FEE_CENTS = 10


@pytest.fixture
def click_shop(machine: Machine, shop: Shop) -> Shop:
    """Return the shop, which pays ten cents per click."""
    fee = "update program set click_reward_cents = %s, click_reward_currency = 'USD' where organization_id = %s"
    machine.execute(fee, _FEE_CENTS, str(shop.id))
    return shop


def _send(machine: Machine, shop: Shop, number: int) -> list[RawClick]:
    clicks = [build_click(shop.brand, shop.ben, at=datetime.now(UTC)) for _ in range(number)]
    pipeline = machine.valkey().pipeline()
    for click in clicks:
        pipeline.xadd(KEY, {FIELD: serialization.to_bytes(click)})
    pipeline.execute()
    machine.note(f"{number} clicks are on the stream")
    return clicks


def _wait_until_written(machine: Machine) -> None:
    machine.wait_until(lambda: machine.valkey().xlen(KEY) == 0, "the stream is empty")
    machine.wait_until_settled()


def _check_clicks(machine: Machine, shop: Shop, clicks: list[RawClick], *, earned: int | None = None) -> None:
    _wait_until_written(machine)
    rows = machine.rows("select id::text, outcome from click where organization_id = %s", str(shop.id))
    assert sorted(click_id for click_id, _ in rows) == sorted(click.id for click in clicks)
    paid = machine.rows("select sum(commission_cents)::int from conversion where organization_id = %s", str(shop.id))
    assert paid == [(_FEE_CENTS * (len(clicks) if earned is None else earned),)]
    assert invariants.list_violations(machine.rows, organization_id=shop.id) == []
    assert machine.rows("select count(*) from job where name = 'click.unreadable'") == [(0,)]


def _lock_clicks(shop: Shop) -> str:
    """Return the statement of the lock that a writer with a batch of this organization waits for."""
    return f"select pg_advisory_xact_lock(hashtextextended('clicks:{shop.id}', 0))"


# A writer waits for two seconds, then continues with clicks of other organizations and writes these later.
_STARTED_TO_WAIT = """
select from pg_stat_activity where application_name = 'finderfee' and wait_event_type = 'Lock'
and wait_event = 'advisory' and clock_timestamp() - query_start < interval '0.5 s'
"""


def test_kill_9_before_the_commit_writes_the_batch_once(machine: Machine, click_shop: Shop) -> None:
    with machine.hold_locks(_lock_clicks(click_shop)):
        clicks = _send(machine, click_shop, 50)
        machine.wait_for_lock_waiters(1)
        machine.kill("clicks")

    machine.start("clicks")
    _check_clicks(machine, click_shop, clicks)


def test_kill_9_between_commit_and_acknowledgement_repeats_nothing(machine: Machine, click_shop: Shop) -> None:
    # given: a writer that is killed after its commit, when it sends the acknowledgement
    killer = ProcessKiller(machine, "clicks", should_kill=lambda read: b"XACK" in read)
    machine.kill("clicks")
    with closing(Proxy(data_folder.resolve(machine.home).valkey_socket, on_request=killer)) as proxy:
        machine.start("clicks", variables={"REDIS_URL": proxy.url(machine.urls.redis_url)})

        # when
        clicks = _send(machine, click_shop, 50)
        killer.wait_until_dead()
    count = "select count(*) from click where organization_id = %s"
    assert machine.rows(count, str(click_shop.id)) == [(50,)]
    assert machine.valkey().xpending(KEY, GROUP)["pending"] == 50
    machine.start("clicks")

    # then
    _check_clicks(machine, click_shop, clicks)


def test_stopped_writer_finishes_its_batch(machine: Machine, click_shop: Shop) -> None:
    # given: a writer that has read a batch, whose first statement about it has not reached the database yet
    has_begun, may_continue = threading.Event(), threading.Event()

    def hold_lock_statement(read: bytes) -> Action:
        if f"clicks:{click_shop.id}".encode() in read:
            has_begun.set()
            may_continue.wait(PATIENCE_S)
        return Action.FORWARD

    machine.kill("clicks")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_request=hold_lock_statement)) as proxy:
        machine.start("clicks", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})
        clicks = _send(machine, click_shop, 20)
        machine.wait_until(has_begun.is_set, "the writer begins with the batch")

        # when
        machine.note("SIGTERM clicks")
        machine.processes["clicks"].terminate()
        may_continue.set()
        assert machine.processes.pop("clicks").wait() == 0

    # then
    assert machine.valkey().xlen(KEY) == 0
    machine.start("clicks")
    _check_clicks(machine, click_shop, clicks)


def test_clicks_wait_on_the_stream_without_postgresql(machine: Machine, click_shop: Shop) -> None:
    clicks = _send(machine, click_shop, 100)
    machine.restart_postgres()
    clicks += _send(machine, click_shop, 100)

    _check_clicks(machine, click_shop, clicks)


def test_killed_valkey_keeps_every_click(machine: Machine, click_shop: Shop) -> None:
    # given: clicks that no writer has read, and clicks that a killed writer has read
    with machine.hold_locks(_lock_clicks(click_shop)):
        clicks = _send(machine, click_shop, 30)
        machine.wait_for_lock_waiters(1)
        machine.kill("clicks")
    clicks += _send(machine, click_shop, 30)

    # when
    servers.kill_valkey(machine.home)
    machine.note("SIGKILL Valkey")
    machine.start_valkey()
    machine.start("clicks")

    # then
    _check_clicks(machine, click_shop, clicks)


def test_writer_survives_absent_and_emptied_valkey(machine: Machine, click_shop: Shop) -> None:
    before = machine.read_output("clicks").count("stream_unavailable")
    servers.stop_valkey(machine.home, save=False)
    machine.wait_until(lambda: machine.read_output("clicks").count("stream_unavailable") > before, "the writer notices")
    servers.wipe_valkey(machine.home)
    machine.start_valkey()

    clicks = _send(machine, click_shop, 20)

    _check_clicks(machine, click_shop, clicks)


def test_two_writers_with_duplicate_entries_pay_a_budget_once(machine: Machine, click_shop: Shop) -> None:
    machine.execute(
        "update program set budget_cents = 75, budget_currency = 'USD' where organization_id = %s", str(click_shop.id)
    )
    machine.start("clicks-2")
    clicks = []
    for _ in range(20):
        batch = _send(machine, click_shop, 10)
        pipeline = machine.valkey().pipeline()
        for click in batch:
            pipeline.xadd(KEY, {FIELD: serialization.to_bytes(click)})
        pipeline.execute()
        clicks += batch

    _check_clicks(machine, click_shop, clicks, earned=7)


def test_poisoned_entry_does_not_stop_the_stream(machine: Machine, click_shop: Shop) -> None:
    clicks = _send(machine, click_shop, 5)
    machine.valkey().xadd(KEY, {FIELD: b"nonsense"})
    clicks += _send(machine, click_shop, 5)

    machine.wait_until(lambda: machine.valkey().xlen(KEY) == 1, "only the unreadable entry is left")

    ((entry_id, fields),) = machine.valkey().xrange(KEY)
    assert fields[FIELD] == b"nonsense"  # kept for an hour, in case a newer release can read it
    machine.valkey().xdel(KEY, entry_id)
    _check_clicks(machine, click_shop, clicks)


def test_kill_9_of_the_all_in_one_process_leaves_each_effect_once(machine: Machine, click_shop: Shop) -> None:
    # given: relay, scheduler and click writer in one process, as with `make run`
    other_shop = Shop(machine)
    other_shop.subscribe()
    machine.kill("relay", "scheduler", "clicks")
    machine.launch("loops")
    with other_shop.sell_continuously():
        other_shop.wait_until_sold(5)

        # when: it is killed while it writes clicks and dispatches jobs, and another one is started
        with machine.hold_locks(_lock_clicks(click_shop)):
            clicks = _send(machine, click_shop, 50)
            machine.wait_until(
                lambda: bool(machine.rows(_STARTED_TO_WAIT)), "the writer waits for the lock with its batch"
            )
            machine.kill("loops")
            other_shop.wait_until_sold(5)
        machine.launch("loops")
        clicks += _send(machine, click_shop, 50)
        other_shop.wait_until_sold(5)

    # then
    outcome.check(machine, other_shop)
    other_shop.close()
    _check_clicks(machine, click_shop, clicks)
    assert set(other_shop.statuses) <= {200, 422}
    machine.wait_until(lambda: machine.sum_metric('finderfee_waiting{what="late_ticks"}') == 0, "no tick is late")


def test_clicks_unacknowledged_by_frozen_valkey_are_written_once(machine: Machine, click_shop: Shop) -> None:
    # given: a web process that has cached this link
    clicks = [_visit(click_shop) for _ in range(5)]

    # when
    machine.freeze_valkey()
    clicks += [_visit(click_shop) for _ in range(3)]
    machine.freeze_valkey(signal.SIGCONT)

    # then: also those that the server accepted after it was thawed
    _wait_until_written(machine)
    rows = machine.rows("select id::text from click where organization_id = %s", str(click_shop.id))
    assert sorted(click_id for (click_id,) in rows) == sorted(clicks)
    assert invariants.list_violations(machine.rows, organization_id=click_shop.id) == []


def _visit(shop: Shop) -> str:
    """Report a visit as a page does and return the click id."""
    body = json.dumps({"slug": "ben", "programId": str(shop.brand.programs[0])}).encode()
    answer = shop.send_once(CLICK, body, {"User-Agent": BROWSER})
    assert answer is not None and answer[0] == 200
    click_id: str = json.loads(answer[1])["clickId"]
    return click_id
