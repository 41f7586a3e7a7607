"""Clicks that cannot be written become dead letters; who made a click is forgotten, in dead letters too."""

import json
import os
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from adapters import broker, clock
from adapters.clicks import serialization
from adapters.clicks.stream import FIELD, KEY
from domain.clicks import raw_click
from models import db, ids
from pipelines import upkeep
from tests.support.rows.click_rows import build_click, consume_stream, list_outcomes, send


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


_UNREADABLE = {
    "no JSON": b"\xff\x00nonsense",
    "another shape": b'{"id": "x"}',
    "nothing": b"",
    "half a character": b'{"id": "\\ud800"}',
    "deep": b"[" * 100_000,
    "huge": b"x" * 1_000_000,
}


@pytest.mark.parametrize("sent", _UNREADABLE.values(), ids=_UNREADABLE)
def test_what_cannot_be_read_becomes_a_dead_letter_and_the_stream_goes_on(flask, paying, ben, valkey, sent):
    click = build_click(paying, ben)
    send(sent, click, age=timedelta(minutes=61))

    assert consume_stream() == 2

    assert list_outcomes(paying, [click]) == ["earned"]
    assert valkey.xlen(KEY) == 0
    (letter,) = flask.json("jobs", "dead", "--queue", "tracking")
    assert (letter["name"], letter["organization"]) == ("click.unreadable", None)
    assert len(letter["arguments"]["entry"]) <= 32_768
    assert "Error" in flask.json("jobs", "show", str(letter["id"]))["error"]


# Each makes the whole statement fail that it is a part of.
_POISON = {
    "an affiliate that is not there": {"affiliate_id": str(uuid4())},
    "a program of nobody": {"program_id": str(uuid4())},
    "NUL": {"slug": "a\x00b"},
}
# So does each of these, and a newer release may read it: it may write ids, hashes and times in another form.
_OTHER_FORMS = {
    "an affiliate that is no id": {"affiliate_id": "ben"},
    "a program that is no id": {"program_id": "p:17"},
    "an organization that is no id": {"organization_id": "o:17"},
    "an id that is none": {"id": "17"},
    "a hash that is none": {"visitor": "zz"},
    "a network that is none": {"network": "0"},
    "a time that is none": {"occurred_at": "yesterday"},
    "a time that no calendar has": {"occurred_at": "2026-02-30T00:00:00+00:00"},
}


def _spoilt(click, fields):
    """Return the entry of a click with other fields, which `to_bytes` might refuse to write."""
    return json.dumps(json.loads(serialization.to_bytes(click)) | fields).encode()


@pytest.mark.parametrize("fields", _POISON.values(), ids=_POISON)
def test_a_click_that_cannot_be_written_alone_becomes_a_dead_letter(flask, paying, ben, fields):
    good = [build_click(paying, ben) for _ in range(6)]
    poison = _spoilt(build_click(paying, ben), fields)
    send(*good[:3], poison, *good[3:])

    assert consume_stream() == 7

    assert list_outcomes(paying, good) == ["earned"] * 6
    (letter,) = flask.json("jobs", "dead", "--queue", "tracking")
    assert (letter["name"], letter["organization"]) == ("click.unreadable", str(paying.id))


@pytest.mark.parametrize("fields", _OTHER_FORMS.values(), ids=_OTHER_FORMS)
@pytest.mark.parametrize("number", [1, 5])
def test_values_in_another_form_wait_for_an_hour_and_hold_up_nothing(flask, paying, ben, valkey, *, fields, number):
    good = [build_click(paying, ben) for _ in range(6)]
    waiting = [_spoilt(build_click(paying, ben), fields) for _ in range(number)]
    send(*good[:3], *waiting, *good[3:], age=timedelta(minutes=59))

    consume_stream()

    assert list_outcomes(paying, good) == ["earned"] * 6
    assert [fields[FIELD] for _, fields in valkey.xrange(KEY)] == waiting
    assert flask.json("jobs", "dead") == []


@pytest.mark.parametrize("fields", _OTHER_FORMS.values(), ids=_OTHER_FORMS)
def test_value_in_another_form_is_a_failed_job_after_an_hour(flask, paying, ben, valkey, fields):
    good = [build_click(paying, ben) for _ in range(3)]
    send(good[0], _spoilt(build_click(paying, ben), fields), *good[1:], age=timedelta(minutes=61))

    consume_stream()

    assert list_outcomes(paying, good) == ["earned"] * 3
    assert valkey.xlen(KEY) == 0
    assert [letter["name"] for letter in flask.json("jobs", "dead", "--queue", "tracking")] == ["click.unreadable"]


def test_click_of_an_organization_that_is_gone_is_a_failed_job(flask, paying, ben):
    good = build_click(paying, ben)
    send(build_click(paying, ben, organization_id="00000000-0000-4000-8000-000000000000"), good)

    consume_stream()

    assert list_outcomes(paying, [good]) == ["earned"]
    assert len(flask.json("jobs", "dead", "--queue", "tracking")) == 1


def test_a_dead_letter_that_is_played_again_is_written_once_its_cause_is_gone(flask, paying, drain):
    affiliate_id = ids.new_id()
    click = build_click(paying, affiliate_id)
    send(click)
    consume_stream()
    (letter,) = flask.json("jobs", "dead")
    paying.affiliate("ben")
    paying.rows("delete from tracking_link returning id")
    paying.rows("update affiliate set id = %s returning id", affiliate_id)

    flask.json("jobs", "replay", str(letter["id"]))
    drain()

    assert list_outcomes(paying, [click]) == ["earned"]
    assert flask.json("jobs", "dead") == []


def test_an_unreadable_one_that_is_played_again_is_dead_again_with_the_reason(flask, drain):
    send(b"nonsense", age=timedelta(minutes=61))
    consume_stream()
    (letter,) = flask.json("jobs", "dead")

    flask.json("jobs", "replay", str(letter["id"]))
    drain()

    (again,) = flask.json("jobs", "dead")
    assert "this click cannot be written" in flask.json("jobs", "show", str(again["id"]))["error"]
    flask.json("jobs", "discard", str(letter["id"]), "--why", "nonsense")
    assert flask.json("jobs", "dead") == []


def test_after_ninety_days_nobody_knows_who_clicked(paying, ben):
    now = clock.now()
    old, young = (
        build_click(paying, ben, at=now - timedelta(days=91)),
        build_click(paying, ben, at=now - timedelta(days=89)),
    )
    send(old, young)
    consume_stream()

    with db.any_org_work():
        upkeep.delete_click_hashes(now=now)

    rows = dict(paying.rows("select id::text, visitor_hash is null and network_hash is null from click"))
    assert rows == {old.id: True, young.id: False}


def test_after_ninety_days_a_dead_letter_says_no_more_who_clicked(paying):
    click = build_click(paying, ids.new_id(), visitor_id='v"1\\')
    send(click, b"nonsense", age=timedelta(minutes=61))
    consume_stream()
    with db.any_org_work():
        upkeep.delete_click_hashes(now=clock.now() + timedelta(days=89))
    young = _entries()

    for _ in range(2):
        with db.any_org_work():
            upkeep.delete_click_hashes(now=clock.now() + timedelta(days=91))

    old = serialization.from_bytes(_entries()[0].encode())
    assert young[0].encode() == serialization.to_bytes(click)
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
    click = build_click(
        paying, ids.new_id(), query_names=names, agent="é" * raw_click.MAX_AGENT_CHARS, visitor_id="é" * 128
    )
    send(click)

    consume_stream()

    assert _entries()[0].encode() == serialization.to_bytes(click)


def test_forgetting_goes_in_portions(monkeypatch, paying, ben, drain):
    monkeypatch.setattr(upkeep, "_BATCH", 2)
    send(*[build_click(paying, ben, at=datetime(2020, 1, 1, tzinfo=UTC)) for _ in range(5)])
    consume_stream()

    with db.any_org_work():
        upkeep.delete_click_hashes(now=clock.now())
    drain()

    assert paying.rows("select count(*) from click where visitor_hash is not null") == [(0,)]
