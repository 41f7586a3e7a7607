"""`flask ledger` as an operator types it, and what a red ledger stops."""

import os
from contextlib import closing
from uuid import uuid4

import psycopg2
import pytest

from adapters import clock
from domain import jobs
from models import db
from models.ledger import results
from pipelines import work
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """Somebody was paid, and somebody is owed."""
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.sell("ann")
    payroll.run()
    payroll.pay()
    payroll.sell("ann")
    return payroll


@pytest.fixture
def damaged(payroll):
    """The same with one payment taken out of the ledger, which only whoever owns the tables can do."""
    with (
        closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as connection,
        connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("set session_replication_role = replica")
        cursor.execute("delete from ledger_entry where kind = 'pay' and organization_id = %s", (str(payroll.brand.id),))
    return payroll


_BOOKED = "the ledger booked what the lines of Paid payouts say"


def test_a_check_of_money_that_adds_up_says_so(flask, payroll):
    code, said = flask("ledger", "check", "--org", str(payroll.brand.id))

    assert code == 0
    assert said.startswith("1 organization, ") and said.endswith(" rules, 0 exceptions\n")


def test_a_check_names_the_rule_and_the_row_and_fails(flask, damaged):
    broken = flask.json("ledger", "check", "--org", damaged.brand.id, code=1)["broken"]

    (payout_id,) = damaged.payouts("id")[0]
    assert {one["organization"] for one in broken} == {str(damaged.brand.id)}
    assert [one["exception"].split(",")[0] for one in broken if one["rule"] == _BOOKED] == [f"payout {payout_id}"]


def test_a_person_is_told_what_happens_next(flask, damaged):
    code, said = flask("ledger", "check", "--org", str(damaged.brand.id))

    assert code == 1
    assert _BOOKED in said
    assert "payout runs wait for a review" in said


def test_every_organization_is_checked_when_none_is_named(flask, isolated_database, payroll, rival):
    with db.unit_of_work(payroll.brand.id):
        db.db.run("update conversion set paid_cents = paid_cents - 1 where status = 'Paid'")

    found = flask.json("ledger", "check", code=1)

    assert {one["organization"] for one in found["broken"]} == {str(payroll.brand.id)}
    assert found["organizations"] == 2


def test_an_organization_that_is_not_there_is_said(flask):
    code, said = flask("ledger", "check", "--org", str(uuid4()))

    assert code == 1
    assert "There is no organization" in said


def test_the_last_result_is_kept_and_shown(flask, damaged):
    flask("ledger", "check", "--org", str(damaged.brand.id))

    shown = flask.json("ledger", "status", "--red")

    (mine,) = [one for one in shown if one["organization"] == str(damaged.brand.id)]
    assert _BOOKED in {one["rule"] for one in mine["broken"]}
    assert str(damaged.brand.id) in flask("ledger", "status")[1]


def test_the_scheduled_check_looks_at_every_organization(isolated_database, payroll, rival, drain):
    with db.any_org_work():
        work.enqueue(jobs.LEDGER_CHECK, organization_id=None)

    drain("upkeep")

    with db.any_org_work():
        checked = {one.organization_id for one in results.any_org_list(only_red=False)}
    assert {payroll.brand.id, rival.id} == checked


def test_the_metrics_page_counts_red_organizations(damaged, flask):
    flask("ledger", "check", "--org", str(damaged.brand.id))

    page = damaged.brand.app.test_client().get("/metrics").get_data(as_text=True)

    (red,) = [line for line in page.splitlines() if line.startswith('finderfee_ledger_organizations{state="red"}')]
    assert float(red.split()[-1]) >= 1
    assert "finderfee_ledger_check_oldest_seconds" in page


def test_while_the_ledger_is_red_a_run_waits_for_a_review(damaged, flask):
    flask("ledger", "check", "--org", str(damaged.brand.id))

    assert damaged.run().run.review_status == "Pending"


def test_when_the_ledger_is_clean_again_a_run_pays(payroll, flask):
    with db.unit_of_work(payroll.brand.id):
        results.stage(organization_id=payroll.brand.id, findings=[("rule", "text")], at=clock.now())

    flask("ledger", "check", "--org", str(payroll.brand.id))

    assert payroll.run().run.review_status is None
