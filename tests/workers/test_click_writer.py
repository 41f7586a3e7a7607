"""The click writer process: from the stream to the database, and its handling of unwritable clicks."""

import os
import threading
import time
from contextlib import closing, contextmanager

import psycopg2
import pytest
import redis

from adapters import broker
from adapters.clicks import stream_reader
from adapters.clicks.stream import GROUP, KEY
from adapters.clicks.stream_reader import StreamReader
from models import db
from tests.support.rows.click_rows import (
    build_click,
    consume_stream,
    hold_click_lock,
    list_aggregates,
    list_outcomes,
    send,
)
from workers.clicks import ClickConsumer


@pytest.fixture
def click_brand(brand):
    brand.program(click_reward_cents=10)
    return brand


@pytest.fixture
def ben(click_brand):
    return click_brand.affiliate("ben")


@pytest.fixture
def valkey(app):
    return broker.client(os.environ["REDIS_URL"])


def test_clicks_of_several_tenants_are_written_and_acknowledged(click_brand, rival, ben, valkey):
    rival.program()
    own_click, foreign_click = build_click(click_brand, ben), build_click(rival, rival.affiliate("ann"))
    send(own_click, foreign_click)

    assert consume_stream() == 2

    assert list_outcomes(click_brand, [own_click]) == ["earned"]
    assert list_outcomes(rival, [foreign_click]) == ["recorded"]
    assert valkey.xlen(KEY) == 0
    assert valkey.xpending(KEY, GROUP)["pending"] == 0


def test_entries_before_the_first_consumer_are_written(click_brand, ben, valkey):
    click = build_click(click_brand, ben)
    send(click)
    assert not [group for group in valkey.xinfo_groups(KEY) if group["name"] == GROUP.encode()]

    consume_stream()

    assert list_outcomes(click_brand, [click]) == ["earned"]


def test_lost_consumer_group_is_recreated(click_brand, ben, valkey):
    consume_stream()
    valkey.delete(KEY)
    click = build_click(click_brand, ben)
    send(click)

    consume_stream()

    assert list_outcomes(click_brand, [click]) == ["earned"]


def test_entries_of_a_dead_consumer_are_claimed(click_brand, ben, valkey):
    click = build_click(click_brand, ben)
    consume_stream()
    send(click)
    assert len(StreamReader(valkey, "dead").read(count=10, wait_ms=1)) == 1

    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    assert consumer.run_once() == 0
    assert consumer.run_once(idle_ms=0) == 1

    assert list_outcomes(click_brand, [click]) == ["earned"]
    assert valkey.xlen(KEY) == 0


def test_repeated_entry_changes_nothing(click_brand, ben):
    click = build_click(click_brand, ben)
    send(click, click)

    consume_stream()
    send(click)
    consume_stream()

    assert [row[1] for row in list_aggregates(click_brand)] == [10]
    assert click_brand.rows("select count(*) from click") == [(1,)]


def test_stopped_loop_removes_its_consumer(click_brand, ben, valkey):
    stop = threading.Event()
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    loop = threading.Thread(target=_run_and_disconnect, args=(consumer, stop), daemon=True)
    loop.start()
    click = build_click(click_brand, ben)
    send(click)
    _wait_until(lambda: click_brand.rows("select count(*) from click") == [(1,)])

    stop.set()
    loop.join(60)

    assert not loop.is_alive()
    assert valkey.xinfo_consumers(KEY, GROUP) == []


def test_entries_read_ahead_are_written_before_the_loop_ends(monkeypatch, click_brand, ben, valkey):
    clicks, stop, batches = [build_click(click_brand, ben) for _ in range(7)], threading.Event(), []
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    read = consumer._intake.read
    send(*clicks)

    def reads(**options):
        batches.append(read(**options))
        if len(batches) == 2:
            stop.set()  # while the first batch may still be in progress
        return batches[-1]

    monkeypatch.setattr("workers.clicks._BATCH", 3)
    monkeypatch.setattr(consumer._intake, "read", reads)
    _run_and_disconnect(consumer, stop)

    written = sum(map(len, batches))
    assert written >= 6
    assert click_brand.rows("select count(*) from click") == [(written,)]
    assert valkey.xlen(KEY) == len(clicks) - written
    assert valkey.xinfo_consumers(KEY, GROUP) == []


def test_unavailable_database_acknowledges_nothing(monkeypatch, click_brand, ben, valkey):
    click = build_click(click_brand, ben)
    send(click)
    stop, tries = threading.Event(), []

    def raise_unavailable(*_, **__):
        tries.append(1)
        raise db.UNAVAILABLE[0]("away")

    monkeypatch.setattr("workers.clicks.clicks.write", raise_unavailable)
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    loop = threading.Thread(target=_run_and_disconnect, args=(consumer, stop), daemon=True)
    loop.start()
    _wait_until(lambda: len(tries) >= 2)
    pending = valkey.xpending(KEY, GROUP)["pending"]
    monkeypatch.undo()
    _wait_until(lambda: valkey.xlen(KEY) == 0)
    stop.set()
    loop.join(60)

    assert pending == 1
    assert list_outcomes(click_brand, [click]) == ["earned"]


def test_locked_tenant_does_not_delay_others(click_brand, rival, ben, valkey):
    rival.program()
    own_click, foreign_click = build_click(click_brand, ben), build_click(rival, rival.affiliate("ann"))
    send(own_click, foreign_click)
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)

    with hold_click_lock(click_brand):
        consumer.run_once()
        assert list_outcomes(rival, [foreign_click]) == ["recorded"]
        assert valkey.xpending(KEY, GROUP)["pending"] == 1

    consumer.run_once(idle_ms=0)
    assert list_outcomes(click_brand, [own_click]) == ["earned"]
    assert valkey.xlen(KEY) == 0


_TAKES_TOO_LONG = """
create function take_too_long() returns trigger language plpgsql as $$ begin
  if (select count(*) from added where organization_id = '{org}') > {most} then
    raise 'canceling statement due to statement timeout' using errcode = 'query_canceled';
  end if;
  return null;
end $$;
create trigger take_too_long after insert on click referencing new table as added
for each statement execute function take_too_long();
"""


@contextmanager
def _time_out_above(brand, most):
    """Make the database time out on writing more than `most` clicks of a brand at once."""
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute(_TAKES_TOO_LONG.format(org=brand.id, most=most))
        yield
        cursor.execute("drop function take_too_long cascade")


def test_batch_over_the_statement_timeout_is_split(click_brand, ben, valkey):
    clicks = [build_click(click_brand, ben) for _ in range(450)]
    send(*clicks)

    with _time_out_above(click_brand, most=120):
        consume_stream()

    assert set(list_outcomes(click_brand, clicks)) == {"earned"}
    assert sum(cents for _, cents, _, _ in list_aggregates(click_brand)) == 4_500
    assert valkey.xlen(KEY) == 0


def test_small_batch_over_the_timeout_stays_pending(click_brand, rival, ben, valkey):
    rival.program()
    own_click, foreign_click = (
        [build_click(click_brand, ben) for _ in range(2)],
        build_click(rival, rival.affiliate("ann")),
    )
    send(*own_click, foreign_click)
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)

    with _time_out_above(click_brand, most=0):
        consumer.run_once()
        assert list_outcomes(rival, [foreign_click]) == ["recorded"]
        assert valkey.xpending(KEY, GROUP)["pending"] == 2

    consumer.run_once(idle_ms=0)
    assert list_outcomes(click_brand, own_click) == ["earned"] * 2


def _run_and_disconnect(consumer, stop):
    try:
        consumer.run(stop.is_set)
    finally:
        db.db.drop_connection()


def _wait_until(condition, within_s=60):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_backlog_counts_unread_and_pending_entries(click_brand, ben, valkey):
    assert stream_reader.measure_backlog(valkey) == stream_reader.Backlog(0, 0)
    consume_stream()
    send(build_click(click_brand, ben), build_click(click_brand, ben))
    StreamReader(valkey, "busy").read(count=1, wait_ms=1)

    backlog = stream_reader.measure_backlog(valkey)

    assert (backlog.unread, backlog.pending) == (1, 1)


def test_metrics_page_shows_the_backlog(app, click_brand, ben):
    consume_stream()
    send(build_click(click_brand, ben))

    page = app.test_client().get("/metrics").get_data(as_text=True)

    assert 'finderfee_click_stream_entries{state="unread"} 1.0' in page
    assert 'finderfee_click_stream_entries{state="in_hand"} 0.0' in page
    assert "finderfee_click_stream_kept_on_disk 0.0" in page
    assert 'finderfee_clicks_written_total{kind="first"}' in page


def test_unavailable_stream_is_retried(monkeypatch, click_brand, ben):
    stop, tries = threading.Event(), []
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)

    def raise_connection_error(*_, **__):
        tries.append(1)
        raise redis.ConnectionError("away")

    monkeypatch.setattr(consumer._intake, "read", raise_connection_error)
    loop = threading.Thread(target=_run_and_disconnect, args=(consumer, stop), daemon=True)
    loop.start()
    _wait_until(lambda: len(tries) >= 2)
    click = build_click(click_brand, ben)
    send(click)
    monkeypatch.undo()
    _wait_until(lambda: click_brand.rows("select count(*) from click") == [(1,)])
    stop.set()
    loop.join(60)

    assert list_outcomes(click_brand, [click]) == ["earned"]
