"""Transfers listed twice, with other values, or under another reference than the ledger's are paid once."""

from datetime import timedelta
from uuid import uuid4

import pytest

from adapters import clock
from tests.commands.payouts.transfer_rows import is_whole, make_row, outcomes, problems
from tests.support.rows.payroll import Payroll


def _create_paid_by_hand(app, reference):
    """Return a brand's payroll that has paid ann by hand, under a reference, before the restore."""
    payroll = Payroll.create_owing(app)
    payroll.run()
    ((payout_id,),) = payroll.payouts("id")
    response = payroll.brand.person().post(
        f"/api/v1/payouts/{payout_id}/mark-paid", {"externalTransactionId": reference}
    )
    assert response.status_code == 200, response.json
    return payroll


def test_known_manual_payment_without_a_payout_id_is_not_booked_again(app, flask, server):
    reference = f"wire {uuid4()}"
    payroll = _create_paid_by_hand(app, reference)
    server.forget_server()
    row = make_row(payroll, reference=reference, key="")

    assert outcomes(server.reconcile(row, method="Manual")) == {"Known": 1}

    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}
    assert problems(server.reconcile(row | {"reference": reference, "amount": "19.00"}, method="Manual", code=1)) == [
        "paid_twice"
    ]


def test_known_rail_payment_without_a_key_is_not_booked_again(app, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    payroll.pay()
    ((reference,),) = payroll.payouts("processor_transfer_id")
    server.forget_server()

    for columns in ({}, {"affiliate_id": ""}):
        assert outcomes(server.reconcile(make_row(payroll, reference=reference, key="", **columns))) == {"Known": 1}

    assert payroll.payouts() == [("Paid", 2_000)]


@pytest.mark.parametrize("first", ["Manual", "ProcessorConnect"])
def test_transfer_in_the_lists_of_two_methods_is_booked_once(app, flask, server, first):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    rows = {"ProcessorConnect": make_row(payroll)}
    rows["Manual"] = rows["ProcessorConnect"] | {"key": ""}
    (second,) = {*rows} - {first}

    assert outcomes(server.reconcile(rows[first], method=first)) == {"Booked": 1}
    assert problems(server.reconcile(rows[second], method=second, code=1)) == ["paid_twice"]

    assert payroll.payouts() == [("Paid", 2_000)]
    assert is_whole(flask, payroll)


def test_payment_before_the_restore_without_a_payout_waits_for_a_decision(app, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, key="", paid_at=(clock.now() - timedelta(hours=2)).isoformat())

    assert problems(server.reconcile(row, method="Manual", code=1)) == ["before_restore"]
    assert payroll.payouts() == []

    # the given restore time was too late: with the right one the payment is booked
    server.restored_to = (clock.now() - timedelta(hours=3)).isoformat()
    assert outcomes(server.reconcile(row, method="Manual")) == {"Booked": 1}


def test_transfer_accepted_in_flight_is_booked_when_paid(app, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll)
    server.reconcile(row | {"state": "in_flight"}, code=1)
    server.flask.json("restore", "accept", row["reference"], "--why", "it is slow")
    assert server.reconcile(row | {"state": "in_flight"})["clean"]
    assert payroll.payouts() == []

    assert outcomes(server.reconcile(row)) == {"Booked": 1}
    assert payroll.balance("ann") == {"USD": 0}


def test_open_transfer_is_assigned_with_the_amount_of_the_corrected_list(app, flask, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, affiliate_id=str(uuid4()), amount="1.00")
    server.reconcile(row, code=1)
    server.reconcile(row | {"amount": "12.00"}, code=1)

    server.flask.json("restore", "assign", row["reference"], "--affiliate", payroll.affiliates["ann"], "--why", "hers")

    assert payroll.payouts() == [("Paid", 1_200)]
    assert payroll.balance("ann") == {"USD": 800}


def test_transfer_listed_with_another_amount_is_reopened(app, flask, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, amount="2.00")
    server.reconcile(row)

    corrected = row | {"amount": "20.00"}
    assert problems(server.reconcile(corrected, code=1)) == ["booked_otherwise"]
    server.flask.json("restore", "undo", row["reference"], "--why", "a typing error")
    assert problems(server.reconcile(corrected, code=1)) == ["payout_voided"]
    server.flask.json("restore", "assign", row["reference"], "--affiliate", payroll.affiliates["ann"], "--why", "hers")

    assert server.reconcile(corrected)["clean"]
    assert payroll.balance("ann") == {"USD": 0}
    assert is_whole(flask, payroll)


@pytest.mark.parametrize("state", ["came_back", "booked_otherwise"])
def test_reopened_booking_stays_open_when_reconciled_again(app, flask, server, state):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, key="")
    server.reconcile(row, method="Manual")
    if state == "came_back":
        row |= {"state": "returned"}
    else:
        row |= {"amount": "21.00"}

    for _ in range(3):
        assert problems(server.reconcile(row, method="Manual", code=1)) == [state]

    assert payroll.payouts() == [("Paid", 2_000)]
    server.flask.json("restore", "accept", row["reference"], "--why", "as it is")
    assert server.reconcile(row, method="Manual")["clean"]


def test_assigned_transfer_is_netted_in_its_rails_currencies(app, flask, server):
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.rate("EUR", "0.5")
    payroll.sell("ann", 10_000, "EUR")
    server.forget_server()
    row = make_row(payroll, affiliate_id=str(uuid4()), amount="40.00", native="EUR=2000/4000@0.5@2026-11-28")
    server.reconcile(row, code=1)

    server.flask.json("restore", "assign", row["reference"], "--affiliate", payroll.affiliates["ann"], "--why", "hers")

    assert payroll.balance("ann") == {"EUR": 0}
    assert is_whole(flask, payroll)


def test_transfer_is_not_assigned_to_an_affiliate_of_another_organization(app, flask, server):
    payroll, other = Payroll.create_owing(app), Payroll.create_owing(app)
    payroll.run()
    ((payout_id,),) = payroll.payouts("id")
    server.forget_server()
    forgotten_row = make_row(payroll, affiliate_id=str(uuid4()))
    known_row = make_row(payroll, amount="1.00", key=f"payout:{payout_id}:1", organization_id="")
    server.reconcile(forgotten_row, known_row, code=1)

    for row in (forgotten_row, known_row):
        words = ("restore", "assign", row["reference"], "--affiliate", other.affiliates["ann"], "--why", "a slip")
        code, message = server.flask(*words)
        assert (code, f"organization {payroll.brand.id}" in message) == (1, True)

    assert (payroll.payouts(), other.payouts()) == ([("Pending", 2_000)], [])


def test_returned_known_payout_is_reported(app, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    payroll.pay()
    ((payout_id, reference),) = payroll.payouts("id, processor_transfer_id")
    server.forget_server()
    row = make_row(payroll, reference=reference, key=f"payout:{payout_id}:1", state="returned")

    assert problems(server.reconcile(row, code=1)) == ["known_came_back"]
    server.flask.json("restore", "accept", reference, "--why", "the Owner added a bonus")
    assert server.reconcile(row)["clean"]


def test_future_restore_time_is_refused(flask, server):
    server.forget_server()
    for command in (("reconcile",), ("release", "--why", "x", "--without-reconcile")):
        code, message = flask("restore", *command, "--restored-to", (clock.now() + timedelta(hours=5)).isoformat())
        assert (code, "is in the future" in message) == (2, True)


def test_held_payouts_are_looked_up_for_any_restore_time(app, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    server.forget_server()
    server.restored_to = (clock.now() - timedelta(days=1)).isoformat()
    server.reconcile()

    assert server.release()["lookedUp"] >= 1

    assert payroll.payouts("status") == [("Processing",)]


def test_payout_exported_for_manual_payment_is_not_voided(app, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    payroll.execute("update payout set exported_at = now() where organization_id = %s", payroll.brand.id)
    server.forget_server()
    server.reconcile(make_row(payroll, amount="5.00"))

    server.release()

    assert sorted(payroll.payouts()) == [("Paid", 500), ("Pending", 2_000)]


def test_transfer_booked_after_the_release_voids_the_pending_payout(app, flask, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    server.reconcile()
    server.release()
    payroll.run()

    server.reconcile(make_row(payroll, amount="15.00"))
    payroll.pay()
    payroll.run()
    payroll.pay()

    assert sorted(payroll.payouts()) == [("Failed", 2_000), ("Paid", 500), ("Paid", 1_500)]
    assert is_whole(flask, payroll)


def test_forgotten_payout_of_a_deleted_affiliate_is_booked(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.execute("update affiliate set deleted_at = now() where organization_id = %s", payroll.brand.id)
    server.forget_server()

    assert outcomes(server.reconcile(make_row(payroll, amount="25.00"))) == {"Booked": 1}

    assert payroll.balance("ann") == {"USD": -500}
    assert is_whole(flask, payroll)
