"""Payouts that wait for an operator. Source: core spec, "Payouts" (review); docs/payouts.md."""

import pytest

from models import db
from tests.support.api.payouts import NOBODY
from tests.support.outside.console import list_audit_entries
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    return Payroll.create_owing(app)


@pytest.fixture
def waiting(payroll):
    """The id of a run that waits for a review."""
    return payroll.create_run_under_review()


@pytest.fixture
def stuck(payroll):
    """The id of a payout whose rail does not say what became of it."""
    return payroll.create_stuck_payout()


def _of(listed, payroll):
    return [one for one in listed if one["organizationId"] == str(payroll.brand.id)]


def test_a_run_that_waits_is_listed_until_it_is_decided(console, payroll, waiting):
    (listed,) = _of(console.get("payouts/runs"), payroll)
    answer = console.post(f"payouts/runs/{waiting}/review", {"decision": "approve", "why": "looked at it"})
    payroll.pay()

    assert (listed["id"], listed["payouts"], listed["amountCents"]) == (waiting, 1, 2_000)
    assert (listed["organization"], listed["pending"], listed["reviewStatus"]) == ("Brand", 1, "Pending")
    assert (answer.status_code, answer.json) == (200, {"id": waiting, "reviewStatus": "Approved", "payouts": 1})
    assert payroll.payouts("status") == [("Paid",)]
    assert _of(console.get("payouts/runs"), payroll) == []
    assert [one["reviewStatus"] for one in _of(console.get("payouts/runs", waiting="false"), payroll)] == ["Approved"]
    assert list_audit_entries("payout.reviewed", waiting) == [
        (
            "operator",
            "ops@example.com",
            payroll.brand.id,
            {"reviewStatus": "Approved", "why": "looked at it", "payouts": 1},
        )
    ]


def test_a_rejected_run_pays_nobody(console, payroll, waiting):
    answer = console.post(f"payouts/runs/{waiting}/review", {"decision": "reject", "why": "not them"})
    again = console.post(f"payouts/runs/{waiting}/review", {"decision": "approve", "why": "after all"})
    payroll.pay()

    assert answer.json["reviewStatus"] == "Rejected"
    assert (again.status_code, again.json["error"]) == (409, "invalid_status_transition")
    assert payroll.payouts("status, failure_code") == [("Failed", "review_rejected")]
    assert payroll.balance("ann") == {"USD": 2_000}


def test_a_decision_wants_a_reason_and_a_run(console, payroll, waiting):
    for body in (
        {"decision": "approve"},
        {"decision": "approve", "why": " "},
        {"why": "w"},
        {"decision": "x", "why": "w"},
    ):
        assert console.post(f"payouts/runs/{waiting}/review", body).status_code == 400
    assert console.post(f"payouts/runs/{NOBODY}/review", {"decision": "approve", "why": "w"}).status_code == 404
    assert payroll.payouts("status") == [("Pending",)]


def test_a_payout_that_its_rail_says_nothing_of_is_doubtful(console, payroll, stuck):
    (listed,) = _of(console.get("payouts/doubtful"), payroll)

    assert (listed["id"], listed["status"], listed["amountCents"]) == (stuck, "Processing", 2_000)
    assert (listed["key"], listed["attempt"], listed["contradicted"]) == (f"payout:{stuck}:1", 1, False)
    assert listed["askedAt"] is not None


def test_what_was_asked_just_now_is_in_no_doubt(console, payroll, stuck):
    with db.any_org_work():
        db.db.run("update payout_attempt set created_at = now() where organization_id = %s", (payroll.brand.id,))

    assert _of(console.get("payouts/doubtful"), payroll) == []


@pytest.mark.parametrize(
    ("found_out", "end"),
    [({"paidAs": "tr_123"}, ("Paid", 0)), ({"failedBecause": "not in their books"}, ("Failed", 2_000))],
)
def test_an_operator_says_how_it_ended(console, payroll, stuck, found_out, end):
    answer = console.post(f"payouts/{stuck}/settle", found_out)
    ((actor, who, where, after),) = list_audit_entries("payout.settled", stuck)

    assert (answer.status_code, answer.json) == (200, {"id": stuck, "status": end[0]})
    assert payroll.balance("ann") == {"USD": end[1]}
    assert (actor, who, where, after["key"]) == ("operator", "ops@example.com", payroll.brand.id, f"payout:{stuck}:1")
    assert _of(console.get("payouts/doubtful"), payroll) == []
    assert console.post(f"payouts/{stuck}/settle", found_out).status_code == 409


@pytest.mark.parametrize(
    "body", [{}, {"paidAs": "a", "failedBecause": "b"}, {"paidAs": ""}, {"failedBecause": " "}, {"paidAs": 1}]
)
def test_one_of_the_two_ends_is_said(console, payroll, stuck, body):
    assert console.post(f"payouts/{stuck}/settle", body).status_code == 400
    assert payroll.payouts("status") == [("Processing",)]


def test_words_of_rails_are_listed_with_what_became_of_them(console, payroll, stuck):
    parked, late = f"evt_parked_{stuck}", f"evt_late_{stuck}"
    with db.any_org_work():
        for event_id, whose, outcome in (
            (parked, (None, None), "Parked"),
            (late, (payroll.brand.id, stuck), "Late"),
        ):
            db.db.run(
                'insert into rail_event (rail, event_id, organization_id, payout_id, payout_key, answer, "references",'
                " outcome, received_at) values ('wallet', %s, %s, %s, 'payout:none:1', 'Paid', '{}', %s, now())",
                (event_id, *whose, outcome),
            )
    waiting = {one["eventId"]: one for one in console.get("payouts/events")}
    all_of_them = {one["eventId"] for one in console.get("payouts/events", open="false")}

    assert (waiting[parked]["outcome"], waiting[parked]["payoutKey"]) == ("Parked", "payout:none:1")
    assert late not in waiting
    assert {parked, late} <= all_of_them
