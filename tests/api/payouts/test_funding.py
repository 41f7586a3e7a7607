"""How payouts are funded, through HTTP. Source: core spec, "Payouts" (funding status)."""

import pytest

from tests.support.api.payouts import URL, create_payout, owner_session, session_without_login
from tests.support.rows.payroll import Payroll

STATUS = f"{URL}/funding/status"


def _shown(caller):
    answer = caller.get(STATUS)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json


def test_a_verified_organization_may_pay_as_much_as_there_is(payroll):
    payroll.brand.set(bankBalanceCents="123456")

    assert _shown(payroll.brand) == {
        "mode": "balance",
        "bankTransferBalanceCents": 123_456,
        "verificationState": "verified",
        "payoutsAllowed": True,
        "payoutsBlockedReason": None,
        "payoutsBlockedMessage": None,
        "verificationRequired": False,
        "identityRequired": False,
        "canManageFunding": False,
        "bankTransferInstructions": None,
        "unverifiedRules": {
            "holdingDays": 7,
            "windowDays": 30,
            "capCents": 100_000,
            "capUsedCents": 0,
            "capRemainingCents": None,
        },
    }


def test_by_debit_there_is_no_balance(payroll):
    payroll.brand.set(fundingMode="debit", bankBalanceCents="5")

    shown = _shown(owner_session(payroll))

    assert (shown["mode"], shown["bankTransferBalanceCents"], shown["bankTransferInstructions"]) == (
        "debit",
        None,
        None,
    )


def test_an_unverified_organization_sees_its_cap_and_what_is_used_of_it(payroll):
    payroll.brand.set(verified="pending")
    create_payout(payroll, "ann", 450_000)

    shown = _shown(payroll.brand)

    assert (shown["verificationState"], shown["payoutsAllowed"]) == ("pending", True)
    assert shown["unverifiedRules"] | {"capUsedCents": 90_000, "capRemainingCents": 10_000} == shown["unverifiedRules"]


def test_a_failed_payout_uses_nothing_of_the_cap(app):
    payroll = Payroll.create(app, rail="fail")
    create_payout(payroll, "ann", 450_000)
    payroll.pay()
    payroll.brand.set(verified="off")

    assert _shown(payroll.brand)["unverifiedRules"]["capRemainingCents"] == 100_000


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"status": "Trialing"}, "payouts_require_active_subscription"),
        ({"identityRequired": "on"}, "identity_required"),
        ({"verified": "off", "fraudScore": "85"}, "identity_required"),
        ({"verified": "off", "fraudScore": "60"}, "high_risk_unverified"),
        ({"verified": "off", "fundingMode": "debit"}, "unverified_prefund_only"),
        ({"fundingFrozen": "on"}, "funding_frozen"),
    ],
)
def test_it_says_why_no_run_can_pass(payroll, settings, reason):
    payroll.brand.set(**settings)

    shown = _shown(payroll.brand)

    assert (shown["payoutsAllowed"], shown["payoutsBlockedReason"]) == (False, reason)
    assert shown["payoutsBlockedMessage"].endswith(".")
    assert shown["identityRequired"] is (reason == "identity_required")
    assert shown["verificationRequired"] is (settings.get("fraudScore") in ("60", "85"))


def test_with_the_cap_used_up_nothing_can_be_paid(payroll):
    create_payout(payroll, "ann", 500_000)
    payroll.brand.set(verified="off")

    shown = _shown(payroll.brand)

    assert (shown["payoutsAllowed"], shown["payoutsBlockedReason"]) == (False, "unverified_cap_exceeded")
    assert shown["unverifiedRules"]["capRemainingCents"] == 0


@pytest.mark.parametrize("mode", ["balance", "debit"])
@pytest.mark.parametrize("role", ["Owner", "Admin", "Manager", "Viewer"])
def test_no_person_can_manage_funding(payroll, role, mode):
    payroll.brand.set(fundingMode=mode)

    shown = _shown(payroll.brand.person(role))

    assert (shown["canManageFunding"], shown["bankTransferInstructions"]) == (False, None)


def test_no_key_and_no_other_token_manages_funding(payroll):
    for caller in (payroll.brand, payroll.brand.other_key(scope="read"), session_without_login(payroll.brand)):
        shown = _shown(caller)
        assert (shown["canManageFunding"], shown["bankTransferInstructions"]) == (False, None)


def test_funding_has_only_the_operation_that_reads_it(app):
    # With one that changes it, canManageFunding and the instructions are to follow the caller.
    operations = {
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if "funding" in rule.rule and rule.rule.startswith("/api/v1/payouts")
    }

    assert operations == {("/api/v1/payouts/funding/status", "GET")}


def test_one_organizations_payouts_are_not_anothers_cap(payroll, rival):
    create_payout(payroll, "ann", 450_000)

    assert _shown(rival)["unverifiedRules"]["capUsedCents"] == 0
