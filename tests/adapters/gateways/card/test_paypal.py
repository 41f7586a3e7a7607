"""paypal: its own verdict on its events, the two ages of its interface, and the samples of both."""

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
from tests.support.gateways.deliveries import account, facts, inbound, list_deliveries, list_facts
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


def _told(stage, kind: str, resource: dict) -> list:
    return facts(stage, stage.event(kind, resource))


def _slugs(told) -> list[str]:
    return [claim.slug for claim in list_claims(told.origin.carriers, ["via"])]


def test_a_capture_is_a_payment_of_its_orders_payer(stage):
    breakdown = {"tax_total": {"value": "8.00"}, "shipping": {"value": "2.00"}}
    unit = {"amount": {**CAPTURE["amount"], "breakdown": breakdown}}
    payer = {"payer_id": "PAYER1", "email_address": "ann@example.com", "name": {"given_name": "Ann"}}
    stage.objects["/v2/checkout/orders/PPORD1"] = {"payer": payer, "purchase_units": [unit]}
    (payment,) = _told(stage, "PAYMENT.CAPTURE.COMPLETED", CAPTURE)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == ("PPCAP1", 5000, 4000)
    assert payment.paid_at == datetime(2026, 1, 2, 3, tzinfo=UTC)
    assert (payment.origin.customer_id, payment.origin.email) == ("PAYER1", "ann@example.com")
    assert _slugs(payment) == ["jane"]


def test_a_capture_without_its_order_is_a_payment_all_the_same(stage):
    (payment,) = _told(stage, "PAYMENT.CAPTURE.COMPLETED", CAPTURE)
    assert (payment.amount_cents, payment.net_cents, payment.origin.email) == (5000, None, None)


def test_a_sale_is_of_its_subscription_whose_own_custom_id_goes_first(stage):
    stage.objects["/v1/billing/subscriptions/I-SUB1"] = SUBSCRIPTION
    (payment,) = _told(stage, "PAYMENT.SALE.COMPLETED", {**SALE, "custom": "anna"})
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("PPSALE1", 999, "USD")
    assert (payment.origin.subscription_id, payment.origin.customer_id) == ("I-SUB1", "PAYER1")
    assert _slugs(payment) == ["jane", "anna"]


def test_a_sale_of_no_subscription_is_a_payment_all_the_same(stage):
    (payment,) = _told(stage, "PAYMENT.SALE.COMPLETED", {**SALE, "billing_agreement_id": None})
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
def test_a_refund_names_its_payment_in_both_ages(stage, kind, resource, expected):
    (refund,) = _told(stage, kind, resource)
    assert isinstance(refund, RefundFact)
    assert (refund.refund_id, refund.sale_ids, refund.amount_cents) == expected
    assert refund.is_cumulative is False


def test_a_refund_that_is_not_done_or_names_no_payment_is_no_money(stage):
    assert _told(stage, "PAYMENT.CAPTURE.REFUNDED", {**REFUND, "status": "PENDING"}) == [IgnoredFact("not_decided")]
    with pytest.raises(UnreadableEvent):
        _told(stage, "PAYMENT.CAPTURE.REFUNDED", {**REFUND, "links": [{**_UP, "href": "https://x/v2/other/1"}]})


def test_a_reversal_and_a_dispute_for_the_buyer_are_one_loss(stage):
    (reversal,) = _told(stage, "PAYMENT.CAPTURE.REVERSED", {**REFUND, "id": "PPREV1"})
    (of_sale,) = _told(stage, "PAYMENT.SALE.REVERSED", {**SALE, "state": "reversed"})
    (dispute,) = _told(stage, "CUSTOMER.DISPUTE.RESOLVED", DISPUTE)
    assert isinstance(reversal, DisputeFact)
    assert (reversal.dispute_id, reversal.state) == ("PPCAP1", DisputeState.Lost)
    assert (dispute.dispute_id, dispute.sale_ids, dispute.state) == ("PPCAP1", ("PPCAP1",), DisputeState.Lost)
    assert of_sale.sale_ids == ("PPSALE1",)


def test_a_dispute_that_nobody_decided_is_no_money(stage):
    undecided = {**DISPUTE, "dispute_outcome": {"outcome_code": "NONE"}}
    assert _told(stage, "CUSTOMER.DISPUTE.RESOLVED", undecided) == [IgnoredFact("not_decided")]


def test_a_subscription_tells_who_referred_it_and_a_trial_that_it_began(stage):
    (started,) = _told(stage, "BILLING.SUBSCRIPTION.ACTIVATED", SUBSCRIPTION)
    paid = {"last_payment": {"amount": {"value": "9.99"}}}
    (referred,) = _told(stage, "BILLING.SUBSCRIPTION.ACTIVATED", {**SUBSCRIPTION, "billing_info": paid})
    assert isinstance(started, StartFact)
    assert (started.external_id, started.origin.email, _slugs(started)) == ("I-SUB1", "ann@example.com", ["jane"])
    assert isinstance(referred, ReferralFact)
    assert referred.origin.subscription_id == "I-SUB1"


@pytest.mark.parametrize(
    "custom", ["affiliate_slug=jane&sub_id=x", "/?via=jane", '{"affiliate_slug": "jane"}', " jane "]
)
def test_a_custom_id_is_a_slug_a_query_or_an_object(stage, custom):
    (payment,) = _told(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "custom_id": custom})
    assert _slugs(payment) == ["jane"]


@pytest.mark.parametrize("custom", [None, 7, "", "{", "order 17", "[]"])
def test_a_custom_id_of_another_kind_names_nobody(stage, custom):
    (payment,) = _told(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "custom_id": custom})
    assert _slugs(payment) == []


@pytest.mark.parametrize("value", ["-50.00", "x", "", None, True, "1e30", "9" * 30])
def test_a_bad_amount_is_never_money(stage, value):
    with pytest.raises(UnreadableEvent):
        _told(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "amount": {"currency_code": "USD", "value": value}})


def test_an_id_that_is_none_is_never_money(stage):
    with pytest.raises(UnreadableEvent):
        _told(stage, "PAYMENT.CAPTURE.COMPLETED", {**CAPTURE, "id": "x" * 500})


def test_the_verdict_is_asked_with_the_bytes_as_they_came(stage):
    body = b'{ "id":"WH-9", "b":1.0,"a":{ },"event_type":"X", "resource":{}}'
    (delivery,) = list_deliveries(stage, sign(body))
    assert (delivery.key, delivery.raw) == ("WH-9", body)
    assert body in stage.calls[-1].body


@pytest.mark.parametrize("body", [b'{},"webhook_id":"WH-OTHER"', b"{}}", b'{"a":1}{"b":2}', b"[]", b"7"])
def test_a_body_that_is_not_one_object_is_not_asked_about(stage, body):
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(body))
    assert stage.calls == []


def test_a_request_without_one_of_its_headers_is_refused(stage):
    (sent,) = stage.pay(Purchase()).notifications
    for name in sent.headers:
        with pytest.raises(NotProved):
            list_deliveries(stage, Notification(sent.body, {**sent.headers, name: ""}))
    assert stage.calls == []


def test_an_event_for_another_webhook_is_refused(stage):
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(b'{"id":"WH-1"}', "WH-HOOK-OTHER"))


@pytest.mark.parametrize("fault", ["fail", "busy", "cut", "html", "refuse"])
def test_an_event_is_asked_for_again_where_the_verdict_cannot_be_had(stage, fault):
    stage.faults.append(fault)
    with pytest.raises(GatewayUnreachable):
        list_deliveries(stage, sign(b'{"id":"WH-1"}'))


def test_a_token_is_kept_and_got_anew_when_it_is_refused(stage):
    for _ in range(2):
        list_deliveries(stage, sign(b'{"id":"WH-1"}'))
    assert len(stage.tokens) == 1

    stage.tokens.clear()
    list_deliveries(stage, sign(b'{"id":"WH-1"}'))
    assert len(stage.tokens) == 1


def test_a_token_that_ends_soon_is_not_kept(stage):
    stage.lives_s = 30
    for _ in range(2):
        list_deliveries(stage, sign(b'{"id":"WH-1"}'))
    assert len(stage.tokens) == 2


def test_an_app_that_lost_our_webhook_is_refused(stage):
    stage.objects.clear()
    with pytest.raises(CredentialsRefused, match="webhook"):
        GATEWAY.check(account(stage))


def test_subscribing_again_takes_the_webhook_that_is_there(stage):
    own, address = account(stage), "https://finderfee.example/api/gateways/paypal/token"
    made, again = (GATEWAY.subscribe(own, address) for _ in range(2))
    assert made.made == again.made != {}
    for _ in range(2):
        GATEWAY.unsubscribe(GatewayAccount("live", own.credentials, made.made))
    assert not [there for there in stage.objects.values() if there.get("url") == address]


def test_the_report_is_read_month_by_month_and_page_by_page(stage):
    for days in (40, 10):
        stage.now = datetime.now(UTC) - timedelta(days=days)
        sales = [stage.pay(Purchase(customer=str(number))) for number in range(101)]
        stage.refund(stage.pay(Purchase(renews=sales[0])), 10_890)
    found = list_facts(stage, datetime.now(UTC) - timedelta(days=50))
    kinds = [type(fact) for told in found.values() for fact in told]
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
def test_a_line_of_the_report_that_is_no_payment_is_passed_over(stage, changes):
    stage.pay(Purchase())
    stage.report[0]["transaction_info"] |= changes
    assert list_facts(stage, stage.now - timedelta(hours=1)) == {}


def test_money_that_the_report_says_was_taken_is_the_same_loss(stage):
    sale = stage.pay(Purchase())
    stage.refund(sale, 10_890)
    stage.report[1]["transaction_info"]["transaction_event_code"] = "T1201"
    (lost,) = list(list_facts(stage, stage.now - timedelta(hours=1)).values())[1]
    assert isinstance(lost, DisputeFact)
    assert (lost.dispute_id, lost.state) == (sale.id, DisputeState.Lost)


def test_an_app_that_may_not_search_keeps_its_good_credentials(stage):
    stage.faults.extend(["", "forbid", "", "forbid"])
    with pytest.raises(GatewayRejected, match="Transaction search"):
        list_facts(stage, stage.now - timedelta(hours=1))


def test_the_former_app_vouches_for_its_hour(stage):
    former = {**stage.credentials, **stage.subscription}
    rotated = GatewayAccount("live", {"clientId": "new", "clientSecret": "new"}, stage.subscription, (former,))
    assert GATEWAY.prove(rotated, inbound(sign(json.dumps({"id": "WH-1"}).encode()))).deliveries
