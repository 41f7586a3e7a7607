"""`flask restore undo`: a booking is reversed, and the affiliate is owed exactly the unpaid amount."""

from uuid import uuid4

import pytest

from tests.commands.payouts.transfer_rows import is_whole, make_row
from tests.support.rows.payroll import Payroll


def test_undone_returned_transfer_is_paid_again(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.rate("EUR", "0.5")
    payroll.sell("ann", 10_000, "EUR")
    server.forget_server()
    row = make_row(payroll, amount="50.00", native='"EUR=2000/4000@0.5@2026-11-28,USD=1000/1000@1@2026-11-28"')
    server.reconcile(row)
    server.reconcile(row | {"state": "returned"}, code=1)

    server.flask.json("restore", "undo", row["reference"], "--why", "the bank returned it")

    assert payroll.balance("ann") == {"EUR": 2_000, "USD": 2_000}
    assert payroll.payouts("status, failure_code, voided_at is not null, paid_at") == [
        ("Failed", "came_back", True, None)
    ]
    assert server.audit("restore.undone", row["reference"]) == [(payroll.brand.id, "the bank returned it")]
    assert server.reconcile(row | {"state": "returned"})["clean"]
    server.release()
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Failed", 5_000), ("Paid", 6_000)]
    assert payroll.balance("ann") == {"EUR": 0, "USD": 0}
    assert is_whole(flask, payroll)


@pytest.mark.parametrize("key", ["", None])
def test_transfer_booked_to_the_wrong_affiliate_is_undone_and_reassigned(app, flask, server, key):
    payroll = Payroll.create_owing(app)
    payroll.affiliate("ben")
    payroll.sell("ben")
    server.forget_server()
    row = make_row(payroll, "ann", amount="15.00") | ({} if key is None else {"key": key})
    server.reconcile(row)

    assert "flask restore undo" in server.flask(*_assign(row, payroll, "ben"))[1]
    server.flask.json("restore", "undo", row["reference"], "--why", "it was ben's")
    (problem,) = (transfer["problem"] for transfer in server.reconcile(row, code=1)["open"])
    assert problem in ("booking_undone", "payout_voided")
    server.flask.json(*_assign(row, payroll, "ben"))

    assert (payroll.balance("ann"), payroll.balance("ben")) == ({"USD": 2_000}, {"USD": 500})
    assert server.reconcile(row)["clean"]
    assert is_whole(flask, payroll)


def test_undo_of_a_netted_booking_is_refused_and_suggests_a_bonus(app, flask, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, amount="15.00")
    server.reconcile(row)
    server.release()
    payroll.run()

    for _ in ("while the payout that nets it waits", "after it was paid"):
        code, message = server.flask("restore", "undo", row["reference"], "--why", "it came back")
        assert (code, "a bonus of 15.00 USD" in message, str(payroll.affiliates["ann"]) in message) == (1, True, True)
        payroll.pay()
    recipient = {"programId": str(payroll.brand.programs[0]), "affiliateId": str(payroll.affiliates["ann"])}
    bonus = {"kind": "bonus", "commissionCents": 1_500, "currency": "USD", "note": "It came back."}
    response = payroll.brand.person().post("/api/v1/conversions", recipient | bonus)
    assert response.status_code in (200, 201), response.json

    # The run paid 5.00; the returned amount is owed again.
    assert payroll.balance("ann") == {"USD": 1_500}
    assert sorted(payroll.payouts()) == [("Paid", 500), ("Paid", 1_500)]
    assert is_whole(flask, payroll)


def test_unbooked_transfer_cannot_be_undone(app, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, affiliate_id=str(uuid4()))
    server.reconcile(row, code=1)

    assert "Nothing is booked" in server.flask("restore", "undo", row["reference"], "--why", "x")[1]
    assert "No list contained" in server.flask("restore", "undo", "tr_none", "--why", "x")[1]


def test_undone_payout_is_failed_and_cannot_be_retried(app, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll)
    server.reconcile(row)
    server.flask.json("restore", "undo", row["reference"], "--why", "it was another's")
    ((payout_id,),) = payroll.payouts("id")
    owner = payroll.brand.person()

    serialized = owner.get(f"/api/v1/payouts/{payout_id}").json

    assert (serialized["status"], serialized["failureReason"]) == ("Failed", "it was another's")
    assert owner.post(f"/api/v1/payouts/{payout_id}/retry").status_code == 409


def _assign(row, payroll, slug):
    return ("restore", "assign", row["reference"], "--affiliate", payroll.affiliates[slug], "--why", f"it is {slug}'s")
