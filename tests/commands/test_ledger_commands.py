"""`flask ledger` and `flask payout settle` as an operator types them, and what a red ledger stops."""

import json
import os
from contextlib import closing
from uuid import uuid4

import psycopg2
import pytest

from adapters import clock
from models import db
from models.ledger import results
from pipelines import jobs
from tests.support.rows.paying import Payroll


@pytest.fixture
def flask(app):
    """Run a command and return its exit code and output."""

    def run(*arguments: str) -> tuple[int, str]:
        done = app.test_cli_runner().invoke(args=arguments)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return run


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
    code, said = flask("ledger", "check", "--org", str(damaged.brand.id), "--json")

    broken = json.loads(said)["broken"]
    (payout_id,) = damaged.payouts("id")[0]
    assert code == 1
    assert {one["organization"] for one in broken} == {str(damaged.brand.id)}
    assert [one["exception"].split(",")[0] for one in broken if one["rule"] == _BOOKED] == [f"payout {payout_id}"]


def test_a_person_is_told_what_happens_next(flask, damaged):
    code, said = flask("ledger", "check", "--org", str(damaged.brand.id))

    assert code == 1
    assert _BOOKED in said
    assert "payout runs wait for a review" in said


def test_every_organization_is_checked_when_none_is_named(flask, alone, payroll, rival):
    with db.unit_of_work(payroll.brand.id):
        db.db.run("update conversion set paid_cents = paid_cents - 1 where status = 'Paid'")

    code, said = flask("ledger", "check", "--json")

    found = json.loads(said)
    assert code == 1
    assert {one["organization"] for one in found["broken"]} == {str(payroll.brand.id)}
    assert found["organizations"] == 2


def test_an_organization_that_is_not_there_is_said(flask):
    code, said = flask("ledger", "check", "--org", str(uuid4()))

    assert code == 1
    assert "There is no organization" in said


def test_the_last_result_is_kept_and_shown(flask, damaged):
    flask("ledger", "check", "--org", str(damaged.brand.id))

    shown = json.loads(flask("ledger", "status", "--red", "--json")[1])

    (mine,) = [one for one in shown if one["organization"] == str(damaged.brand.id)]
    assert _BOOKED in {one["rule"] for one in mine["broken"]}
    assert str(damaged.brand.id) in flask("ledger", "status")[1]


def test_the_scheduled_check_looks_at_every_organization(alone, payroll, rival, drain):
    with db.any_org_work():
        jobs.enqueue(jobs.LEDGER_CHECK, organization_id=None)

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

    assert damaged.run().review_status == "Pending"


def test_when_the_ledger_is_clean_again_a_run_pays(payroll, flask):
    with db.unit_of_work(payroll.brand.id):
        results.stage(organization_id=payroll.brand.id, findings=[("rule", "text")], at=clock.now())

    flask("ledger", "check", "--org", str(payroll.brand.id))

    assert payroll.run().review_status is None


@pytest.fixture
def stuck(payroll):
    """A payout whose rail never says what became of it; returns its id."""
    payroll.brand.set(sandboxRail="slow")
    payroll.run()
    payroll.pay()
    (found,) = [payout_id for payout_id, status in payroll.payouts("id, status") if status == "Processing"]
    return str(found)


def test_an_operator_settles_a_payout_that_the_rail_paid(payroll, stuck, flask):
    code, said = flask("payout", "settle", stuck, "--paid", "tr_123")

    assert (code, said) == (0, f"{stuck} is Paid.\n")
    assert payroll.payouts("status, processor_transfer_id is not null")[-1] == ("Paid", True)
    assert payroll.balance("ann") == {"USD": 0}
    after = payroll.brand.rows("select entity_id, after from audit_entry where action = 'payout.settled'")
    assert after == [(stuck, {"status": "Paid", "reference": "tr_123", "why": None, "key": f"payout:{stuck}:1"})]
    assert flask("ledger", "check", "--org", str(payroll.brand.id))[0] == 0


def test_an_operator_settles_a_payout_that_the_rail_did_not_pay(payroll, stuck, flask):
    code, said = flask("payout", "settle", stuck, "--failed", "not in their books", "--json")

    assert code == 0
    assert json.loads(said)["status"] == "Failed"
    assert payroll.payouts("status, failure_code, failure_reason")[-1] == (
        "Failed",
        "settled_by_operator",
        "not in their books",
    )
    assert payroll.balance("ann") == {"USD": 2_000}
    assert flask("ledger", "check", "--org", str(payroll.brand.id))[0] == 0


def test_a_settled_payout_is_left_alone_by_its_job(payroll, stuck, flask):
    flask("payout", "settle", stuck, "--failed", "not in their books")
    payroll.execute("update job set run_at = now() where queue = 'payouts'")

    payroll.pay()

    assert payroll.payouts("status")[-1] == ("Failed",)
    assert payroll.brand.rows("select count(*) from job where queue = 'payouts'") == [(0,)]


def test_what_is_not_processing_is_not_settled_by_hand(payroll, stuck, flask):
    flask("payout", "settle", stuck, "--paid", "tr_123")

    code, said = flask("payout", "settle", stuck, "--failed", "changed my mind")

    assert code == 1
    assert "The payout is Paid" in said


@pytest.mark.parametrize("options", [[], ["--paid", "a", "--failed", "b"], ["--paid", ""]])
def test_settling_takes_one_word_about_it(flask, options):
    code, said = flask("payout", "settle", str(uuid4()), *options)

    assert code == 2
    assert "either --paid REFERENCE or --failed WHY" in said


def test_a_payout_that_is_not_there_is_said(flask):
    code, said = flask("payout", "settle", str(uuid4()), "--paid", "tr_1")

    assert code == 1
    assert "payout" in said
