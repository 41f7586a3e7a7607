"""Payouts that need a decision of an operator. Source: core spec, "Payouts" (review); docs/payouts.md."""

import pytest

from models import db
from tests.support.api.payouts import UNKNOWN_ID
from tests.support.outside.console import list_audit_entries
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    return Payroll.create_owing(app)


@pytest.fixture
def run_id(payroll):
    """The id of a run that needs a review."""
    return payroll.create_run_under_review()


@pytest.fixture
def stuck_id(payroll):
    """The id of a payout whose rail reports no outcome."""
    return payroll.create_stuck_payout()


def _filter_by_brand(listed, payroll):
    return [item for item in listed if item["organizationId"] == str(payroll.brand.id)]


def test_waiting_run_is_listed_until_decided(console, payroll, run_id):
    (listed,) = _filter_by_brand(console.get("payouts/runs"), payroll)
    answer = console.post(f"payouts/runs/{run_id}/review", {"decision": "approve", "why": "looked at it"})
    payroll.pay()

    assert (listed["id"], listed["payouts"], listed["amountCents"]) == (run_id, 1, 2_000)
    assert (listed["organization"], listed["pending"], listed["reviewStatus"]) == ("Brand", 1, "Pending")
    assert (answer.status_code, answer.json) == (200, {"id": run_id, "reviewStatus": "Approved", "payouts": 1})
    assert payroll.payouts("status") == [("Paid",)]
    assert _filter_by_brand(console.get("payouts/runs"), payroll) == []
    assert [
        item["reviewStatus"] for item in _filter_by_brand(console.get("payouts/runs", waiting="false"), payroll)
    ] == ["Approved"]
    assert list_audit_entries("payout.reviewed", run_id) == [
        (
            "operator",
            "ops@example.com",
            payroll.brand.id,
            {"reviewStatus": "Approved", "why": "looked at it", "payouts": 1},
        )
    ]


def test_rejected_run_pays_no_one(console, payroll, run_id):
    answer = console.post(f"payouts/runs/{run_id}/review", {"decision": "reject", "why": "not them"})
    again = console.post(f"payouts/runs/{run_id}/review", {"decision": "approve", "why": "after all"})
    payroll.pay()

    assert answer.json["reviewStatus"] == "Rejected"
    assert (again.status_code, again.json["error"]) == (409, "invalid_status_transition")
    assert payroll.payouts("status, failure_code") == [("Failed", "review_rejected")]
    assert payroll.balance("ann") == {"USD": 2_000}


def test_decision_needs_a_reason_and_a_run(console, payroll, run_id):
    for body in (
        {"decision": "approve"},
        {"decision": "approve", "why": " "},
        {"why": "w"},
        {"decision": "x", "why": "w"},
    ):
        assert console.post(f"payouts/runs/{run_id}/review", body).status_code == 400
    assert console.post(f"payouts/runs/{UNKNOWN_ID}/review", {"decision": "approve", "why": "w"}).status_code == 404
    assert payroll.payouts("status") == [("Pending",)]


def test_payout_without_an_outcome_from_its_rail_is_doubtful(console, payroll, stuck_id):
    (listed,) = _filter_by_brand(console.get("payouts/doubtful"), payroll)

    assert (listed["id"], listed["status"], listed["amountCents"]) == (stuck_id, "Processing", 2_000)
    assert (listed["key"], listed["attempt"], listed["contradicted"]) == (f"payout:{stuck_id}:1", 1, False)
    assert listed["askedAt"] is not None


def test_recently_requested_payout_is_not_doubtful(console, payroll, stuck_id):
    with db.any_org_work():
        db.db.run("update payout_attempt set created_at = now() where organization_id = %s", (payroll.brand.id,))

    assert _filter_by_brand(console.get("payouts/doubtful"), payroll) == []


@pytest.mark.parametrize(
    ("body", "end"),
    [({"paidAs": "tr_123"}, ("Paid", 0)), ({"failedBecause": "not in their books"}, ("Failed", 2_000))],
)
def test_operator_settles_a_doubtful_payout(console, payroll, stuck_id, body, end):
    answer = console.post(f"payouts/{stuck_id}/settle", body)
    ((actor, actor_label, organization_id, after),) = list_audit_entries("payout.settled", stuck_id)

    assert (answer.status_code, answer.json) == (200, {"id": stuck_id, "status": end[0]})
    assert payroll.balance("ann") == {"USD": end[1]}
    assert (actor, actor_label, organization_id, after["key"]) == (
        "operator",
        "ops@example.com",
        payroll.brand.id,
        f"payout:{stuck_id}:1",
    )
    assert _filter_by_brand(console.get("payouts/doubtful"), payroll) == []
    assert console.post(f"payouts/{stuck_id}/settle", body).status_code == 409


@pytest.mark.parametrize(
    "body", [{}, {"paidAs": "a", "failedBecause": "b"}, {"paidAs": ""}, {"failedBecause": " "}, {"paidAs": 1}]
)
def test_settlement_needs_exactly_one_outcome(console, payroll, stuck_id, body):
    assert console.post(f"payouts/{stuck_id}/settle", body).status_code == 400
    assert payroll.payouts("status") == [("Processing",)]


def test_events_of_rails_are_listed_with_their_outcome(console, payroll, stuck_id):
    parked_id, late_id = f"evt_parked_{stuck_id}", f"evt_late_{stuck_id}"
    with db.any_org_work():
        for event_id, payout_ref, outcome in (
            (parked_id, (None, None), "Parked"),
            (late_id, (payroll.brand.id, stuck_id), "Late"),
        ):
            db.db.run(
                'insert into rail_event (rail, event_id, organization_id, payout_id, payout_key, answer, "references",'
                " outcome, received_at) values ('wallet', %s, %s, %s, 'payout:none:1', 'Paid', '{}', %s, now())",
                (event_id, *payout_ref, outcome),
            )
    open_events = {item["eventId"]: item for item in console.get("payouts/events")}
    all_ids = {item["eventId"] for item in console.get("payouts/events", open="false")}

    assert (open_events[parked_id]["outcome"], open_events[parked_id]["payoutKey"]) == ("Parked", "payout:none:1")
    assert late_id not in open_events
    assert {parked_id, late_id} <= all_ids
