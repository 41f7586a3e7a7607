"""Mollie: unauthenticated webhook calls, the two signatures of a rotation, and samples of its API."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import GatewayAccount, GatewayUnreachable, NotProved
from adapters.gateways.card.mollie import GATEWAY
from domain.gateways.facts import (
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    RefundFact,
    RestoredFact,
    UnclearFact,
    UnreadableEvent,
)
from domain.gateways.referrals import list_claims
from tests.support.gateways.card.mollie import build_classic_call, sign
from tests.support.gateways.deliveries import build_account, build_inbound, list_deliveries, list_facts, read_facts
from tests.support.gateways.stage import Notification, Purchase

PAID = datetime(2026, 1, 2, 3, 1, tzinfo=UTC)
PAYMENT = {
    "resource": "payment",
    "id": "tr_M1",
    "mode": "live",
    "status": "paid",
    "amount": {"currency": "EUR", "value": "24.95"},
    "sequenceType": "first",
    "customerId": "cst_M1",
    "subscriptionId": None,
    "metadata": {"affiliate_slug": "jane"},
    "createdAt": "2026-01-02T03:00:00+00:00",
    "paidAt": "2026-01-02T03:01:00+00:00",
}
REFUND = {
    "resource": "refund",
    "id": "re_M1",
    "paymentId": "tr_M1",
    "amount": {"currency": "EUR", "value": "10.00"},
    "status": "refunded",
    "createdAt": "2026-01-03T00:00:00+00:00",
}
CHARGEBACK = {
    "resource": "chargeback",
    "id": "chb_M1",
    "paymentId": "tr_M1",
    "amount": {"currency": "EUR", "value": "14.95"},
    "reversedAt": None,
    "createdAt": "2026-01-09T00:00:00+00:00",
}


def _event(kind: str, entity: dict, **other: object) -> Notification:
    event = {"resource": "event", "id": "event_M3", "type": kind, "entityId": entity["id"]}
    event |= {"createdAt": "2026-01-03T00:00:00+00:00", "_embedded": {"entity": entity}, **other}
    return sign(json.dumps(event).encode())


def test_known_signature_is_valid():
    body = b'{"id":"evt_1","object":"event"}'
    header = "sha256=f695efb2ae3a54d64edfc29516621dcc33ea1ecc9d1b0e695cb6045b654a96ed"
    known_account = GatewayAccount("live", {"apiKey": "live_1", "webhookSecret": "msecret"})
    proved = GATEWAY.prove(known_account, build_inbound(Notification(body, {"X-Mollie-Signature": header})))
    assert [delivery.key for delivery in proved.deliveries] == ["evt_1"]


def test_either_signature_of_a_rotation_is_valid(stage):
    body = json.dumps({"id": "event_1", "type": "payment.paid"}).encode()
    assert list_deliveries(stage, sign(body, "the-next", "msecret_fake"))
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(body, "the-next", "another"))


def test_event_without_a_signature_is_rejected(stage):
    (notification,) = stage.pay(Purchase()).notifications
    with pytest.raises(NotProved):
        list_deliveries(stage, Notification(notification.body))
    with pytest.raises(NotProved):
        list_deliveries(stage, Notification(notification.body, {"X-Mollie-Signature": ""}))


def test_webhook_call_is_verified_by_reading_the_payment(stage):
    stage.store(PAYMENT)
    (delivery,) = list_deliveries(stage, build_classic_call("tr_M1"))
    assert stage.calls == []  # the webhook request itself makes no call

    (payment,) = GATEWAY.facts(build_account(stage), delivery)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("tr_M1", 2495, "EUR")
    assert (payment.paid_at, payment.origin.customer_id) == (PAID, "cst_M1")
    assert [claim.method for claim in list_claims(payment.origin.carriers, [])] == ["mollie_metadata"]


def test_each_webhook_call_gives_all_facts_so_far(stage):
    stage.store(PAYMENT)
    (first_delivery,), (second_delivery,) = (
        GATEWAY.prove(
            build_account(stage), build_inbound(build_classic_call("tr_M1"), PAID + timedelta(milliseconds=later))
        ).deliveries
        for later in (0, 1)
    )
    assert first_delivery.key != second_delivery.key

    stage.store(REFUND)
    stage.store(CHARGEBACK)
    _, refund, chargeback = GATEWAY.facts(build_account(stage), second_delivery)
    (refund_event,) = read_facts(stage, _event("refund.refunded", REFUND))
    assert isinstance(refund, RefundFact)
    assert isinstance(refund_event, RefundFact)
    assert (refund.refund_id, refund.amount_cents, refund.is_cumulative) == ("re_M1", 1000, False)
    assert (refund_event.refund_id, refund_event.amount_cents, refund_event.sale_ids) == ("re_M1", 1000, ("tr_M1",))
    assert isinstance(chargeback, DisputeFact)
    assert (chargeback.state, chargeback.sale_ids) == (DisputeState.Lost, ("tr_M1",))


def test_call_for_an_unknown_object_is_ignored(stage):
    assert read_facts(stage, build_classic_call("tr_Nobody")) == [IgnoredFact("unknown_there")]
    assert read_facts(stage, build_classic_call("ord_1")) == [IgnoredFact("unknown_type")]


@pytest.mark.parametrize(
    "payment_id", ["", "tr_", "tr_../profiles", "tr_1/refunds", "tr_1?a", "x" * 500, "tr_" + "1" * 500]
)
def test_malformed_id_in_a_call_is_rejected(stage, payment_id):
    with pytest.raises(NotProved):
        list_deliveries(stage, build_classic_call(payment_id))


def test_call_raises_while_the_gateway_is_unreachable(stage):
    (delivery,) = list_deliveries(stage, build_classic_call("tr_M1"))
    stage.faults.append("fail")
    with pytest.raises(GatewayUnreachable):
        GATEWAY.facts(build_account(stage), delivery)


def test_event_without_its_object_is_completed_by_a_request(stage):
    stage.store(PAYMENT)
    stage.objects["/v2/events/event_M3"] = {"id": "event_M3", "_embedded": {"entity": REFUND}}
    (payment,) = read_facts(stage, _event("payment.paid", PAYMENT, _embedded=None))
    (refund,) = read_facts(stage, _event("refund.refunded", REFUND, _embedded=None))
    assert isinstance(payment, PaymentFact)
    assert isinstance(refund, RefundFact)
    assert refund.amount_cents == 1000


def test_failed_refund_and_reversed_chargeback_are_reported(stage):
    (restored,) = read_facts(stage, _event("refund.failed", {**REFUND, "status": "failed"}))
    (won_dispute,) = read_facts(
        stage, _event("chargeback.reversed", {**CHARGEBACK, "reversedAt": "2026-02-01T00:00:00+00:00"})
    )
    assert isinstance(restored, RestoredFact)
    assert (restored.refund_id, restored.sale_ids) == ("re_M1", ("tr_M1",))
    assert isinstance(won_dispute, DisputeFact)
    assert won_dispute.state == DisputeState.Won


@pytest.mark.parametrize("status", ["open", "pending", "authorized", "failed", "canceled", "expired"])
def test_unpaid_payment_is_ignored(stage, status):
    assert read_facts(stage, _event("payment.paid", {**PAYMENT, "status": status})) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize("value", ["-1.00", "x", "", None, True, "1e30", "NaN", "9" * 30])
def test_malformed_amount_is_unreadable(stage, value):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _event("payment.paid", {**PAYMENT, "amount": {"currency": "EUR", "value": value}}))


@pytest.mark.parametrize("entity", [REFUND, CHARGEBACK], ids=["refund", "chargeback"])
def test_unreadable_refund_is_unclear_while_its_payment_counts(stage, entity):
    stage.store({**PAYMENT})
    stage.store({**entity, "amount": {"currency": "EUR", "value": "a lot"}})
    payment, unclear = read_facts(stage, build_classic_call("tr_M1"))
    assert (payment.amount_cents, unclear) == (2_495, UnclearFact("refund_amount_unknown"))


def test_oversized_id_is_unreadable(stage):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _event("payment.paid", {**PAYMENT, "id": "x" * 500}))


def test_yen_have_no_decimals(stage):
    (payment,) = read_facts(stage, _event("payment.paid", {**PAYMENT, "amount": {"currency": "JPY", "value": "500"}}))
    assert payment.amount_cents == 500


@pytest.mark.parametrize("metadata", ['{"affiliate_slug": "jane"}', "affiliate_slug=jane&order=1"])
def test_metadata_may_be_text(stage, metadata):
    (payment,) = read_facts(stage, _event("payment.paid", {**PAYMENT, "metadata": metadata}))
    assert [claim.slug for claim in list_claims(payment.origin.carriers, [])] == ["jane"]


@pytest.mark.parametrize("metadata", [None, [], 7, "{", "order 17", {"order": {"id": 1}}])
def test_malformed_metadata_claims_nothing(stage, metadata):
    (payment,) = read_facts(stage, _event("payment.paid", {**PAYMENT, "metadata": metadata}))
    assert list(list_claims(payment.origin.carriers, ["via"])) == []


def test_tax_and_shipping_are_read_from_the_lines(stage):
    lines = [
        {"totalAmount": {"value": "18.15"}, "vatAmount": {"value": "3.15"}},
        {"type": "shipping_fee", "totalAmount": {"value": "6.80"}, "vatAmount": {"value": "1.18"}},
    ]
    (payment,) = read_facts(stage, _event("payment.paid", {**PAYMENT, "lines": lines}))
    assert payment.net_cents == 1500


def test_all_relevant_pages_are_read(stage):
    stage.page = 2
    since = stage.now - timedelta(hours=1)
    long_ago, recent = stage.now - timedelta(days=40), stage.now - timedelta(days=3)
    for number, created_at in enumerate([long_ago, long_ago, long_ago, recent, recent]):
        stage.store(
            {**PAYMENT, "id": f"tr_{number}", "createdAt": created_at.isoformat(), "paidAt": created_at.isoformat()}
        )
    # A bank transfer that was created earlier and has been paid since.
    stage.store({**PAYMENT, "id": "tr_late", "createdAt": recent.isoformat(), "paidAt": stage.now.isoformat()})
    stage.store({**PAYMENT, "id": "tr_open", "createdAt": stage.now.isoformat(), "status": "open"})
    stage.store({**REFUND, "id": "re_late", "createdAt": recent.isoformat()})
    stage.store({**REFUND, "id": "re_open", "createdAt": stage.now.isoformat(), "status": "pending"})
    stage.store({**CHARGEBACK, "id": "chb_old", "createdAt": long_ago.isoformat()})
    stage.store({**CHARGEBACK, "createdAt": long_ago.isoformat(), "reversedAt": stage.now.isoformat()})

    listed_facts = list_facts(stage, since)
    assert list(listed_facts) == ["reconcile:tr_late", "reconcile:re_late", "reconcile:chb_M1:reversed"]
    assert len([request for request in stage.calls if request.path == "/v2/payments"]) == 3


def test_key_without_webhook_permission_gives_setup_steps(stage):
    own_account = GatewayAccount("live", {"apiKey": "live_fake"})
    stage.faults.append("forbid")
    manual = GATEWAY.subscribe(own_account, "https://finderfee.example/api/gateways/mollie/token")
    assert manual.made == {}
    assert dict(manual.setup.values)["webhookUrl"].endswith("/token")

    subscribed = GATEWAY.subscribe(own_account, "https://finderfee.example/api/gateways/mollie/token")
    assert subscribed.made["webhookSecret"] == "msecret_fake"
    GATEWAY.unsubscribe(GatewayAccount("live", own_account.credentials, subscribed.made))
    GATEWAY.unsubscribe(GatewayAccount("live", own_account.credentials, subscribed.made))
    assert not [path for path in stage.objects if path.startswith("/v2/webhooks/")]


def test_failed_list_raises_gateway_unreachable(stage):
    stage.faults.extend(["", "busy"])
    stage.pay(Purchase())
    with pytest.raises(GatewayUnreachable):
        list_facts(stage, stage.now - timedelta(hours=1))


def test_renewal_is_another_payment_of_the_subscription(stage):
    second_delivery = {"id": "tr_M2", "sequenceType": "recurring", "subscriptionId": "sub_M1"}
    stage.store({**PAYMENT, **second_delivery, "paidAt": "2026-02-02T03:01:00+00:00"})
    (payment,) = [fact for fact in read_facts(stage, build_classic_call("tr_M2")) if isinstance(fact, PaymentFact)]
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("tr_M2", 2495, "EUR")
    assert (payment.origin.customer_id, payment.origin.subscription_id) == ("cst_M1", "sub_M1")
    assert payment.paid_at == datetime(2026, 2, 2, 3, 1, tzinfo=UTC)
