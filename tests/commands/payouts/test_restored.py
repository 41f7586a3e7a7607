"""After a restore nobody is paid until an operator says so, and then who may have been is looked up first."""

import os

import pytest

from adapters import clock
from models import db
from tests.support import databases
from tests.support.rows.payroll import Payroll

NOTHING_PAID = tuple(
    word for method in ("ProcessorConnect", "Wallet", "GlobalPayouts", "Manual") for word in ("--none", method)
)


@pytest.fixture
def restore(app):
    """Return a call after which nobody knows this server, as after a restore; it is known again in the end."""

    def forget_server():
        databases.run_as_owner(os.environ["DATABASE_OWNER_URL"], "delete from known_server")
        db.db.drop_connection()

    yield forget_server
    databases.run_as_owner(
        os.environ["DATABASE_OWNER_URL"],
        "insert into known_server (name) values (this_server()) on conflict do nothing",
    )
    db.db.drop_connection()


def _states(payroll):
    return payroll.brand.rows("select status, asked from payout left join payout_attempt a on a.payout_id = payout.id")


def test_payouts_wait_for_a_word_and_are_looked_up_before_they_are_sent(app, flask, restore):
    payroll = Payroll.create_owing(app)
    payroll.run()
    restore()
    payroll.pay()
    assert _states(payroll) == [("Pending", None)]

    held = flask.json("restore", "status")
    assert held["held"]
    waiting = [one for one in held["waiting"] if one["organization_id"] == str(payroll.brand.id)]
    assert [(one["amount_cents"], one["key"]) for one in waiting] == [(2_000, f"payout:{waiting[0]['payout_id']}:1")]
    assert "HELD" in flask("restore", "status")[1]

    moment = clock.now().isoformat()
    release = ("restore", "release", "--restored-to", moment, "--why", "compared with the rail's list")
    code, message = flask(*release)
    assert (code, "Manual was not compared" in message) == (1, True)
    assert _states(payroll) == [("Pending", None)]
    assert flask.json("restore", "reconcile", "--restored-to", moment, *NOTHING_PAID)["clean"]
    assert flask.json(*release)["lookedUp"] >= 1
    assert _states(payroll) == [("Processing", 0)]
    payroll.execute("update job set run_at = now()")
    payroll.pay()
    assert [status for status, _ in _states(payroll)] == ["Paid"]
    assert not flask.json("restore", "status")["held"]


def test_nothing_is_released_where_nothing_is_held(flask):
    code, said = flask("restore", "release", "--restored-to", "1h", "--why", "x")

    assert (code, "no payouts are held" in said) == (1, True)
