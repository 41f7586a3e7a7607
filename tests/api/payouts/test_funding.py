"""The funding status of payouts, through HTTP. Source: core spec, "Payouts" (funding status)."""

import pytest

from tests.support.api.payouts import URL, create_payout, owner_session, session_without_login
from tests.support.rows.payroll import Payroll

STATUS = f"{URL}/funding/status"


def _get_status(caller):
    answer = caller.get(STATUS)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json


def test_verified_organization_may_pay_its_whole_balance(payroll):
    payroll.brand.set(bankBalanceCents="123456")

    assert _get_status(payroll.brand) == {
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


def test_debit_mode_has_no_balance(payroll):
    payroll.brand.set(fundingMode="debit", bankBalanceCents="5")

    status = _get_status(owner_session(payroll))

    assert (status["mode"], status["bankTransferBalanceCents"], status["bankTransferInstructions"]) == (
        "debit",
        None,
        None,
    )


def test_unverified_organization_sees_its_cap_and_usage(payroll):
    payroll.brand.set(verified="pending")
    create_payout(payroll, "ann", 450_000)

    status = _get_status(payroll.brand)

    assert (status["verificationState"], status["payoutsAllowed"]) == ("pending", True)
    assert (
        status["unverifiedRules"] | {"capUsedCents": 90_000, "capRemainingCents": 10_000} == status["unverifiedRules"]
    )


def test_failed_payout_does_not_use_the_cap(app):
    payroll = Payroll.create(app, rail="fail")
    create_payout(payroll, "ann", 450_000)
    payroll.pay()
    payroll.brand.set(verified="off")

    assert _get_status(payroll.brand)["unverifiedRules"]["capRemainingCents"] == 100_000


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
def test_status_names_the_blocking_gate(payroll, settings, reason):
    payroll.brand.set(**settings)

    status = _get_status(payroll.brand)

    assert (status["payoutsAllowed"], status["payoutsBlockedReason"]) == (False, reason)
    assert status["payoutsBlockedMessage"].endswith(".")
    assert status["identityRequired"] is (reason == "identity_required")
    assert status["verificationRequired"] is (settings.get("fraudScore") in ("60", "85"))


def test_used_up_cap_blocks_payouts(payroll):
    create_payout(payroll, "ann", 500_000)
    payroll.brand.set(verified="off")

    status = _get_status(payroll.brand)

    assert (status["payoutsAllowed"], status["payoutsBlockedReason"]) == (False, "unverified_cap_exceeded")
    assert status["unverifiedRules"]["capRemainingCents"] == 0


@pytest.mark.parametrize("mode", ["balance", "debit"])
@pytest.mark.parametrize("role", ["Owner", "Admin", "Manager", "Viewer"])
def test_no_person_can_manage_funding(payroll, role, mode):
    payroll.brand.set(fundingMode=mode)

    status = _get_status(payroll.brand.person(role))

    assert (status["canManageFunding"], status["bankTransferInstructions"]) == (False, None)


def test_key_or_token_without_login_cannot_manage_funding(payroll):
    for caller in (payroll.brand, payroll.brand.other_key(scope="read"), session_without_login(payroll.brand)):
        status = _get_status(caller)
        assert (status["canManageFunding"], status["bankTransferInstructions"]) == (False, None)


def test_funding_has_only_a_read_operation(app):
    # Once an operation changes funding, canManageFunding and the instructions must depend on the caller.
    operations = {
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if "funding" in rule.rule and rule.rule.startswith("/api/v1/payouts")
    }

    assert operations == {("/api/v1/payouts/funding/status", "GET")}


def test_other_tenants_payouts_do_not_use_the_cap(payroll, rival):
    create_payout(payroll, "ann", 450_000)

    assert _get_status(rival)["unverifiedRules"]["capUsedCents"] == 0
