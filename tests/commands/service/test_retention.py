"""`flask retention`: how long each kind of rows is stored, how many are due, and deleting them now."""

from datetime import datetime

import pytest

from adapters import clock
from models import db
from pipelines import retention
from tests.support.rows.program_rows import insert_click, time_ago


@pytest.fixture
def ben(brand):
    brand.program()
    return brand.affiliate("ben")


def _read_status(flask):
    return {line["kind"]: line for line in flask.json("retention", "status")}


def test_status_shows_days_and_due_rows_of_every_kind(flask, brand, ben):
    flask("retention", "run")
    insert_click(brand, ben, occurred_at=time_ago(days=1))
    before = _read_status(flask)
    old = time_ago(days=120)
    for days in (100, 120):
        insert_click(brand, ben, occurred_at=time_ago(days=days))

    after = _read_status(flask)

    assert list(after) == list(retention.list_kinds())
    assert (after["clicks"]["days"], after["leads"]["days"]) == (90, 30)
    assert [after["clicks"][name] - before["clicks"][name] for name in ("due", "rows")] == [2, 2]
    assert datetime.fromisoformat(after["clicks"]["oldest"]) <= old
    assert after["clicks"]["counted_up_to"] == 1_000_000


def test_run_deletes_due_rows_and_status_shows_the_last_run(flask, brand, ben, drain):
    with db.any_org_work():
        retention.any_org_start(now=clock.now())
    drain("upkeep")
    for days in (100, 120):
        insert_click(brand, ben, occurred_at=time_ago(days=days))

    deleted = flask.json("retention", "run", "--kind", "clicks")

    assert deleted == {"clicks": 2}
    clicks = _read_status(flask)["clicks"]
    assert clicks["due"] == 0
    assert clicks["last_run"]["finished_at"] is not None


def test_status_is_printed_as_a_table(flask):
    code, output = flask("retention", "status")

    assert code == 0, output
    for text in ("dead_letters", "90 days", "due now"):
        assert text in output
    assert "rows expired" in flask("retention", "run")[1]


def test_unknown_kind_is_refused(flask):
    assert flask("retention", "run", "--kind", "conversions")[0] == 2
