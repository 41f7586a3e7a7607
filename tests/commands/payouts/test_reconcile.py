"""`flask restore reconcile`, and the operator's decisions on transfers that it cannot book automatically."""

from uuid import UUID, uuid4

import pytest

from domain.refusals import Refused
from models import db
from tests.commands.payouts.transfer_rows import is_whole, make_row, outcomes
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.payroll import Payroll


def test_lost_payout_is_netted_in_its_currency_and_the_rest_is_paid(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.rate("EUR", "0.5")
    payroll.sell("ann", 10_000, "EUR")
    server.forget_server()
    row = make_row(payroll, amount="50.00", native="EUR=2000/4000@0.5@2026-11-28")
    row["native"] = '"EUR=2000/4000@0.5@2026-11-28,USD=1000/1000@1@2026-11-28"'

    result = server.reconcile(row)
    assert (result["clean"], outcomes(result)) == (True, {"Booked": 1})
    server.release()
    payroll.run()
    payroll.pay()

    # Ann earned 20.00 USD and 20.00 EUR, and was paid 10.00 USD and 20.00 EUR.
    assert payroll.payouts() == [("Paid", 5_000), ("Paid", 1_000)]
    assert payroll.balance("ann") == {"EUR": 0, "USD": 0}
    assert is_whole(flask, payroll)
    (key,) = payroll.brand.rows("select key from payout_attempt where state = 'paid' and key = %s", row["key"])
    assert key == (row["key"],)


def test_repeated_list_books_nothing_more(app, flask, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll)

    first, second = server.reconcile(row), server.reconcile(row)

    assert [sum(method["booked_cents"] for method in result["methods"]) for result in (first, second)] == [2_000, 0]
    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}


def test_dry_run_writes_nothing(app, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()

    result = server.reconcile(make_row(payroll), words=["--dry-run"])

    assert outcomes(result) == {"Booked": 1}
    assert "Manual" in result["missing"]
    assert payroll.payouts() == []
    with db.any_org_work():
        assert db.db.run("select count(*) from restored_transfer") == [(0,)]


def test_stored_payout_is_marked_paid_by_the_listed_attempt(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    ((payout_id,),) = payroll.payouts("id")
    server.forget_server()

    result = server.reconcile(make_row(payroll, key=f"payout:{payout_id}:3"))

    assert outcomes(result) == {"Resumed": 1}
    assert payroll.payouts("status, attempt") == [("Paid", 3)]
    assert server.release()["lookedUp"] == 0
    assert is_whole(flask, payroll)


def test_manual_payment_marks_its_payout_paid(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    ((payout_id,),) = payroll.payouts("id::text")
    server.forget_server()
    row = make_row(payroll, reference=f"wire {payout_id}", key="", payout_id=payout_id)

    result = server.reconcile(row, method="Manual")

    assert outcomes(result) == {"Resumed": 1}
    assert payroll.payouts("status, method, external_transaction_id") == [("Paid", "Manual", row["reference"])]
    assert is_whole(flask, payroll)


def test_lost_manual_payment_is_booked(app, flask, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, reference=f"wire {uuid4()}", key="", organization_id="")

    assert outcomes(server.reconcile(row, method="Manual")) == {"Booked": 1}

    assert payroll.payouts("status, method, external_transaction_id") == [("Paid", "Manual", row["reference"])]
    assert is_whole(flask, payroll)


def test_payout_of_a_netted_affiliate_is_voided_and_the_difference_is_paid(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    server.forget_server()
    server.reconcile(make_row(payroll, amount="15.00"))

    assert server.release() | {"why": "", "restoredTo": ""} == {
        "restoredTo": "",
        "why": "",
        "withoutReconcile": False,
        "lookedUp": 0,
        "letGo": 1,
    }
    assert sorted(payroll.payouts("status, amount_cents, failure_code")) == [
        ("Failed", 2_000, "paid_before_restore"),
        ("Paid", 1_500, None),
    ]
    payroll.run()
    payroll.pay()
    assert sorted(payroll.payouts()) == [("Failed", 2_000), ("Paid", 500), ("Paid", 1_500)]
    assert payroll.balance("ann") == {"USD": 0}
    assert is_whole(flask, payroll)


def test_failed_payout_of_a_netted_affiliate_is_not_retried(app, server):
    payroll = Payroll.create_owing(app)
    payroll.brand.set(sandboxRail="fail")
    payroll.run()
    payroll.pay()
    ((payout_id,),) = payroll.payouts("id")
    server.forget_server()
    server.reconcile(make_row(payroll))
    server.release()

    response = payroll.brand.person().post(f"/api/v1/payouts/{payout_id}/retry")

    assert (response.status_code, response.json["error"]) == (409, "paid_before_restore")


def test_held_server_refuses_runs_and_mass_pay_lists(app, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    ((run_id,),) = payroll.brand.rows("select id from payout_run")
    payroll.sell("ann")
    server.forget_server()
    owner = payroll.brand.person()

    with pytest.raises(Refused) as refusal:
        payroll.run()
    assert refusal.value.code == "payouts_on_hold"
    response = owner.post("/api/v1/payouts/run", {"confirmTotalCents": 2_000})
    assert (response.status_code, response.json["error"]) == (409, "payouts_on_hold")
    response = owner.get(f"/api/v1/payouts/mass-pay.csv?runId={run_id}")
    assert (response.status_code, response.json["error"]) == (409, "payouts_on_hold")


_UNMATCHED = [
    ({"organization_id": str(uuid4())}, "unknown_organization"),
    ({"affiliate_id": str(uuid4())}, "unknown_affiliate"),
    ({"affiliate_id": "", "account": "acct_nobody"}, "unknown_affiliate"),
    ({"state": "in_flight"}, "in_flight"),
]


@pytest.mark.parametrize(("columns", "problem"), _UNMATCHED)
def test_unmatched_transfer_holds_payouts_until_accepted(app, server, columns, problem):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll, **columns)

    result = server.reconcile(row, code=1)

    assert [(transfer["reference"], transfer["problem"]) for transfer in result["open"]] == [
        (row["reference"], problem)
    ]
    assert result["open"][0]["advice"]
    assert "1 transfers wait for a decision" in server.release(code=1)[1]
    assert problem in server.flask("restore", "status")[1]
    assert server.flask("restore", "accept", row["reference"])[0] == 2  # a reason is required
    server.flask.json("restore", "accept", row["reference"], "--why", "it is another installation's")
    assert [why for _, why in server.audit("restore.accepted", row["reference"])] == ["it is another installation's"]
    assert server.reconcile(row)["clean"]
    server.release()


def test_assigned_transfer_is_netted_in_the_given_currencies(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.sell("ann", 10_000, "EUR")
    server.forget_server()
    row = make_row(payroll, amount="25.00", affiliate_id=str(uuid4()))

    assert [transfer["problem"] for transfer in server.reconcile(row, code=1)["open"]] == ["unknown_affiliate"]
    words = (
        "restore",
        "assign",
        row["reference"],
        "--affiliate",
        payroll.affiliates["ann"],
        "--why",
        "asked the brand",
    )
    server.flask.json(*words, "--native", "EUR=1500", "--native", "USD=800")

    assert payroll.balance("ann") == {"EUR": 500, "USD": 1_200}
    assert server.audit("restore.assigned", row["reference"]) == [(payroll.brand.id, "asked the brand")]
    assert server.flask(*words)[0] == 1
    assert server.reconcile(row)["clean"]
    assert is_whole(flask, payroll)


def test_assigned_transfer_of_another_amount_voids_its_payout(app, flask, server):
    payroll = Payroll.create_owing(app)
    payroll.run()
    ((payout_id,),) = payroll.payouts("id")
    server.forget_server()
    row = make_row(payroll, amount="12.00", key=f"payout:{payout_id}:1")

    assert [transfer["problem"] for transfer in server.reconcile(row, code=1)["open"]] == ["amount_differs"]
    server.flask.json(
        "restore", "assign", row["reference"], "--affiliate", payroll.affiliates["ann"], "--why", "looked"
    )

    assert sorted(payroll.payouts()) == [("Failed", 2_000), ("Paid", 1_200)]
    assert payroll.balance("ann") == {"USD": 800}
    assert server.reconcile(row)["clean"]
    assert is_whole(flask, payroll)


def test_returned_booked_transfer_waits_for_a_decision(app, server):
    payroll = Payroll.create_owing(app)
    server.forget_server()
    row = make_row(payroll)
    server.reconcile(row)

    result = server.reconcile(row | {"state": "returned"}, code=1)

    assert [transfer["problem"] for transfer in result["open"]] == ["came_back"]


def test_transfer_without_an_affiliate_id_is_matched_by_account(app, server):
    payroll = Payroll.create_owing(app)
    payroll.execute(
        "update affiliate set payout_destination = 'acct_only_ann' where organization_id = %s", payroll.brand.id
    )
    server.forget_server()

    result = server.reconcile(make_row(payroll, affiliate_id="", account="acct_only_ann"))

    assert outcomes(result) == {"Booked": 1}
    assert payroll.balance("ann") == {"USD": 0}


def test_lost_milestone_payout_pays_the_milestone_once(app, flask, server):
    dealing = DealScene.create(app)
    deal_id = dealing.create_funded(50_000)
    dealing.submit(deal_id)
    ((milestone_id,),) = dealing.brand.rows("select id::text from deal_milestone")
    server.forget_server()
    payroll = Payroll(dealing.brand, {"cleo": dealing.affiliate_id})
    row = make_row(payroll, "cleo", amount="500.00", milestone_id=milestone_id, account="cleo@example.com")

    assert dealing.approve(deal_id).json["error"] == "payouts_on_hold"
    assert outcomes(server.reconcile(row, method="Wallet")) == {"Resumed": 1}

    assert dealing.payouts() == [("Paid", 50_000)]
    assert dealing.get_deal(deal_id)["status"] == "Completed"
    server.release()
    dealing.release_due()
    drain("payouts")
    assert dealing.payouts() == [("Paid", 50_000)]
    assert is_whole(flask, payroll)


def test_brand_sees_a_booked_payout_with_a_note(app, server):
    payroll = Payroll.create_owing(app)
    other = Payroll.create(app)
    server.forget_server()
    row = make_row(payroll)
    server.reconcile(row)
    payout_id = UUID(row["key"].split(":")[1])

    view = payroll.brand.person().get(f"/api/v1/payouts/{payout_id}").json

    assert (view["status"], view["processorTransferId"]) == ("Paid", row["reference"])
    assert "before the service was restored" in view["notes"]
    assert other.brand.person().get(f"/api/v1/payouts/{payout_id}").status_code == 404


def test_unreadable_list_changes_nothing(flask, server, tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("reference,amount\na,1")

    code, message = flask("restore", "reconcile", "--restored-to", "1h", "--list", f"Wallet={path}")

    assert (code, "Nothing was changed" in message) == (1, True)
