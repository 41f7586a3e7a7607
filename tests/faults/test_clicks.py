"""Writers of clicks die, and what they stand on goes away: each click is written once and earns once.

The clicks are put on the stream as the web processes put them there.
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
def paying(machine: Machine, shop: Shop) -> Shop:
    """The shop, paying ten cents for every click."""
    fee = "update program set click_reward_cents = %s, click_reward_currency = 'USD' where organization_id = %s"
    machine.execute(fee, _FEE_CENTS, str(shop.id))
    return shop


def _send(machine: Machine, shop: Shop, number: int) -> list[RawClick]:
    sent = [build_click(shop.brand, shop.ben, at=datetime.now(UTC)) for _ in range(number)]
    pipeline = machine.valkey().pipeline()
    for click in sent:
        pipeline.xadd(KEY, {FIELD: serialization.to_bytes(click)})
    pipeline.execute()
    machine.note(f"{number} clicks are on the stream")
    return sent


def _until_written(machine: Machine) -> None:
    machine.wait_until(lambda: machine.valkey().xlen(KEY) == 0, "the stream is empty")
    machine.wait_until_settled()


def _check(machine: Machine, shop: Shop, sent: list[RawClick], *, earned: int | None = None) -> None:
    _until_written(machine)
    rows = machine.rows("select id::text, outcome from click where organization_id = %s", str(shop.id))
    assert sorted(click_id for click_id, _ in rows) == sorted(click.id for click in sent)
    paid = machine.rows("select sum(commission_cents)::int from conversion where organization_id = %s", str(shop.id))
    assert paid == [(_FEE_CENTS * (len(sent) if earned is None else earned),)]
    assert invariants.list_violations(machine.rows, organization_id=shop.id) == []
    assert machine.rows("select count(*) from job where name = 'click.unreadable'") == [(0,)]


def _turn(shop: Shop) -> str:
    """What a writer of this organization waits for, with its batch in hand."""
    return f"select pg_advisory_xact_lock(hashtextextended('clicks:{shop.id}', 0))"


# A writer waits for two seconds, then goes on with others' clicks and leaves these for later.
_BEGINS_TO_WAIT = """
select from pg_stat_activity where application_name = 'finderfee' and wait_event_type = 'Lock'
and wait_event = 'advisory' and clock_timestamp() - query_start < interval '0.5 s'
"""


def test_kill_9_before_the_commit_writes_the_batch_once(machine: Machine, paying: Shop) -> None:
    with machine.hold_locks(_turn(paying)):
        sent = _send(machine, paying, 50)
        machine.wait_for_lock_waiters(1)
        machine.kill("clicks")

    machine.start("clicks")
    _check(machine, paying, sent)


def test_kill_9_between_commit_and_acknowledgement_repeats_nothing(machine: Machine, paying: Shop) -> None:
    # given: a writer that dies in the moment in which it has committed and is to say so
    dying = ProcessKiller(machine, "clicks", should_kill=lambda read: b"XACK" in read)
    machine.kill("clicks")
    with closing(Proxy(data_folder.resolve(machine.home).valkey_socket, on_request=dying)) as proxy:
        machine.start("clicks", variables={"REDIS_URL": proxy.url(machine.urls.redis_url)})

        # when
        sent = _send(machine, paying, 50)
        dying.wait_until_dead()
    count = "select count(*) from click where organization_id = %s"
    assert machine.rows(count, str(paying.id)) == [(50,)]
    assert machine.valkey().xpending(KEY, GROUP)["pending"] == 50
    machine.start("clicks")

    # then
    _check(machine, paying, sent)


def test_stopped_writer_finishes_its_batch(machine: Machine, paying: Shop) -> None:
    # given: a writer with its batch in hand, whose first word about it has yet to reach the database
    is_begun, goes_on = threading.Event(), threading.Event()

    def asked(read: bytes) -> Action:
        if f"clicks:{paying.id}".encode() in read:
            is_begun.set()
            goes_on.wait(PATIENCE_S)
        return Action.FORWARD

    machine.kill("clicks")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_request=asked)) as proxy:
        machine.start("clicks", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})
        sent = _send(machine, paying, 20)
        machine.wait_until(is_begun.is_set, "the writer begins")

        # when
        machine.note("SIGTERM clicks")
        machine.processes["clicks"].terminate()
        goes_on.set()
        assert machine.processes.pop("clicks").wait() == 0

    # then
    assert machine.valkey().xlen(KEY) == 0
    machine.start("clicks")
    _check(machine, paying, sent)


def test_clicks_wait_on_the_stream_without_postgresql(machine: Machine, paying: Shop) -> None:
    sent = _send(machine, paying, 100)
    machine.restart_postgres()
    sent += _send(machine, paying, 100)

    _check(machine, paying, sent)


def test_killed_valkey_keeps_every_click(machine: Machine, paying: Shop) -> None:
    # given: clicks that nobody has read, and clicks in the hands of a writer that is gone
    with machine.hold_locks(_turn(paying)):
        sent = _send(machine, paying, 30)
        machine.wait_for_lock_waiters(1)
        machine.kill("clicks")
    sent += _send(machine, paying, 30)

    # when
    servers.kill_valkey(machine.home)
    machine.note("SIGKILL Valkey")
    machine.start_valkey()
    machine.start("clicks")

    # then
    _check(machine, paying, sent)


def test_writer_survives_absent_and_emptied_valkey(machine: Machine, paying: Shop) -> None:
    before = machine.read_output("clicks").count("stream_unavailable")
    servers.stop_valkey(machine.home, save=False)
    machine.wait_until(lambda: machine.read_output("clicks").count("stream_unavailable") > before, "the writer notices")
    servers.wipe_valkey(machine.home)
    machine.start_valkey()

    sent = _send(machine, paying, 20)

    _check(machine, paying, sent)


def test_two_writers_with_duplicate_entries_pay_a_budget_once(machine: Machine, paying: Shop) -> None:
    machine.execute(
        "update program set budget_cents = 75, budget_currency = 'USD' where organization_id = %s", str(paying.id)
    )
    machine.start("clicks-2")
    sent = []
    for _ in range(20):
        batch = _send(machine, paying, 10)
        pipeline = machine.valkey().pipeline()
        for click in batch:
            pipeline.xadd(KEY, {FIELD: serialization.to_bytes(click)})
        pipeline.execute()
        sent += batch

    _check(machine, paying, sent, earned=7)


def test_poisoned_entry_does_not_stop_the_stream(machine: Machine, paying: Shop) -> None:
    sent = _send(machine, paying, 5)
    machine.valkey().xadd(KEY, {FIELD: b"nonsense"})
    sent += _send(machine, paying, 5)

    machine.wait_until(lambda: machine.valkey().xlen(KEY) == 1, "only what cannot be read is left")

    ((entry_id, fields),) = machine.valkey().xrange(KEY)
    assert fields[FIELD] == b"nonsense"  # for an hour, for a newer release
    machine.valkey().xdel(KEY, entry_id)
    _check(machine, paying, sent)


def test_kill_9_of_the_all_in_one_process_leaves_each_effect_once(machine: Machine, paying: Shop) -> None:
    # given: relay, scheduler and writer of clicks in one process, as `make run` has them
    selling = Shop(machine)
    selling.subscribe()
    machine.kill("relay", "scheduler", "clicks")
    machine.launch("loops")
    with selling.sell_continuously():
        selling.wait_until_sold(5)

        # when: it dies with clicks in hand and pointers on their way, and another begins
        with machine.hold_locks(_turn(paying)):
            sent = _send(machine, paying, 50)
            machine.wait_until(lambda: bool(machine.rows(_BEGINS_TO_WAIT)), "the writer waits with them in hand")
            machine.kill("loops")
            selling.wait_until_sold(5)
        machine.launch("loops")
        sent += _send(machine, paying, 50)
        selling.wait_until_sold(5)

    # then
    outcome.check(machine, selling)
    selling.close()
    _check(machine, paying, sent)
    assert set(selling.statuses) <= {200, 422}
    machine.wait_until(
        lambda: machine.sum_metric('finderfee_waiting{what="late_ticks"}') == 0, "what was to be done has been"
    )


def test_clicks_unacknowledged_by_frozen_valkey_are_written_once(machine: Machine, paying: Shop) -> None:
    # given: a web process that has asked about clicks of this link
    sent = [_visit(paying) for _ in range(5)]

    # when
    machine.freeze_valkey()
    sent += [_visit(paying) for _ in range(3)]
    machine.freeze_valkey(signal.SIGCONT)

    # then: also those that the thawed server takes in after all
    _until_written(machine)
    rows = machine.rows("select id::text from click where organization_id = %s", str(paying.id))
    assert sorted(click_id for (click_id,) in rows) == sorted(sent)
    assert invariants.list_violations(machine.rows, organization_id=paying.id) == []


def _visit(shop: Shop) -> str:
    """Tell of a visit as a page does and return its click."""
    told = json.dumps({"slug": "ben", "programId": str(shop.brand.programs[0])}).encode()
    answer = shop.send_once(CLICK, told, {"User-Agent": BROWSER})
    assert answer is not None and answer[0] == 200
    click_id: str = json.loads(answer[1])["clickId"]
    return click_id
