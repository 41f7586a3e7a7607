"""`flask jobs discard` by id and by filter: it shows the losses first and requires a reason."""

import pytest

from commands.service import discarding
from domain import jobs
from models import db
from tests.support.outside.console import list_audit_entries, stage_failed_job


def _list_job_ids():
    with db.any_org_work():
        return [number for (number,) in db.db.run("select id from job order by id")]


def test_discard_by_filter_shows_kinds_first_and_needs_yes(flask, brand, rival):
    first, second = stage_failed_job(brand), stage_failed_job(brand)
    refund, theirs = stage_failed_job(brand, job=jobs.REFUND_CASCADE), stage_failed_job(rival)
    filters = ["--org", str(brand.id), "--name", "sale.settle", "--error", "LOOKUPERROR"]

    planned = flask.json("jobs", "discard", *filters, "--dry-run")
    refused, output = flask("jobs", "discard", *filters, "--why", "a test shop")
    remaining = _list_job_ids()
    discarded = flask.json("jobs", "discard", *filters, "--why", f"a test shop {brand.id}", "--yes")

    assert (planned["count"], planned["would_discard"], planned["discarded"]) == (2, [first, second], [])
    assert [(kind["name"], kind["count"]) for kind in planned["kinds"]] == [("sale.settle", 2)]
    assert (refused, remaining) == (2, [first, second, refund, theirs])
    assert "an accepted sale that credits no one" in output
    assert "2 dead letters would be deleted for good" in output
    assert discarded["discarded"] == [first, second]
    assert _list_job_ids() == [refund, theirs]
    for number in (first, second):
        ((actor, _, organization_id, after),) = list_audit_entries("job.discarded", f"[{number}]")
        assert (actor, organization_id, after["why"]) == ("operator", brand.id, f"a test shop {brand.id}")


def test_discard_by_filter_sums_money_per_kind_and_currency(flask, brand):
    brand.program()
    brand.affiliate("ben")
    for amount, currency in ((5_000, "USD"), (700, "USD"), (300, "EUR")):
        brand.sale(externalEventId=f"order-{amount}", amountCents=amount, currency=currency)
    with db.any_org_work():
        db.db.run("update job set failed_at = now() where name = 'sale.settle' returning 1")

    ((kind),) = flask.json("jobs", "discard", "--queue", "sales", "--dry-run")["kinds"]
    _, output = flask("jobs", "discard", "--queue", "sales", "--dry-run")

    assert kind["sums"] == [{"currency": "EUR", "amountCents": 300}, {"currency": "USD", "amountCents": 5_700}]
    assert "57.00 USD" in output
    assert len(_list_job_ids()) == 3


@pytest.mark.parametrize(("typed", "is_gone"), [("2", True), ("3", False), ("yes", False)])
def test_discard_on_a_terminal_requires_typing_the_number(flask, brand, monkeypatch, typed, is_gone):
    stage_failed_job(brand), stage_failed_job(brand)
    monkeypatch.setattr(discarding, "_is_terminal", lambda: True)

    code, output = flask("jobs", "discard", "--queue", "sales", "--why", "w", input=f"{typed}\n")

    assert (code, _list_job_ids() == []) == (0 if is_gone else 1, is_gone), output


def test_discard_limit_takes_the_oldest_ids(flask, brand):
    _, second = stage_failed_job(brand), stage_failed_job(brand)

    limited = ["jobs", "discard", "--queue", "sales", "--limit", "1"]
    _, planned = flask(*limited, "--dry-run")
    discarded = flask.json(*limited, "--why", "w", "--yes")

    assert "1 more dead letter" in planned
    assert (discarded["count"], discarded["more"]) == (1, 1)
    assert _list_job_ids() == [second]
    assert flask.json("jobs", "discard", "--queue", "sales", "--dry-run")["more"] == 0


@pytest.mark.parametrize(
    "arguments", [[], ["1", "--queue", "sales"], ["1"], ["--queue", "sales", "--yes"], ["1", "--why", " "]]
)
def test_discard_without_a_selection_or_a_reason_exits_with_2(flask, arguments):
    assert flask("jobs", "discard", *arguments)[0] == 2


def test_discard_of_a_sale_prints_its_loss(flask, brand):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a", amountCents=12_345)
    with db.any_org_work():
        ((number,),) = db.db.run("update job set failed_at = now() returning id")

    details = flask("jobs", "show", str(number))[1]
    code, output = flask("jobs", "discard", str(number), "--why", "w")

    left = "an accepted sale that credits no one (sale or event order-a, 123.45 USD). Send the same sale again."
    assert f"A discard leaves {left}" in details
    assert (code, output) == (0, f"Discarded {number} (sale.settle): w\nLeft undone: {left}\n")


def test_replay_by_error_requeues_matching_jobs_only(flask, brand):
    first, second = stage_failed_job(brand), stage_failed_job(brand)
    with db.any_org_work():
        db.db.run("update job set last_error = 'ValueError: odd' where id = %s returning 1", (second,))

    assert flask.json("jobs", "replay", "--error", "value")["replayed"] == [second]
    assert [row["id"] for row in flask.json("jobs", "dead", "--error", "lookup")] == [first]


def test_lists_show_a_postgresql_error_without_its_context(flask, brand):
    dead = stage_failed_job(brand)
    error = 'Traceback (most recent call last):\n  File "x.py", line 1\nDataError: too long\nCONTEXT:  PL/pgSQL f()\n'
    with db.any_org_work():
        db.db.run("update job set last_error = %s where id = %s", (error, dead))

    assert flask.json("jobs", "dead")[0]["error_line"] == "DataError: too long"
    _, output = flask("jobs", "dead")
    assert "DataError: too long" in output
    assert "CONTEXT" not in output
