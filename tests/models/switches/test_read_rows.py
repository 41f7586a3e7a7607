"""The storage of a page's rows (switch-over rules, "Jobs")."""

from datetime import UTC, datetime, timedelta

import pytest

from models import db
from models.switches.staging import read_rows, reading
from models.switches.staging.read_rows import ReadRow
from models.switches.staging.reading import ReadFigure
from tests.support.switches import reading_runs as runs
from tests.support.switches.small_source import create_account, play_small

_START = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def switch(app, brand, monkeypatch):
    with play_small(monkeypatch, create_account()):
        return runs.start(brand)


@pytest.fixture
def store(brand, switch):
    def store(*rows, minute=1, reading_at=_START, replace_since=None):
        with db.unit_of_work(brand.id):
            return read_rows.store(
                organization_id=brand.id,
                switch_id=switch.id,
                rows=rows,
                reading_at=reading_at,
                replace_since=replace_since,
                now=_START + timedelta(minutes=minute),
            )

    return store


def _row(source_id, *, collection="affiliates", **data):
    return ReadRow(collection, source_id, data)


def _mention(source_id, **data):
    return ReadRow("affiliates", source_id, data, is_mention=True)


def _addition(source_id, **data):
    return ReadRow("affiliates", source_id, data, is_addition=True)


def _list_stored(brand):
    return dict(brand.rows("select source_id, data from switch_row"))


def test_latest_content_of_a_row_counts(brand, store):
    store(_row("a", n=1), _row("a", n=2))
    assert _list_stored(brand) == {"a": {"n": 2}}
    store(_row("a", n=3), minute=2)
    assert _list_stored(brand) == {"a": {"n": 3}}


def test_rows_are_counted_once(store):
    assert store(_row("a"), _row("b"), _mention("m")).read == {"affiliates": 3}
    assert store(_row("a"), _row("m"), _mention("b"), minute=2).read == {"affiliates": 3}


def test_rows_that_no_list_brought_are_new(store):
    assert store(_row("a"), _mention("m")).new_rows == 1
    assert store(_row("a"), _row("m"), minute=2).new_rows == 1
    later = _START + timedelta(minutes=10)
    assert store(_row("a"), _row("c"), minute=11, reading_at=later).new_rows == 2


def test_mention_never_replaces_a_row(brand, store):
    store(_mention("a", n=0), _row("a", n=1), _mention("a", n=2))
    store(_mention("a", n=3), minute=2)
    assert _list_stored(brand) == {"a": {"n": 1}}


def test_row_replaces_a_mention(brand, store):
    store(_mention("a", n=0))
    store(_row("a", n=1), minute=2)
    assert brand.rows("select data, is_mention from switch_row") == [({"n": 1}, False)]


def test_addition_stays_when_its_row_comes_again(brand, store):
    store(_row("a", n=1), _addition("a", paid=True))
    assert _list_stored(brand) == {"a": {"n": 1, "paid": True}}
    store(_addition("a", more=1), _row("a", n=2), minute=2)
    assert _list_stored(brand) == {"a": {"n": 2, "paid": True, "more": 1}}


def test_addition_without_a_row_is_dropped(brand, store):
    assert store(_addition("a", paid=True)).read == {}
    assert _list_stored(brand) == {}


def test_rows_stored_until_a_time_keep_their_content(brand, store):
    store(_row("a", n=1), minute=1)
    store(_row("b", n=1), minute=5)
    store(_row("a", n=2), _row("b", n=2), minute=6, replace_since=_START + timedelta(minutes=1))
    assert _list_stored(brand) == {"a": {"n": 1}, "b": {"n": 2}}


def test_text_that_the_database_cannot_store_is_stored_without_it(brand, store):
    store(_row("a", name="A\x00nn", nested=[{"k\x00": "\x00"}]), _row("x" * 301, n=1), _row("", n=2))
    stored = _list_stored(brand)
    assert stored.pop("a") == {"name": "Ann", "nested": [{"k": ""}]}
    assert sorted(data["n"] for data in stored.values()) == [1, 2]


def test_rows_of_another_switch_are_apart(brand, rival, store, monkeypatch):
    with play_small(monkeypatch, create_account()):
        other = runs.start(rival)
    store(_row("a", n=1))
    with db.unit_of_work(rival.id):
        read_rows.store(
            organization_id=rival.id, switch_id=other.id, rows=[_row("a", n=2)], reading_at=_START, now=_START
        )
    assert (_list_stored(brand), _list_stored(rival)) == ({"a": {"n": 1}}, {"a": {"n": 2}})


def test_figures_are_replaced_by_the_latest(brand, switch):
    for value in (1, 2, 2**63):
        with db.unit_of_work(brand.id):
            figures = [ReadFigure("sales", "a", "", value), ReadFigure("sales", "b", "", 5)]
            reading.stage_figures(organization_id=brand.id, switch_id=switch.id, figures=figures)
    assert brand.rows("select subject, value from switch_figure order by 1") == [("a", 2), ("b", 5)]
