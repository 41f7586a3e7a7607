"""`flask retention`: what is kept for how long, how much is due, and ending it now."""

import json
from datetime import datetime

import pytest

from pipelines import retention
from tests.support.rows.program_rows import ago, click


@pytest.fixture
def run(app):
    def invoke(*arguments):
        return app.test_cli_runner().invoke(args=["retention", *arguments])

    return invoke


@pytest.fixture
def ben(brand):
    brand.program()
    return brand.affiliate("ben")


def _status(run):
    return {line["kind"]: line for line in json.loads(run("status", "--json").output)}


def test_every_kind_is_shown_with_its_setting_and_what_is_due(run, brand, ben):
    run("run")
    click(brand, ben, occurred_at=ago(days=1))
    before = _status(run)
    old = ago(days=120)
    for days in (100, 120):
        click(brand, ben, occurred_at=ago(days=days))

    after = _status(run)

    assert list(after) == list(retention.kinds())
    assert (after["clicks"]["days"], after["leads"]["days"]) == (90, 30)
    assert [after["clicks"][name] - before["clicks"][name] for name in ("due", "rows")] == [2, 2]
    assert datetime.fromisoformat(after["clicks"]["oldest"]) <= old
    assert after["clicks"]["counted_up_to"] == 1_000_000


def test_what_is_due_ends_when_somebody_says_so_and_the_last_run_is_shown(run, brand, ben, drain):
    from adapters import clock
    from models import db

    with db.any_org_work():
        retention.any_org_start(now=clock.now())
    drain("upkeep")
    for days in (100, 120):
        click(brand, ben, occurred_at=ago(days=days))

    ended = json.loads(run("run", "--kind", "clicks", "--json").output)

    assert ended == {"clicks": 2}
    shown = _status(run)["clicks"]
    assert shown["due"] == 0
    assert shown["last_run"]["finished_at"] is not None


def test_a_person_reads_a_table(run, app):
    shown = run("status")

    assert shown.exit_code == 0, shown.output
    for text in ("dead_letters", "90 days", "due now"):
        assert text in shown.output
    assert "rows ended" in run("run").output


def test_a_kind_that_is_none_is_refused(run, app):
    assert run("run", "--kind", "conversions").exit_code == 2
