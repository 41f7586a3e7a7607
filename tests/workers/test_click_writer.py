"""The process that writes clicks: from the stream to the database, then off the stream; what it does with poison."""

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
def paying(brand):
    brand.program(click_reward_cents=10)
    return brand


@pytest.fixture
def ben(paying):
    return paying.affiliate("ben")


@pytest.fixture
def valkey(app):
    return broker.client(os.environ["REDIS_URL"])


def test_clicks_of_several_organizations_are_written_and_leave_the_stream(paying, rival, ben, valkey):
    rival.program()
    own, foreign = build_click(paying, ben), build_click(rival, rival.affiliate("ann"))
    send(own, foreign)

    assert consume_stream() == 2

    assert list_outcomes(paying, [own]) == ["earned"]
    assert list_outcomes(rival, [foreign]) == ["recorded"]
    assert valkey.xlen(KEY) == 0
    assert valkey.xpending(KEY, GROUP)["pending"] == 0


def test_what_was_on_the_stream_before_the_first_consumer_is_written(paying, ben, valkey):
    click = build_click(paying, ben)
    send(click)
    assert not [group for group in valkey.xinfo_groups(KEY) if group["name"] == GROUP.encode()]

    consume_stream()

    assert list_outcomes(paying, [click]) == ["earned"]


def test_a_stream_that_lost_its_group_gets_one_again(paying, ben, valkey):
    consume_stream()
    valkey.delete(KEY)
    click = build_click(paying, ben)
    send(click)

    consume_stream()

    assert list_outcomes(paying, [click]) == ["earned"]


def test_what_another_consumer_left_lying_is_written_after_a_while(paying, ben, valkey):
    click = build_click(paying, ben)
    consume_stream()
    send(click)
    assert len(StreamReader(valkey, "dead").read(count=10, wait_ms=1)) == 1

    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    assert consumer.run_once() == 0
    assert consumer.run_once(idle_ms=0) == 1

    assert list_outcomes(paying, [click]) == ["earned"]
    assert valkey.xlen(KEY) == 0


def test_an_entry_that_comes_again_after_its_commit_changes_nothing(paying, ben):
    click = build_click(paying, ben)
    send(click, click)

    consume_stream()
    send(click)
    consume_stream()

    assert [row[1] for row in list_aggregates(paying)] == [10]
    assert paying.rows("select count(*) from click") == [(1,)]


def test_the_loop_ends_when_told_and_leaves_no_consumer_behind(paying, ben, valkey):
    told = threading.Event()
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    loop = threading.Thread(target=_run_apart, args=(consumer, told), daemon=True)
    loop.start()
    click = build_click(paying, ben)
    send(click)
    _until(lambda: paying.rows("select count(*) from click") == [(1,)])

    told.set()
    loop.join(60)

    assert not loop.is_alive()
    assert valkey.xinfo_consumers(KEY, GROUP) == []


def test_what_was_read_ahead_is_written_before_the_loop_ends(monkeypatch, paying, ben, valkey):
    clicks, told, batches = [build_click(paying, ben) for _ in range(7)], threading.Event(), []
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    read = consumer._intake.read
    send(*clicks)

    def reads(**asked):
        batches.append(read(**asked))
        if len(batches) == 2:
            told.set()  # while the first batch may still be at work
        return batches[-1]

    monkeypatch.setattr("workers.clicks._BATCH", 3)
    monkeypatch.setattr(consumer._intake, "read", reads)
    _run_apart(consumer, told)

    written = sum(map(len, batches))
    assert written >= 6
    assert paying.rows("select count(*) from click") == [(written,)]
    assert valkey.xlen(KEY) == len(clicks) - written
    assert valkey.xinfo_consumers(KEY, GROUP) == []


def test_while_the_database_is_away_nothing_is_acknowledged(monkeypatch, paying, ben, valkey):
    click = build_click(paying, ben)
    send(click)
    told, tries = threading.Event(), []

    def away(*_, **__):
        tries.append(1)
        raise db.UNAVAILABLE[0]("away")

    monkeypatch.setattr("workers.clicks.clicks.write", away)
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)
    loop = threading.Thread(target=_run_apart, args=(consumer, told), daemon=True)
    loop.start()
    _until(lambda: len(tries) >= 2)
    in_hand = valkey.xpending(KEY, GROUP)["pending"]
    monkeypatch.undo()
    _until(lambda: valkey.xlen(KEY) == 0)
    told.set()
    loop.join(60)

    assert in_hand == 1
    assert list_outcomes(paying, [click]) == ["earned"]


def test_an_organization_that_is_held_up_holds_up_nobody_else(paying, rival, ben, valkey):
    rival.program()
    own, foreign = build_click(paying, ben), build_click(rival, rival.affiliate("ann"))
    send(own, foreign)
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)

    with hold_click_lock(paying):
        consumer.run_once()
        assert list_outcomes(rival, [foreign]) == ["recorded"]
        assert valkey.xpending(KEY, GROUP)["pending"] == 1

    consumer.run_once(idle_ms=0)
    assert list_outcomes(paying, [own]) == ["earned"]
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
def _more_take_too_long(brand, most):
    """Let the database give up on writing more of a brand's clicks at once."""
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute(_TAKES_TOO_LONG.format(org=brand.id, most=most))
        yield
        cursor.execute("drop function take_too_long cascade")


def test_a_batch_that_takes_the_database_too_long_is_written_in_smaller_ones(paying, ben, valkey):
    sent = [build_click(paying, ben) for _ in range(450)]
    send(*sent)

    with _more_take_too_long(paying, most=120):
        consume_stream()

    assert set(list_outcomes(paying, sent)) == {"earned"}
    assert sum(cents for _, cents, _, _ in list_aggregates(paying)) == 4_500
    assert valkey.xlen(KEY) == 0


def test_a_few_clicks_that_take_the_database_too_long_stay_in_hand(paying, rival, ben, valkey):
    rival.program()
    own, foreign = [build_click(paying, ben) for _ in range(2)], build_click(rival, rival.affiliate("ann"))
    send(*own, foreign)
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)

    with _more_take_too_long(paying, most=0):
        consumer.run_once()
        assert list_outcomes(rival, [foreign]) == ["recorded"]
        assert valkey.xpending(KEY, GROUP)["pending"] == 2

    consumer.run_once(idle_ms=0)
    assert list_outcomes(paying, own) == ["earned"] * 2


def _run_apart(consumer, told):
    try:
        consumer.run(told.is_set)
    finally:
        db.db.drop_connection()


def _until(is_so, within_s=60):
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_backlog_is_what_nobody_has_written(paying, ben, valkey):
    assert stream_reader.measure_backlog(valkey) == stream_reader.Backlog(0, 0)
    consume_stream()
    send(build_click(paying, ben), build_click(paying, ben))
    StreamReader(valkey, "busy").read(count=1, wait_ms=1)

    found = stream_reader.measure_backlog(valkey)

    assert (found.unread, found.pending) == (1, 1)


def test_the_metrics_page_shows_the_backlog_and_whether_it_is_kept(app, paying, ben):
    consume_stream()
    send(build_click(paying, ben))

    page = app.test_client().get("/metrics").get_data(as_text=True)

    assert 'finderfee_click_stream_entries{state="unread"} 1.0' in page
    assert 'finderfee_click_stream_entries{state="in_hand"} 0.0' in page
    assert "finderfee_click_stream_kept_on_disk 0.0" in page
    assert 'finderfee_clicks_written_total{kind="first"}' in page


def test_a_stream_that_is_away_is_waited_for(monkeypatch, paying, ben):
    told, tries = threading.Event(), []
    consumer = ClickConsumer(os.environ["REDIS_URL"], claim_s=60)

    def away(*_, **__):
        tries.append(1)
        raise redis.ConnectionError("away")

    monkeypatch.setattr(consumer._intake, "read", away)
    loop = threading.Thread(target=_run_apart, args=(consumer, told), daemon=True)
    loop.start()
    _until(lambda: len(tries) >= 2)
    click = build_click(paying, ben)
    send(click)
    monkeypatch.undo()
    _until(lambda: paying.rows("select count(*) from click") == [(1,)])
    told.set()
    loop.join(60)

    assert list_outcomes(paying, [click]) == ["earned"]
