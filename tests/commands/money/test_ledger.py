"""`flask ledger`, and the payout runs that a red ledger stops."""

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
    """Return a payroll with a paid and an unpaid sale."""
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.sell("ann")
    payroll.run()
    payroll.pay()
    payroll.sell("ann")
    return payroll


@pytest.fixture
def damaged_payroll(payroll):
    """Return the payroll with one payment deleted from the ledger, which only the owner of the tables can do."""
    with (
        closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as connection,
        connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("set session_replication_role = replica")
        cursor.execute("delete from ledger_entry where kind = 'pay' and organization_id = %s", (str(payroll.brand.id),))
    return payroll


_BOOKED = "the ledger booked what the lines of Paid payouts say"


def test_check_of_a_clean_ledger_reports_no_exceptions(flask, payroll):
    code, output = flask("ledger", "check", "--org", str(payroll.brand.id))

    assert code == 0
    assert output.startswith("1 organization, ") and output.endswith(" rules, 0 exceptions\n")


def test_failed_check_reports_the_rule_and_the_row(flask, damaged_payroll):
    broken = flask.json("ledger", "check", "--org", damaged_payroll.brand.id, code=1)["broken"]

    (payout_id,) = damaged_payroll.payouts("id")[0]
    assert {row["organization"] for row in broken} == {str(damaged_payroll.brand.id)}
    assert [row["exception"].split(",")[0] for row in broken if row["rule"] == _BOOKED] == [f"payout {payout_id}"]


def test_failed_check_prints_the_consequence(flask, damaged_payroll):
    code, output = flask("ledger", "check", "--org", str(damaged_payroll.brand.id))

    assert code == 1
    assert _BOOKED in output
    assert "payout runs wait for a review" in output


def test_check_without_an_organization_checks_all(flask, isolated_database, payroll, rival):
    with db.unit_of_work(payroll.brand.id):
        db.db.run("update conversion set paid_cents = paid_cents - 1 where status = 'Paid'")

    result = flask.json("ledger", "check", code=1)

    assert {row["organization"] for row in result["broken"]} == {str(payroll.brand.id)}
    assert result["organizations"] == 2


def test_unknown_organization_is_reported(flask):
    code, output = flask("ledger", "check", "--org", str(uuid4()))

    assert code == 1
    assert "There is no organization" in output


def test_status_shows_the_last_result(flask, damaged_payroll):
    flask("ledger", "check", "--org", str(damaged_payroll.brand.id))

    statuses = flask.json("ledger", "status", "--red")

    (status,) = [row for row in statuses if row["organization"] == str(damaged_payroll.brand.id)]
    assert _BOOKED in {row["rule"] for row in status["broken"]}
    assert str(damaged_payroll.brand.id) in flask("ledger", "status")[1]


def test_scheduled_check_covers_every_organization(isolated_database, payroll, rival, drain):
    with db.any_org_work():
        work.enqueue(jobs.LEDGER_CHECK, organization_id=None)

    drain("upkeep")

    with db.any_org_work():
        checked = {result.organization_id for result in results.any_org_list(only_red=False)}
    assert {payroll.brand.id, rival.id} == checked


def test_metrics_count_red_organizations(damaged_payroll, flask):
    flask("ledger", "check", "--org", str(damaged_payroll.brand.id))

    page = damaged_payroll.brand.app.test_client().get("/metrics").get_data(as_text=True)

    (red,) = [line for line in page.splitlines() if line.startswith('finderfee_ledger_organizations{state="red"}')]
    assert float(red.split()[-1]) >= 1
    assert "finderfee_ledger_check_oldest_seconds" in page


def test_run_waits_for_a_review_while_the_ledger_is_red(damaged_payroll, flask):
    flask("ledger", "check", "--org", str(damaged_payroll.brand.id))

    assert damaged_payroll.run().run.review_status == "Pending"


def test_run_needs_no_review_once_the_ledger_is_clean(payroll, flask):
    with db.unit_of_work(payroll.brand.id):
        results.stage(organization_id=payroll.brand.id, findings=[("rule", "text")], at=clock.now())

    flask("ledger", "check", "--org", str(payroll.brand.id))

    assert payroll.run().run.review_status is None
