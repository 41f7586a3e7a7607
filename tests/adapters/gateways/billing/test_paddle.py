"""Paddle: signed header, transactions, adjustments after approval, trials, revoked keys."""

import json
from datetime import UTC, datetime

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, Inbound, NotProved
from adapters.gateways.billing.paddle import GATEWAY
from domain.gateways.facts import (
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    StartFact,
)
from domain.gateways.referrals import list_claims
from tests.support.gateways.billing.paddle import sign
from tests.support.gateways.deliveries import build_account
from tests.support.gateways.deliveries import read_facts as facts

TOTALS = {
    "subtotal": "10000",
    "discount": "1000",
    "tax": "1890",
    "total": "10890",
    "credit": "0",
    "balance": "0",
    "grand_total": "10890",
    "grand_total_tax": "1890",
    "currency_code": "USD",
}
TRANSACTION = {
    "id": "txn_P1",
    "status": "completed",
    "origin": "web",
    "customer_id": "ctm_P1",
    "subscription_id": "sub_P1",
    "currency_code": "USD",
    "discount_id": "dsc_P1",
    "custom_data": {"affiliate_slug": "jane"},
    "details": {"totals": TOTALS},
}
REFUND = {
    "id": "adj_P1",
    "action": "refund",
    "type": "partial",
    "status": "approved",
    "transaction_id": "txn_P1",
    "subscription_id": "sub_P1",
    "customer_id": "ctm_P1",
    "currency_code": "USD",
    "totals": {"subtotal": "3600", "tax": "756", "total": "4356"},
}
CHARGEBACK = {**REFUND, "id": "adj_P2", "action": "chargeback", "totals": {"total": "6534"}}
TRIAL = {
    "id": "sub_P5",
    "status": "trialing",
    "transaction_id": "txn_P5",
    "customer_id": "ctm_P5",
    "currency_code": "USD",
    "custom_data": {"affiliate_slug": "jane"},
}
_AT = datetime(2026, 1, 2, 3, 1, tzinfo=UTC)


@pytest.fixture
def stage(stage):
    stage.objects["/discounts/dsc_P1"] = {"id": "dsc_P1", "code": "JANE10"}
    customer = {"id": "ctm_P1", "email": "ann@example.com", "name": "Ann", "custom_data": {"affiliate_slug": "anna"}}
    stage.objects["/customers/ctm_P1"] = customer
    return stage


def _read_event(stage, kind, data, at="2026-01-02T03:01:00Z"):
    event = {"event_id": "evt_P1", "event_type": kind, "occurred_at": at, "notification_id": "ntf_P1", "data": data}
    read_facts = facts(stage, sign(json.dumps(event).encode()))
    assert len(read_facts) == 1
    return read_facts[0]


def _slugs(origin):
    return [(claim.slug, claim.method) for claim in list_claims(origin.carriers, ["via"])]


def _prove(header, secrets=("pdl_ntfset_test",), body=b'{"id":"evt_1","object":"event"}', at=1_700_000_000):
    current, *former = ({"webhookSecret": secret} for secret in secrets)
    own_account = GatewayAccount("live", current, former=tuple(former))
    received = datetime.fromtimestamp(at, UTC)
    return GATEWAY.prove(own_account, Inbound("POST", {"Paddle-Signature": header}, {}, body, received)).deliveries


_DIGEST = "7632c027aef2a675917a75f94cfd7719fad79196f0eecb013a643166b9f51d21"


def test_signature_covers_time_and_body_within_five_minutes():
    for at in (1_700_000_000, 1_700_000_300, 1_699_999_700):
        (delivery,) = _prove(f"ts=1700000000;h1={_DIGEST}", at=at)
        assert delivery.type == "unreadable"
    assert _prove(f"ts=1700000000;h1={'0' * 64};h1={_DIGEST}", ("new", "pdl_ntfset_test"))


@pytest.mark.parametrize(
    "proof",
    [
        {"header": ""},
        {"header": f"h1={_DIGEST}"},
        {"header": f"ts=1700000000,h1={_DIGEST}"},
        {"header": f"ts=1700000001;h1={_DIGEST}"},
        {"header": f"ts=1700000000;p_signature={_DIGEST}"},
        {"header": f"ts=1700000000;h1={_DIGEST}", "secrets": ("pdl_ntfset_tes",)},
        {"header": f"ts=1700000000;h1={_DIGEST}", "body": b'{"id":"evt_2","object":"event"}'},
        {"header": f"ts=1700000000;h1={_DIGEST}", "at": 1_700_000_301},
    ],
    ids=range(8),
)
def test_invalid_signature_is_rejected(proof):
    with pytest.raises(NotProved):
        _prove(**proof)


def test_completed_transaction_is_a_payment(stage):
    payment = _read_event(stage, "transaction.completed", TRANSACTION)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents, payment.currency) == (
        "txn_P1",
        10_890,
        9_000,
        "USD",
    )
    assert (payment.paid_at, payment.origin.customer_id, payment.origin.subscription_id) == (_AT, "ctm_P1", "sub_P1")
    assert _slugs(payment.origin) == [("jane", "paddle_custom_data")]
    codes = [(code.text, code.method, code.id) for code in payment.origin.codes]
    assert codes == [("JANE10", "paddle_coupon_code", "dsc_P1")]


def test_renewal_is_the_next_transaction(stage):
    renewal = {**TRANSACTION, "id": "txn_P2", "origin": "subscription_recurring", "discount_id": None}
    payment = _read_event(stage, "transaction.completed", renewal)
    assert (payment.external_id, payment.amount_cents, payment.origin.codes) == ("txn_P2", 10_890, ())
    assert (payment.origin.customer_id, _slugs(payment.origin)) == ("ctm_P1", [("jane", "paddle_custom_data")])


def test_credit_is_not_counted_as_payment(stage):
    totals = {**TOTALS, "credit": "890", "grand_total": "10000"}
    assert (
        _read_event(stage, "transaction.completed", {**TRANSACTION, "details": {"totals": totals}}).amount_cents
        == 10_000
    )


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("transaction.completed", {"origin": "subscription_payment_method_change"}),
        ("transaction.paid", {}),
        ("transaction.billed", {}),
        ("transaction.updated", {}),
        ("transaction.ready", {}),
    ],
)
def test_events_without_money_are_ignored(stage, kind, changes):
    assert type(_read_event(stage, kind, {**TRANSACTION, **changes})) is IgnoredFact


def test_refund_counts_after_approval(stage):
    pending = {**REFUND, "status": "pending_approval"}
    assert _read_event(stage, "adjustment.created", pending) == IgnoredFact("not_decided")
    assert _read_event(stage, "adjustment.updated", {**REFUND, "status": "rejected"}) == IgnoredFact("not_decided")
    assert _read_event(stage, "adjustment.updated", REFUND, "2026-01-04T00:00:00Z") == RefundFact(
        refund_id="adj_P1",
        sale_ids=("txn_P1",),
        amount_cents=4_356,
        currency="USD",
        refunded_at=datetime(2026, 1, 4, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("action", "state"),
    [("chargeback", "lost"), ("chargeback_reverse", "won"), ("chargeback_warning", None), ("credit", None)],
)
def test_chargeback_is_lost_and_its_reversal_is_won(stage, action, state):
    fact = _read_event(stage, "adjustment.created", {**CHARGEBACK, "action": action}, "2026-01-20T00:00:00Z")
    if state is None:
        assert fact == IgnoredFact("no_money_moved")
    else:
        assert isinstance(fact, DisputeFact)
        assert (fact.sale_ids, fact.state) == (("txn_P1",), DisputeState(state))
        assert (fact.at, fact.amount_cents, fact.currency) == (datetime(2026, 1, 20, tzinfo=UTC), 6_534, "USD")


def test_trial_is_a_start_and_other_subscriptions_are_referrals(stage):
    start = _read_event(stage, "subscription.created", TRIAL, "2026-01-02T03:00:30Z")
    assert isinstance(start, StartFact)
    assert (start.external_id, start.started_at) == ("sub_P5", datetime(2026, 1, 2, 3, 0, 30, tzinfo=UTC))
    assert (start.origin.customer_id, _slugs(start.origin)) == ("ctm_P5", [("jane", "paddle_custom_data")])
    assert isinstance(_read_event(stage, "subscription.created", {**TRIAL, "status": "active"}), ReferralFact)


def test_customer_lookup_adds_email_and_slugs_after_the_payments(stage):
    payment = _read_event(stage, "transaction.completed", TRANSACTION)
    detailed_origin = GATEWAY.look_closer(build_account(stage), payment.origin)
    assert (detailed_origin.email, detailed_origin.name) == ("ann@example.com", "Ann")
    assert [slug for slug, _ in _slugs(detailed_origin)] == ["jane", "anna"]


def test_revoked_own_key_raises_and_another_key_is_ignored(stage):
    revoked = {"id": "apikey_1", "status": "revoked"}
    assert _read_event(stage, "api_key.revoked", revoked) == IgnoredFact("another_key")
    stage.faults.append("forbid")
    with pytest.raises(CredentialsRefused):
        _read_event(stage, "api_key.revoked", revoked)


def test_key_without_an_account_is_rejected(stage):
    stage.objects["/"] = {"caller": {"account": None}}
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(build_account(stage))
