"""`flask retention`: what is kept for how long, how much is due, and ending it now."""

from datetime import datetime

import pytest

from pipelines import retention
from tests.support.rows.program_rows import insert_click, time_ago


@pytest.fixture
def ben(brand):
    brand.program()
    return brand.affiliate("ben")


def _status(flask):
    return {line["kind"]: line for line in flask.json("retention", "status")}


def test_every_kind_is_shown_with_its_setting_and_what_is_due(flask, brand, ben):
    flask("retention", "run")
    insert_click(brand, ben, occurred_at=time_ago(days=1))
    before = _status(flask)
    old = time_ago(days=120)
    for days in (100, 120):
        insert_click(brand, ben, occurred_at=time_ago(days=days))

    after = _status(flask)

    assert list(after) == list(retention.list_kinds())
    assert (after["clicks"]["days"], after["leads"]["days"]) == (90, 30)
    assert [after["clicks"][name] - before["clicks"][name] for name in ("due", "rows")] == [2, 2]
    assert datetime.fromisoformat(after["clicks"]["oldest"]) <= old
    assert after["clicks"]["counted_up_to"] == 1_000_000


def test_what_is_due_ends_when_somebody_says_so_and_the_last_run_is_shown(flask, brand, ben, drain):
    from adapters import clock
    from models import db

    with db.any_org_work():
        retention.any_org_start(now=clock.now())
    drain("upkeep")
    for days in (100, 120):
        insert_click(brand, ben, occurred_at=time_ago(days=days))

    ended = flask.json("retention", "run", "--kind", "clicks")

    assert ended == {"clicks": 2}
    shown = _status(flask)["clicks"]
    assert shown["due"] == 0
    assert shown["last_run"]["finished_at"] is not None


def test_a_person_reads_a_table(flask):
    code, shown = flask("retention", "status")

    assert code == 0, shown
    for text in ("dead_letters", "90 days", "due now"):
        assert text in shown
    assert "rows expired" in flask("retention", "run")[1]


def test_an_unknown_kind_is_refused(flask):
    assert flask("retention", "run", "--kind", "conversions")[0] == 2
