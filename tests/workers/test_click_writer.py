"""The process that writes clicks: from the stream to the database, then off the stream; what it does with poison."""

import json
import os
import threading
import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import redis

from adapters import broker, clock
from adapters.clicks import intake
from adapters.clicks.intake import Intake
from adapters.clicks.stream import GROUP, KEY
from domain.clicks import raw_click
from models import db, ids
from pipelines import upkeep
from tests.support.rows.click_rows import aggregates, consume, outcomes, raw, send, turn_taken
from workers.clicks import Consumer


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
    own, foreign = raw(paying, ben), raw(rival, rival.affiliate("ann"))
    send(own, foreign)

    assert consume() == 2

    assert outcomes(paying, [own]) == ["earned"]
    assert outcomes(rival, [foreign]) == ["recorded"]
    assert valkey.xlen(KEY) == 0
    assert valkey.xpending(KEY, GROUP)["pending"] == 0


def test_what_was_on_the_stream_before_the_first_consumer_is_written(paying, ben, valkey):
    click = raw(paying, ben)
    send(click)
    assert not [group for group in valkey.xinfo_groups(KEY) if group["name"] == GROUP.encode()]

    consume()

    assert outcomes(paying, [click]) == ["earned"]


def test_a_stream_that_lost_its_group_gets_one_again(paying, ben, valkey):
    consume()
    valkey.delete(KEY)
    click = raw(paying, ben)
    send(click)

    consume()

    assert outcomes(paying, [click]) == ["earned"]


def test_what_another_consumer_left_lying_is_written_after_a_while(paying, ben, valkey):
    click = raw(paying, ben)
    consume()
    send(click)
    assert len(Intake(valkey, "dead").read(count=10, wait_ms=1)) == 1

    consumer = Consumer(os.environ["REDIS_URL"], claim_s=60)
    assert consumer.run_once() == 0
    assert consumer.run_once(idle_ms=0) == 1

    assert outcomes(paying, [click]) == ["earned"]
    assert valkey.xlen(KEY) == 0


def test_an_entry_that_comes_again_after_its_commit_changes_nothing(paying, ben):
    click = raw(paying, ben)
    send(click, click)

    consume()
    send(click)
    consume()

    assert [row[1] for row in aggregates(paying)] == [10]
    assert paying.rows("select count(*) from click") == [(1,)]


_UNREADABLE = {
    "no JSON": b"\xff\x00nonsense",
    "another shape": b'{"id": "x"}',
    "nothing": b"",
    "deep": b"[" * 100_000,
    "huge": b"x" * 1_000_000,
}


@pytest.mark.parametrize("sent", _UNREADABLE.values(), ids=_UNREADABLE)
def test_what_cannot_be_read_becomes_a_dead_letter_and_the_stream_goes_on(flask, paying, ben, valkey, sent):
    click = raw(paying, ben)
    send(sent, click)

    assert consume() == 2

    assert outcomes(paying, [click]) == ["earned"]
    assert valkey.xlen(KEY) == 0
    (letter,) = flask.json("jobs", "dead", "--queue", "tracking")
    assert (letter["name"], letter["organization"]) == ("click.unreadable", None)
    assert len(letter["arguments"]["entry"]) <= 32_768
    assert "Error" in flask.json("jobs", "show", str(letter["id"]))["error"]


# Each makes the whole statement fail that it is a part of.
_POISON = {
    "an affiliate that is not there": {"affiliate_id": str(uuid4())},
    "an affiliate that is no id": {"affiliate_id": "ben"},
    "a program of nobody": {"program_id": str(uuid4())},
    "NUL": {"slug": "a\x00b"},
    "half a character": {"sub_id": "\ud800"},
    "an id that is none": {"id": "17"},
    "a hash that is none": {"visitor": "zz"},
    "a network that is none": {"network": "0"},
    "a time that is none": {"occurred_at": "yesterday"},
    "a time that no calendar has": {"occurred_at": "2026-02-30T00:00:00+00:00"},
}


def _spoilt(click, fields):
    """Return the entry of a click with other fields, which `to_bytes` might refuse to write."""
    return json.dumps(json.loads(raw_click.to_bytes(click)) | fields).encode()


@pytest.mark.parametrize("fields", _POISON.values(), ids=_POISON)
def test_a_click_that_cannot_be_written_alone_becomes_a_dead_letter(flask, paying, ben, fields):
    good = [raw(paying, ben) for _ in range(6)]
    poison = _spoilt(raw(paying, ben), fields)
    send(*good[:3], poison, *good[3:])

    assert consume() == 7

    assert outcomes(paying, good) == ["earned"] * 6
    (letter,) = flask.json("jobs", "dead", "--queue", "tracking")
    assert (letter["name"], letter["organization"]) == ("click.unreadable", str(paying.id))


@pytest.mark.parametrize("organization_id", ["00000000-0000-4000-8000-000000000000", "nobody"])
def test_a_click_of_an_organization_that_is_gone_is_a_dead_letter(flask, paying, ben, organization_id):
    good = raw(paying, ben)
    send(raw(paying, ben, organization_id=organization_id), good)

    consume()

    assert outcomes(paying, [good]) == ["earned"]
    assert len(flask.json("jobs", "dead", "--queue", "tracking")) == 1


def test_a_dead_letter_that_is_played_again_is_written_once_its_cause_is_gone(flask, paying, drain):
    affiliate_id = ids.new_id()
    click = raw(paying, affiliate_id)
    send(click)
    consume()
    (letter,) = flask.json("jobs", "dead")
    paying.affiliate("ben")
    paying.rows("delete from tracking_link returning id")
    paying.rows("update affiliate set id = %s returning id", affiliate_id)

    flask.json("jobs", "replay", str(letter["id"]))
    drain()

    assert outcomes(paying, [click]) == ["earned"]
    assert flask.json("jobs", "dead") == []


def test_an_unreadable_one_that_is_played_again_is_dead_again_with_the_reason(flask, drain):
    send(b"nonsense")
    consume()
    (letter,) = flask.json("jobs", "dead")

    flask.json("jobs", "replay", str(letter["id"]))
    drain()

    (again,) = flask.json("jobs", "dead")
    assert "no click that can be written" in flask.json("jobs", "show", str(again["id"]))["error"]
    flask.json("jobs", "discard", str(letter["id"]), "--why", "nonsense")
    assert flask.json("jobs", "dead") == []


def test_the_loop_ends_when_told_and_leaves_no_consumer_behind(paying, ben, valkey):
    told = threading.Event()
    consumer = Consumer(os.environ["REDIS_URL"], claim_s=60)
    loop = threading.Thread(target=_run_apart, args=(consumer, told), daemon=True)
    loop.start()
    click = raw(paying, ben)
    send(click)
    _until(lambda: paying.rows("select count(*) from click") == [(1,)])

    told.set()
    loop.join(10)

    assert not loop.is_alive()
    assert valkey.xinfo_consumers(KEY, GROUP) == []


def test_while_the_database_is_away_nothing_is_acknowledged(monkeypatch, paying, ben, valkey):
    click = raw(paying, ben)
    send(click)
    told, tries = threading.Event(), []

    def away(*_, **__):
        tries.append(1)
        raise db.OperationalError("away")

    monkeypatch.setattr("workers.clicks.clicks.write", away)
    consumer = Consumer(os.environ["REDIS_URL"], claim_s=60)
    loop = threading.Thread(target=_run_apart, args=(consumer, told), daemon=True)
    loop.start()
    _until(lambda: len(tries) >= 2)
    in_hand = valkey.xpending(KEY, GROUP)["pending"]
    monkeypatch.undo()
    _until(lambda: valkey.xlen(KEY) == 0)
    told.set()
    loop.join(10)

    assert in_hand == 1
    assert outcomes(paying, [click]) == ["earned"]


def test_an_organization_that_is_held_up_holds_up_nobody_else(paying, rival, ben, valkey):
    rival.program()
    own, foreign = raw(paying, ben), raw(rival, rival.affiliate("ann"))
    send(own, foreign)
    consumer = Consumer(os.environ["REDIS_URL"], claim_s=60)

    with turn_taken(paying):
        consumer.run_once()
        assert outcomes(rival, [foreign]) == ["recorded"]
        assert valkey.xpending(KEY, GROUP)["pending"] == 1

    consumer.run_once(idle_ms=0)
    assert outcomes(paying, [own]) == ["earned"]
    assert valkey.xlen(KEY) == 0


def _run_apart(consumer, told):
    try:
        consumer.run(told.is_set)
    finally:
        db.db.drop_connection()


def _until(is_so, within_s=15):
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_backlog_is_what_nobody_has_written(paying, ben, valkey):
    assert intake.backlog(valkey) == intake.Backlog(0, 0)
    consume()
    send(raw(paying, ben), raw(paying, ben))
    Intake(valkey, "busy").read(count=1, wait_ms=1)

    found = intake.backlog(valkey)

    assert (found.unread, found.in_hand) == (1, 1)


def test_the_metrics_page_shows_the_backlog_and_whether_it_is_kept(app, paying, ben):
    consume()
    send(raw(paying, ben))

    page = app.test_client().get("/metrics").get_data(as_text=True)

    assert 'finderfee_click_stream_entries{state="unread"} 1.0' in page
    assert 'finderfee_click_stream_entries{state="in_hand"} 0.0' in page
    assert "finderfee_click_stream_kept_on_disk 0.0" in page
    assert 'finderfee_clicks_written_total{kind="first"}' in page


def test_after_ninety_days_nobody_knows_who_clicked(paying, ben):
    now = clock.now()
    old, young = raw(paying, ben, at=now - timedelta(days=91)), raw(paying, ben, at=now - timedelta(days=89))
    send(old, young)
    consume()

    with db.any_org_work():
        upkeep.forget_click_hashes(now=now)

    rows = dict(paying.rows("select id::text, visitor_hash is null and network_hash is null from click"))
    assert rows == {old.id: True, young.id: False}


def test_after_ninety_days_a_dead_letter_says_no_more_who_clicked(paying):
    click = raw(paying, ids.new_id(), visitor_id='v"1\\')
    send(click, b"nonsense")
    consume()
    with db.any_org_work():
        upkeep.forget_click_hashes(now=clock.now() + timedelta(days=89))
    young = _entries()

    for _ in range(2):
        with db.any_org_work():
            upkeep.forget_click_hashes(now=clock.now() + timedelta(days=91))

    old = raw_click.from_bytes(_entries()[0].encode())
    assert young[0].encode() == raw_click.to_bytes(click)
    assert old.visitor_id is None
    assert (len(old.visitor), len(old.network)) == (32, 32)
    assert not {old.visitor, old.network} & {click.visitor, click.network}
    assert (old.id, old.agent, old.occurred_at) == (click.id, click.agent, click.occurred_at)
    assert _entries()[1] == "nonsense"


def _entries():
    with db.any_org_work():
        return [
            entry for (entry,) in db.db.run("select args ->> 'entry' from job order by length(args ->> 'entry') desc")
        ]


def test_a_dead_letter_has_all_of_the_longest_click(paying):
    names = ["\U0001f600" * 61 + f"{number:03}" for number in range(raw_click.MAX_QUERY_NAMES)]
    click = raw(paying, ids.new_id(), query_names=names, agent="é" * raw_click.MAX_AGENT_CHARS, visitor_id="é" * 128)
    send(click)

    consume()

    assert _entries()[0].encode() == raw_click.to_bytes(click)


def test_forgetting_goes_in_portions(monkeypatch, paying, ben, drain):
    monkeypatch.setattr(upkeep, "_AT_ONCE", 2)
    send(*[raw(paying, ben, at=datetime(2020, 1, 1, tzinfo=UTC)) for _ in range(5)])
    consume()

    with db.any_org_work():
        upkeep.forget_click_hashes(now=clock.now())
    drain()

    assert paying.rows("select count(*) from click where visitor_hash is not null") == [(0,)]


def test_a_stream_that_is_away_is_waited_for(monkeypatch, paying, ben):
    told, tries = threading.Event(), []
    consumer = Consumer(os.environ["REDIS_URL"], claim_s=60)

    def away(*_, **__):
        tries.append(1)
        raise redis.ConnectionError("away")

    monkeypatch.setattr(consumer._intake, "read", away)
    loop = threading.Thread(target=_run_apart, args=(consumer, told), daemon=True)
    loop.start()
    _until(lambda: len(tries) >= 2)
    click = raw(paying, ben)
    send(click)
    monkeypatch.undo()
    _until(lambda: paying.rows("select count(*) from click") == [(1,)])
    told.set()
    loop.join(10)

    assert outcomes(paying, [click]) == ["earned"]
