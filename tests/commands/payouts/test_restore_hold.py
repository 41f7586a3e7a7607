"""After a restore payouts are held until an operator releases them, and are looked up at the rail before sending."""

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
    """Yield a function that makes this server unknown, as after a restore; it is known again afterwards."""

    def forget_server():
        databases.run_as_owner(os.environ["DATABASE_OWNER_URL"], "delete from known_server")
        db.db.drop_connection()

    yield forget_server
    databases.run_as_owner(
        os.environ["DATABASE_OWNER_URL"],
        "insert into known_server (name) values (this_server()) on conflict do nothing",
    )
    db.db.drop_connection()


def _list_states(payroll):
    return payroll.brand.rows("select status, asked from payout left join payout_attempt a on a.payout_id = payout.id")


def test_payouts_are_held_until_released_and_looked_up_before_sending(app, flask, restore):
    payroll = Payroll.create_owing(app)
    payroll.run()
    restore()
    payroll.pay()
    assert _list_states(payroll) == [("Pending", None)]

    status = flask.json("restore", "status")
    assert status["held"]
    waiting = [row for row in status["waiting"] if row["organization_id"] == str(payroll.brand.id)]
    assert [(row["amount_cents"], row["key"]) for row in waiting] == [(2_000, f"payout:{waiting[0]['payout_id']}:1")]
    assert "HELD" in flask("restore", "status")[1]

    restored_to = clock.now().isoformat()
    release = ("restore", "release", "--restored-to", restored_to, "--why", "compared with the rail's list")
    code, message = flask(*release)
    assert (code, "Manual was not compared" in message) == (1, True)
    assert _list_states(payroll) == [("Pending", None)]
    assert flask.json("restore", "reconcile", "--restored-to", restored_to, *NOTHING_PAID)["clean"]
    assert flask.json(*release)["lookedUp"] >= 1
    assert _list_states(payroll) == [("Processing", 0)]
    payroll.execute("update job set run_at = now()")
    payroll.pay()
    assert [status for status, _ in _list_states(payroll)] == ["Paid"]
    assert not flask.json("restore", "status")["held"]


def test_release_without_held_payouts_is_refused(flask):
    code, output = flask("restore", "release", "--restored-to", "1h", "--why", "x")

    assert (code, "no payouts are held" in output) == (1, True)
