"""Access to payout runs, and the gates of an organization. Source: core spec, "Payouts" (additional 409 codes)."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.api.payouts import (
    RUN,
    UNKNOWN_ID,
    URL,
    create_payout,
    owner_session,
    read_refusal,
    run_payouts,
    session_without_login,
)


@pytest.mark.parametrize("path", ["run", f"{UNKNOWN_ID}/retry", f"{UNKNOWN_ID}/void", f"{UNKNOWN_ID}/mark-paid"])
def test_only_a_freshly_logged_in_owner_moves_money(due_payroll, path):
    url = f"{URL}/{path}"
    callers = {
        "a key": due_payroll.brand,
        "a read key": due_payroll.brand.other_key(scope="read"),
        "a test key": due_payroll.brand.other_key(is_test=True),
        "an owner's token": session_without_login(due_payroll.brand),
        "a viewer's token": session_without_login(due_payroll.brand, "Viewer"),
    }
    for name, caller in callers.items():
        assert read_refusal(caller.post(url, {"confirmTotalCents": "wrong"})) == (
            403,
            "interactive_session_required",
        ), name
    for role in ("Admin", "Manager", "Viewer"):
        assert read_refusal(due_payroll.brand.person(role).post(url, {"confirmTotalCents": 2_000})) == (
            403,
            "forbidden",
        ), role
    due_payroll.brand.api_key = "ff_live_nobody"
    assert due_payroll.brand.post(url).status_code == 401
    assert due_payroll.payouts() == []


def test_key_on_the_free_plan_gets_interactive_session_required_first(due_payroll):
    due_payroll.brand.set(plan="Free")

    assert read_refusal(due_payroll.brand.post(RUN)) == (403, "interactive_session_required")


_GATE_SETTINGS = {
    "payouts_require_active_subscription": {"status": "Trialing"},
    "identity_required": {"identityRequired": "on"},
    "high_risk_unverified": {"verified": "off", "fraudScore": "60"},
    "unverified_prefund_only": {"verified": "off", "fundingMode": "debit"},
    "unverified_cap_exceeded": {"verified": "off"},
    "funding_frozen": {"fundingFrozen": "on"},
}


@pytest.mark.parametrize("code", _GATE_SETTINGS)
def test_each_gate_refuses_with_its_code_and_writes_nothing(payroll, code):
    payroll.affiliate("ann")
    payroll.sell("ann", 500_005)
    payroll.brand.set(**_GATE_SETTINGS[code])

    answer = owner_session(payroll).post(RUN, {"confirmTotalCents": 100_001})

    assert read_refusal(answer) == (409, code)
    assert payroll.payouts() == []
    if code == "unverified_cap_exceeded":
        assert re.findall(r"\d+", answer.json["message"]) == ["100000", "30", "0", "100000", "100001"]


def test_gates_are_checked_in_order_and_before_the_total(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 500_005)
    payroll.brand.set(
        status="Trialing",
        identityRequired="on",
        verified="off",
        fraudScore="60",
        fundingMode="debit",
        fundingFrozen="on",
    )
    changes_by_gate = [
        ("payouts_require_active_subscription", {"status": "Active"}),
        ("identity_required", {"identityRequired": "off"}),
        ("high_risk_unverified", {"fraudScore": "59"}),
        ("unverified_prefund_only", {"fundingMode": "balance"}),
        ("unverified_cap_exceeded", {"verified": "on"}),
        ("funding_frozen", {"fundingFrozen": "off"}),
    ]
    for code, change in changes_by_gate:
        assert read_refusal(owner_session(payroll).post(RUN, {"confirmTotalCents": 7})) == (409, code)
        payroll.brand.set(**change)

    assert read_refusal(owner_session(payroll).post(RUN, {"confirmTotalCents": 7})) == (409, "confirm_total_mismatch")


@pytest.mark.parametrize("settings", [{"plan": "Free"}, {"status": "PastDue"}, {"status": "Canceled"}])
def test_only_an_active_paid_plan_pays_out(due_payroll, settings):
    due_payroll.brand.set(**settings)

    assert read_refusal(owner_session(due_payroll).post(RUN, {"confirmTotalCents": 2_000})) == (
        409,
        "payouts_require_active_subscription",
    )


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"fraudScore": "85"}, "identity_required"),
        ({"fraudScore": "84"}, "high_risk_unverified"),
        ({"fraudScore": "84", "identityThreshold": "84"}, "identity_required"),
        ({"fraudScore": "100", "identityRequired": "off"}, "high_risk_unverified"),
        ({"fraudScore": "59"}, None),
        ({"fraudScore": "59", "highRiskThreshold": "59"}, "high_risk_unverified"),
        ({"fraudScore": "60", "highRiskThreshold": "61"}, None),
        ({"fraudScore": "100", "verified": "on"}, None),
        ({"fraudScore": "100", "verified": "pending"}, "identity_required"),
    ],
)
def test_operator_sets_the_fraud_score_thresholds(due_payroll, settings, code):
    due_payroll.brand.set(**{"verified": "off"} | settings)

    answer = owner_session(due_payroll).post(RUN, {"confirmTotalCents": 2_000})

    assert (answer.json.get("error"), answer.status_code) == (code, 409 if code else 200)


def test_cap_counts_runs_in_its_window(payroll):
    payroll.brand.set(verified="off")
    create_payout(payroll, "ann", 450_000)

    payroll.sell("ann", 50_005)
    answer = owner_session(payroll).post(RUN, {"confirmTotalCents": 10_001})
    assert read_refusal(answer) == (409, "unverified_cap_exceeded")
    assert re.findall(r"\d+", answer.json["message"]) == ["100000", "30", "90000", "10000", "10001"]
    payroll.execute("update payout set created_at = created_at - interval '31 days' where true")
    assert owner_session(payroll).post(RUN, {"confirmTotalCents": 10_001}).status_code == 200


def test_payouts_of_an_unverified_organization_are_held(due_payroll):
    due_payroll.brand.set(verified="off")

    receipt = run_payouts(due_payroll)
    due_payroll.pay()

    held_days = datetime.fromisoformat(receipt["holdUntil"]) - datetime.now(UTC)
    assert timedelta(days=6, hours=23) < held_days <= timedelta(days=7)
    assert receipt["payouts"][0]["holdUntil"] == receipt["holdUntil"]
    assert due_payroll.payouts() == [("Pending", 2_000)]
    assert due_payroll.brand.get(URL).json["items"][0]["holdUntil"] == receipt["holdUntil"]


def test_run_needing_review_is_accepted_and_parked(due_payroll):
    due_payroll.brand.set(needsReview="on")

    receipt = run_payouts(due_payroll)
    due_payroll.pay()

    assert (receipt["needsManualReview"], receipt["reviewStatus"]) == (True, "Pending")
    assert [
        (payout_receipt["needsManualReview"], payout_receipt["reviewStatus"]) for payout_receipt in receipt["payouts"]
    ] == [(True, "Pending")]
    assert due_payroll.payouts() == [("Pending", 2_000)]
    (payout,) = due_payroll.brand.get(URL).json["items"]
    assert (payout["needsManualReview"], payout["reviewStatus"]) == (True, "Pending")
