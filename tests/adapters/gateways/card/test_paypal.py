"""PayPal: its own verification of events, both generations of its API, and samples of each."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import (
    CredentialsRefused,
    GatewayAccount,
    GatewayRejected,
    GatewayUnreachable,
    NotProved,
)
from adapters.gateways.card.paypal import GATEWAY
from domain.gateways.facts import (
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)
from domain.gateways.referrals import list_claims
from tests.support.gateways.card.paypal import sign
from tests.support.gateways.deliveries import build_account, build_inbound, list_deliveries, list_facts, read_facts
from tests.support.gateways.stage import Notification, Purchase

_UP = {"rel": "up", "method": "GET", "href": "https://api.paypal.com/v2/payments/captures/PPCAP1"}
CAPTURE = {
    "id": "PPCAP1",
    "status": "COMPLETED",
    "amount": {"currency_code": "USD", "value": "50.00"},
    "custom_id": "jane",
    "supplementary_data": {"related_ids": {"order_id": "PPORD1"}},
    "create_time": "2026-01-02T03:00:00Z",
}
SALE = {
    "id": "PPSALE1",
    "state": "completed",
    "billing_agreement_id": "I-SUB1",
    "amount": {"total": "9.99", "currency": "USD", "details": {"subtotal": "9.99"}},
    "create_time": "2026-01-02T03:00:58Z",
}
REFUND = {
    "id": "PPREF1",
    "status": "COMPLETED",
    "amount": {"currency_code": "USD", "value": "20.00"},
    "seller_payable_breakdown": {"total_refunded_amount": {"currency_code": "USD", "value": "20.00"}},
    "links": [_UP],
}
REFUND_OF_SALE = {
    "id": "PPREF2",
    "sale_id": "PPSALE1",
    "state": "completed",
    "amount": {"total": "9.99", "currency": "USD"},
}
DISPUTE = {
    "dispute_id": "PP-D-1",
    "status": "RESOLVED",
    "dispute_amount": {"currency_code": "USD", "value": "30.00"},
    "dispute_outcome": {
        "outcome_code": "RESOLVED_BUYER_FAVOUR",
        "amount_refunded": {"currency_code": "USD", "value": "30.00"},
    },
    "disputed_transactions": [{"seller_transaction_id": "PPCAP1"}],
}
SUBSCRIPTION = {
    "id": "I-SUB1",
    "plan_id": "P-1",
    "status": "ACTIVE",
    "custom_id": "jane",
    "subscriber": {
        "email_address": "ann@example.com",
        "payer_id": "PAYER1",
        "name": {"given_name": "Ann", "surname": "A"},
    },
    "billing_info": {"cycle_executions": [{"tenure_type": "TRIAL", "sequence": 1, "cycles_completed": 0}]},
}


def _read_event(stage, kind: str, resource: dict) -> list:
    return read_facts(stage, stage.event(kind, resource))


def _slugs(fact) -> list[str]:
    return [claim.slug for claim in list_claims(fact.origin.carriers, ["via"])]


def test_capture_is_a_payment_of_its_orders_payer(stage):
    breakdown = {"tax_total": {"value": "8.00"}, "shipping": {"value": "2.00"}}
    unit = {"amount": {**CAPTURE["amount"], "breakdown": breakdown}}
    payer = {"payer_id": "PAYER1", "email_address": "ann@example.com", "name": {"given_name": "Ann"}}
    stage.objects["/v2/checkout/orders/PPORD1"] = {"payer": payer, "purchase_units": [unit]}
    (payment,) = _read_event(stage, "PAYMENT.CAPTURE.COMPLETED", CAPTURE)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == ("PPCAP1", 5000, 4000)
    assert payment.paid_at == datetime(2026, 1, 2, 3, tzinfo=UTC)
    assert (payment.origin.customer_id, payment.origin.email) == ("PAYER1", "ann@example.com")
    assert _slugs(payment) == ["jane"]


def test_capture_without_its_order_is_a_payment(stage):
    (payment,) = _read_event(stage, "PAYMENT.CAPTURE.COMPLETED", CAPTURE)
    assert (payment.amount_cents, payment.net_cents, payment.origin.email) == (5000, None, None)


def test_subscriptions_custom_id_precedes_the_sales(stage):
    stage.objects["/v1/billing/subscriptions/I-SUB1"] = SUBSCRIPTION
    (payment,) = _read_event(stage, "PAYMENT.SALE.COMPLETED", {**SALE, "custom": "anna"})
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("PPSALE1", 999, "USD")
    assert (payment.origin.subscription_id, payment.origin.customer_id) == ("I-SUB1", "PAYER1")
    assert _slugs(payment) == ["jane", "anna"]


def test_sale_without_a_subscription_is_a_payment(stage):
    (payment,) = _read_event(stage, "PAYMENT.SALE.COMPLETED", {**SALE, "billing_agreement_id": None})
    assert (payment.amount_cents, payment.origin.subscription_id) == (999, None)


@pytest.mark.parametrize(
    ("kind", "resource", "expected"),
    [
        ("PAYMENT.CAPTURE.REFUNDED", REFUND, ("PPREF1", ("PPCAP1",), 2000)),
        ("PAYMENT.SALE.REFUNDED", REFUND_OF_SALE, ("PPREF2", ("PPSALE1",), 999)),
        (
            "PAYMENT.SALE.REFUNDED",
            {**REFUND_OF_SALE, "amount": {"total": "-9.99", "currency": "USD"}},
            ("PPREF2", ("PPSALE1",), 999),
        ),
    ],
)
def test_refund_names_its_payment_in_both_generations(stage, kind, resource, expected):
    (refund,) = _read_event(stage, kind, resource)
    assert isinstance(refund, RefundFact)
    assert (refund.refund_id, refund.sale_ids, refund.amount_cents) == expected
    assert refund.is_cumulative is False


def test_pending_refund_is_ignored_and_refund_without_payment_is_unreadable(stage):
    assert _read_event(stage, "PAYMENT.CAPTURE.REFUNDED", {**REFUND, "status": "PENDING"}) == [
        IgnoredFact("not_decided")
    ]
    with pytest.raises(UnreadableEvent):
        _read_event(stage, "PAYMENT.CAPTURE.REFUNDED", {**REFUND, "links": [{**_UP, "href": "https://x/v2/other/1"}]})


def test_reversal_and_lost_dispute_have_the_same_id(stage):
    (reversal,) = _read_event(stage, "PAYMENT.CAPTURE.REVERSED", {**REFUND, "id": "PPREV1"})
    (sale_reversal,) = _read_event(stage, "PAYMENT.SALE.REVERSED", {**SALE, "state": "reversed"})
    (dispute,) = _read_event(stage, "CUSTOMER.DISPUTE.RESOLVED", DISPUTE)
    assert isinstance(reversal, DisputeFact)
    assert (reversal.dispute_id, reversal.state) == ("PPCAP1", DisputeState.Lost)
    assert (dispute.dispute_id, dispute.sale_ids, dispute.state) == ("PPCAP1", ("PPCAP1",), DisputeState.Lost)
    assert sale_reversal.sale_ids == ("PPSALE1",)


def test_undecided_dispute_is_ignored(stage):
    undecided = {**DISPUTE, "dispute_outcome": {"outcome_code": "NONE"}}
    assert _read_event(stage, "CUSTOMER.DISPUTE.RESOLVED", undecided) == [IgnoredFact("not_decided")]


def test_trial_subscription_is_a_start_and_paid_subscription_a_referral(stage):
    (start,) = _read_event(stage, "BILLING.SUBSCRIPTION.ACTIVATED", SUBSCRIPTION)
    billing_info = {"last_payment": {"amount": {"value": "9.99"}}}
    (referral,) = _read_event(stage, "BILLING.SUBSCRIPTION.ACTIVATED", {**SUBSCRIPTION, "billing_info": billing_info})
    assert isinstance(start, StartFact)
    assert (start.external_id, start.origin.email, _slugs(start)) == ("I-SUB1", "ann@example.com", ["jane"])
    assert isinstance(referral, ReferralFact)
    assert referral.origin.subscription_id == "I-SUB1"


@pytest.mark.parametrize(
    "custom", ["affiliate_slug=jane&sub_id=x", "/?via=jane", '{"affiliate_slug": "jane"}', " jane "]
)
def test_custom_id_is_a_slug_a_query_or_an_object(stage, custom):
    (payment,) = _read_event(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "custom_id": custom})
    assert _slugs(payment) == ["jane"]


@pytest.mark.parametrize("custom", [None, 7, "", "{", "order 17", "[]"])
def test_malformed_custom_id_claims_nothing(stage, custom):
    (payment,) = _read_event(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "custom_id": custom})
    assert _slugs(payment) == []


@pytest.mark.parametrize("value", ["-50.00", "x", "", None, True, "1e30", "9" * 30])
def test_malformed_amount_is_unreadable(stage, value):
    with pytest.raises(UnreadableEvent):
        _read_event(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "amount": {"currency_code": "USD", "value": value}})


def test_oversized_id_is_unreadable(stage):
    with pytest.raises(UnreadableEvent):
        _read_event(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "id": "x" * 500})


def test_verification_request_contains_the_unchanged_body(stage):
    body = b'{ "id":"WH-9", "b":1.0,"a":{ },"event_type":"X", "resource":{}}'
    (delivery,) = list_deliveries(stage, sign(body))
    assert (delivery.key, delivery.raw) == ("WH-9", body)
    assert body in stage.calls[-1].body


@pytest.mark.parametrize("body", [b'{},"webhook_id":"WH-OTHER"', b"{}}", b'{"a":1}{"b":2}', b"[]", b"7"])
def test_non_object_body_is_rejected_without_a_request(stage, body):
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(body))
    assert stage.calls == []


def test_missing_signature_header_is_rejected(stage):
    (notification,) = stage.pay(Purchase()).notifications
    for name in notification.headers:
        with pytest.raises(NotProved):
            list_deliveries(stage, Notification(notification.body, {**notification.headers, name: ""}))
    assert stage.calls == []


def test_event_of_another_webhook_is_rejected(stage):
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(b'{"id":"WH-1"}', "WH-HOOK-OTHER"))


@pytest.mark.parametrize("fault", ["fail", "busy", "cut", "html", "refuse"])
def test_failed_verification_request_raises_gateway_unreachable(stage, fault):
    stage.faults.append(fault)
    with pytest.raises(GatewayUnreachable):
        list_deliveries(stage, sign(b'{"id":"WH-1"}'))


def test_token_is_cached_and_renewed_when_rejected(stage):
    for _ in range(2):
        list_deliveries(stage, sign(b'{"id":"WH-1"}'))
    assert len(stage.tokens) == 1

    stage.tokens.clear()
    list_deliveries(stage, sign(b'{"id":"WH-1"}'))
    assert len(stage.tokens) == 1


def test_token_that_expires_soon_is_not_cached(stage):
    stage.lives_s = 30
    for _ in range(2):
        list_deliveries(stage, sign(b'{"id":"WH-1"}'))
    assert len(stage.tokens) == 2


def test_missing_webhook_raises_credentials_refused(stage):
    stage.objects.clear()
    with pytest.raises(CredentialsRefused, match="webhook"):
        GATEWAY.check(build_account(stage))


def test_subscribing_again_reuses_the_existing_webhook(stage):
    own_account, address = build_account(stage), "https://finderfee.example/api/gateways/paypal/token"
    first, second = (GATEWAY.subscribe(own_account, address) for _ in range(2))
    assert first.made == second.made != {}
    for _ in range(2):
        GATEWAY.unsubscribe(GatewayAccount("live", own_account.credentials, first.made))
    assert not [stored for stored in stage.objects.values() if stored.get("url") == address]


def test_all_months_and_pages_of_the_report_are_read(stage):
    for days in (40, 10):
        stage.now = datetime.now(UTC) - timedelta(days=days)
        sales = [stage.pay(Purchase(customer=str(number))) for number in range(101)]
        stage.refund(stage.pay(Purchase(renews=sales[0])), 10_890)
    listed_facts = list_facts(stage, datetime.now(UTC) - timedelta(days=50))
    kinds = [type(fact) for line_facts in listed_facts.values() for fact in line_facts]
    assert (kinds.count(PaymentFact), kinds.count(RefundFact)) == (204, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"transaction_event_code": "T0001"},
        {"transaction_event_code": "T1107"},
        {"transaction_status": "P"},
        {"transaction_status": "D"},
        {"transaction_amount": {"currency_code": "USD", "value": "-10.00"}},
        {"transaction_amount": None},
    ],
)
def test_other_report_lines_are_ignored(stage, changes):
    stage.pay(Purchase())
    stage.report[0]["transaction_info"] |= changes
    assert list_facts(stage, stage.now - timedelta(hours=1)) == {}


def test_reversal_in_the_report_is_the_same_lost_dispute(stage):
    sale = stage.pay(Purchase())
    stage.refund(sale, 10_890)
    stage.report[1]["transaction_info"]["transaction_event_code"] = "T1201"
    (dispute,) = list(list_facts(stage, stage.now - timedelta(hours=1)).values())[1]
    assert isinstance(dispute, DisputeFact)
    assert (dispute.dispute_id, dispute.state) == (sale.id, DisputeState.Lost)


def test_missing_search_permission_raises_gateway_rejected(stage):
    stage.faults.extend(["", "forbid", "", "forbid"])
    with pytest.raises(GatewayRejected, match="Transaction search"):
        list_facts(stage, stage.now - timedelta(hours=1))


def test_proof_with_the_former_app_is_valid(stage):
    former = {**stage.credentials, **stage.subscription}
    rotated = GatewayAccount("live", {"clientId": "new", "clientSecret": "new"}, stage.subscription, (former,))
    assert GATEWAY.prove(rotated, build_inbound(sign(json.dumps({"id": "WH-1"}).encode()))).deliveries
