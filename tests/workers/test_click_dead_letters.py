"""Unwritable clicks become dead letters; visitor hashes are deleted, also in dead letters."""

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
def click_brand(brand):
    brand.program(click_reward_cents=10)
    return brand


@pytest.fixture
def ben(click_brand):
    return click_brand.affiliate("ben")


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


@pytest.mark.parametrize("entry", _UNREADABLE.values(), ids=_UNREADABLE)
def test_unreadable_entry_becomes_a_dead_letter(flask, click_brand, ben, valkey, entry):
    click = build_click(click_brand, ben)
    send(entry, click, age=timedelta(minutes=61))

    assert consume_stream() == 2

    assert list_outcomes(click_brand, [click]) == ["earned"]
    assert valkey.xlen(KEY) == 0
    (letter,) = flask.json("jobs", "dead", "--queue", "tracking")
    assert (letter["name"], letter["organization"]) == ("click.unreadable", None)
    assert len(letter["arguments"]["entry"]) <= 32_768
    assert "Error" in flask.json("jobs", "show", str(letter["id"]))["error"]


# Each makes its whole statement fail.
_POISON = {
    "an affiliate that is not there": {"affiliate_id": str(uuid4())},
    "a program of nobody": {"program_id": str(uuid4())},
    "NUL": {"slug": "a\x00b"},
}
# So does each of these, but a newer release may read them: it may write ids, hashes and times in another form.
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


def _serialize_with(click, fields):
    """Return the entry of a click with other fields, which `to_bytes` might refuse to write."""
    return json.dumps(json.loads(serialization.to_bytes(click)) | fields).encode()


@pytest.mark.parametrize("fields", _POISON.values(), ids=_POISON)
def test_unwritable_click_becomes_a_dead_letter(flask, click_brand, ben, fields):
    good = [build_click(click_brand, ben) for _ in range(6)]
    poison = _serialize_with(build_click(click_brand, ben), fields)
    send(*good[:3], poison, *good[3:])

    assert consume_stream() == 7

    assert list_outcomes(click_brand, good) == ["earned"] * 6
    (letter,) = flask.json("jobs", "dead", "--queue", "tracking")
    assert (letter["name"], letter["organization"]) == ("click.unreadable", str(click_brand.id))


@pytest.mark.parametrize("fields", _OTHER_FORMS.values(), ids=_OTHER_FORMS)
@pytest.mark.parametrize("number", [1, 5])
def test_values_of_an_unknown_form_wait_an_hour_without_delaying_others(
    flask, click_brand, ben, valkey, *, fields, number
):
    good = [build_click(click_brand, ben) for _ in range(6)]
    unreadable = [_serialize_with(build_click(click_brand, ben), fields) for _ in range(number)]
    send(*good[:3], *unreadable, *good[3:], age=timedelta(minutes=59))

    consume_stream()

    assert list_outcomes(click_brand, good) == ["earned"] * 6
    assert [fields[FIELD] for _, fields in valkey.xrange(KEY)] == unreadable
    assert flask.json("jobs", "dead") == []


@pytest.mark.parametrize("fields", _OTHER_FORMS.values(), ids=_OTHER_FORMS)
def test_value_of_an_unknown_form_becomes_a_dead_letter_after_an_hour(flask, click_brand, ben, valkey, fields):
    good = [build_click(click_brand, ben) for _ in range(3)]
    send(good[0], _serialize_with(build_click(click_brand, ben), fields), *good[1:], age=timedelta(minutes=61))

    consume_stream()

    assert list_outcomes(click_brand, good) == ["earned"] * 3
    assert valkey.xlen(KEY) == 0
    assert [letter["name"] for letter in flask.json("jobs", "dead", "--queue", "tracking")] == ["click.unreadable"]


def test_click_of_a_deleted_tenant_is_a_dead_letter(flask, click_brand, ben):
    good = build_click(click_brand, ben)
    send(build_click(click_brand, ben, organization_id="00000000-0000-4000-8000-000000000000"), good)

    consume_stream()

    assert list_outcomes(click_brand, [good]) == ["earned"]
    assert len(flask.json("jobs", "dead", "--queue", "tracking")) == 1


def test_replayed_dead_letter_is_written_once_fixed(flask, click_brand, drain):
    affiliate_id = ids.new_id()
    click = build_click(click_brand, affiliate_id)
    send(click)
    consume_stream()
    (letter,) = flask.json("jobs", "dead")
    click_brand.affiliate("ben")
    click_brand.rows("delete from tracking_link returning id")
    click_brand.rows("delete from affiliate_total returning affiliate_id")
    click_brand.rows("update affiliate set id = %s returning id", affiliate_id)

    flask.json("jobs", "replay", str(letter["id"]))
    drain()

    assert list_outcomes(click_brand, [click]) == ["earned"]
    assert flask.json("jobs", "dead") == []


def test_replayed_unreadable_entry_is_dead_again_with_the_reason(flask, drain):
    send(b"nonsense", age=timedelta(minutes=61))
    consume_stream()
    (letter,) = flask.json("jobs", "dead")

    flask.json("jobs", "replay", str(letter["id"]))
    drain()

    (repeated,) = flask.json("jobs", "dead")
    assert "this click cannot be written" in flask.json("jobs", "show", str(repeated["id"]))["error"]
    flask.json("jobs", "discard", str(letter["id"]), "--why", "nonsense")
    assert flask.json("jobs", "dead") == []


def test_visitor_hashes_are_deleted_after_ninety_days(click_brand, ben):
    now = clock.now()
    old_click, young_click = (
        build_click(click_brand, ben, at=now - timedelta(days=91)),
        build_click(click_brand, ben, at=now - timedelta(days=89)),
    )
    send(old_click, young_click)
    consume_stream()

    with db.any_org_work():
        upkeep.delete_click_hashes(now=now)

    rows = dict(click_brand.rows("select id::text, visitor_hash is null and network_hash is null from click"))
    assert rows == {old_click.id: True, young_click.id: False}


def test_visitor_hashes_in_dead_letters_are_replaced_after_ninety_days(click_brand):
    click = build_click(click_brand, ids.new_id(), visitor_id='v"1\\')
    send(click, b"nonsense", age=timedelta(minutes=61))
    consume_stream()
    with db.any_org_work():
        upkeep.delete_click_hashes(now=clock.now() + timedelta(days=89))
    young_click = _list_entries()

    for _ in range(2):
        with db.any_org_work():
            upkeep.delete_click_hashes(now=clock.now() + timedelta(days=91))

    old_click = serialization.from_bytes(_list_entries()[0].encode())
    assert young_click[0].encode() == serialization.to_bytes(click)
    assert old_click.visitor_id is None
    assert (len(old_click.visitor), len(old_click.network)) == (32, 32)
    assert not {old_click.visitor, old_click.network} & {click.visitor, click.network}
    assert (old_click.id, old_click.agent, old_click.occurred_at) == (click.id, click.agent, click.occurred_at)
    assert _list_entries()[1] == "nonsense"


def _list_entries():
    with db.any_org_work():
        return [
            entry for (entry,) in db.db.run("select args ->> 'entry' from job order by length(args ->> 'entry') desc")
        ]


def test_dead_letter_holds_the_longest_click_completely(click_brand):
    names = ["\U0001f600" * 61 + f"{number:03}" for number in range(raw_click.MAX_QUERY_NAMES)]
    click = build_click(
        click_brand, ids.new_id(), query_names=names, agent="é" * raw_click.MAX_AGENT_CHARS, visitor_id="é" * 128
    )
    send(click)

    consume_stream()

    assert _list_entries()[0].encode() == serialization.to_bytes(click)


def test_hashes_are_deleted_in_batches(monkeypatch, click_brand, ben, drain):
    monkeypatch.setattr(upkeep, "_BATCH", 2)
    send(*[build_click(click_brand, ben, at=datetime(2020, 1, 1, tzinfo=UTC)) for _ in range(5)])
    consume_stream()

    with db.any_org_work():
        upkeep.delete_click_hashes(now=clock.now())
    drain()

    assert click_brand.rows("select count(*) from click where visitor_hash is not null") == [(0,)]
