"""mollie: the calls that are not believed, the two signatures of a rotation, and the samples of its interface."""

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
from tests.support.gateways.deliveries import account, facts, inbound, list_deliveries, list_facts
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


def test_the_known_signature_holds():
    body = b'{"id":"evt_1","object":"event"}'
    header = "sha256=f695efb2ae3a54d64edfc29516621dcc33ea1ecc9d1b0e695cb6045b654a96ed"
    known = GatewayAccount("live", {"apiKey": "live_1", "webhookSecret": "msecret"})
    proved = GATEWAY.prove(known, inbound(Notification(body, {"X-Mollie-Signature": header})))
    assert [delivery.key for delivery in proved.deliveries] == ["evt_1"]


def test_one_of_the_two_signatures_of_a_rotation_is_enough(stage):
    body = json.dumps({"id": "event_1", "type": "payment.paid"}).encode()
    assert list_deliveries(stage, sign(body, "the-next", "msecret_fake"))
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(body, "the-next", "another"))


def test_an_event_without_its_signature_is_refused(stage):
    (sent,) = stage.pay(Purchase()).notifications
    with pytest.raises(NotProved):
        list_deliveries(stage, Notification(sent.body))
    with pytest.raises(NotProved):
        list_deliveries(stage, Notification(sent.body, {"X-Mollie-Signature": ""}))


def test_a_call_is_not_believed_the_payment_is_read(stage):
    stage.make(PAYMENT)
    (delivery,) = list_deliveries(stage, build_classic_call("tr_M1"))
    assert stage.calls == []  # the request itself asks nobody

    (payment,) = GATEWAY.facts(account(stage), delivery)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("tr_M1", 2495, "EUR")
    assert (payment.paid_at, payment.origin.customer_id) == (PAID, "cst_M1")
    assert [claim.method for claim in list_claims(payment.origin.carriers, [])] == ["mollie_metadata"]


def test_every_call_is_worked_on_and_tells_what_happened_by_then(stage):
    stage.make(PAYMENT)
    (first,), (again,) = (
        GATEWAY.prove(
            account(stage), inbound(build_classic_call("tr_M1"), PAID + timedelta(milliseconds=later))
        ).deliveries
        for later in (0, 1)
    )
    assert first.key != again.key

    stage.make(REFUND)
    stage.make(CHARGEBACK)
    _, refund, chargeback = GATEWAY.facts(account(stage), again)
    (told,) = facts(stage, _event("refund.refunded", REFUND))
    assert isinstance(refund, RefundFact)
    assert isinstance(told, RefundFact)
    assert (refund.refund_id, refund.amount_cents, refund.is_cumulative) == ("re_M1", 1000, False)
    assert (told.refund_id, told.amount_cents, told.sale_ids) == ("re_M1", 1000, ("tr_M1",))
    assert isinstance(chargeback, DisputeFact)
    assert (chargeback.state, chargeback.sale_ids) == (DisputeState.Lost, ("tr_M1",))


def test_a_call_for_what_is_not_there_means_nothing(stage):
    assert facts(stage, build_classic_call("tr_Nobody")) == [IgnoredFact("unknown_there")]
    assert facts(stage, build_classic_call("ord_1")) == [IgnoredFact("unknown_type")]


@pytest.mark.parametrize("named", ["", "tr_", "tr_../profiles", "tr_1/refunds", "tr_1?a", "x" * 500, "tr_" + "1" * 500])
def test_a_call_that_names_no_id_is_refused(stage, named):
    with pytest.raises(NotProved):
        list_deliveries(stage, build_classic_call(named))


def test_a_call_while_the_gateway_is_away_waits(stage):
    (delivery,) = list_deliveries(stage, build_classic_call("tr_M1"))
    stage.faults.append("fail")
    with pytest.raises(GatewayUnreachable):
        GATEWAY.facts(account(stage), delivery)


def test_a_simple_event_is_completed_by_asking(stage):
    stage.make(PAYMENT)
    stage.objects["/v2/events/event_M3"] = {"id": "event_M3", "_embedded": {"entity": REFUND}}
    (payment,) = facts(stage, _event("payment.paid", PAYMENT, _embedded=None))
    (refund,) = facts(stage, _event("refund.refunded", REFUND, _embedded=None))
    assert isinstance(payment, PaymentFact)
    assert isinstance(refund, RefundFact)
    assert refund.amount_cents == 1000


def test_what_came_back_is_told(stage):
    (restored,) = facts(stage, _event("refund.failed", {**REFUND, "status": "failed"}))
    (won,) = facts(stage, _event("chargeback.reversed", {**CHARGEBACK, "reversedAt": "2026-02-01T00:00:00+00:00"}))
    assert isinstance(restored, RestoredFact)
    assert (restored.refund_id, restored.sale_ids) == ("re_M1", ("tr_M1",))
    assert isinstance(won, DisputeFact)
    assert won.state == DisputeState.Won


@pytest.mark.parametrize("status", ["open", "pending", "authorized", "failed", "canceled", "expired"])
def test_a_payment_that_is_not_paid_is_no_money(stage, status):
    assert facts(stage, _event("payment.paid", {**PAYMENT, "status": status})) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize("value", ["-1.00", "x", "", None, True, "1e30", "NaN", "9" * 30])
def test_a_bad_amount_is_never_money(stage, value):
    with pytest.raises(UnreadableEvent):
        facts(stage, _event("payment.paid", {**PAYMENT, "amount": {"currency": "EUR", "value": value}}))


@pytest.mark.parametrize("entity", [REFUND, CHARGEBACK], ids=["refund", "chargeback"])
def test_unreadable_refund_of_a_call_waits_for_a_person_while_its_payment_counts(stage, entity):
    stage.make({**PAYMENT})
    stage.make({**entity, "amount": {"currency": "EUR", "value": "a lot"}})
    payment, unclear = facts(stage, build_classic_call("tr_M1"))
    assert (payment.amount_cents, unclear) == (2_495, UnclearFact("refund_amount_unknown"))


def test_an_id_that_is_none_is_never_money(stage):
    with pytest.raises(UnreadableEvent):
        facts(stage, _event("payment.paid", {**PAYMENT, "id": "x" * 500}))


def test_yen_have_no_decimals(stage):
    (payment,) = facts(stage, _event("payment.paid", {**PAYMENT, "amount": {"currency": "JPY", "value": "500"}}))
    assert payment.amount_cents == 500


@pytest.mark.parametrize("metadata", ['{"affiliate_slug": "jane"}', "affiliate_slug=jane&order=1"])
def test_metadata_may_be_a_text(stage, metadata):
    (payment,) = facts(stage, _event("payment.paid", {**PAYMENT, "metadata": metadata}))
    assert [claim.slug for claim in list_claims(payment.origin.carriers, [])] == ["jane"]


@pytest.mark.parametrize("metadata", [None, [], 7, "{", "order 17", {"order": {"id": 1}}])
def test_metadata_of_any_other_kind_names_nobody(stage, metadata):
    (payment,) = facts(stage, _event("payment.paid", {**PAYMENT, "metadata": metadata}))
    assert list(list_claims(payment.origin.carriers, ["via"])) == []


def test_tax_and_delivery_are_told_by_the_lines(stage):
    lines = [
        {"totalAmount": {"value": "18.15"}, "vatAmount": {"value": "3.15"}},
        {"type": "shipping_fee", "totalAmount": {"value": "6.80"}, "vatAmount": {"value": "1.18"}},
    ]
    (payment,) = facts(stage, _event("payment.paid", {**PAYMENT, "lines": lines}))
    assert payment.net_cents == 1500


def test_every_page_is_read_as_far_as_something_may_be_new(stage):
    stage.page = 2
    since = stage.now - timedelta(hours=1)
    long_ago, late = stage.now - timedelta(days=40), stage.now - timedelta(days=3)
    for number, made in enumerate([long_ago, long_ago, long_ago, late, late]):
        stage.make({**PAYMENT, "id": f"tr_{number}", "createdAt": made.isoformat(), "paidAt": made.isoformat()})
    # A bank transfer that was begun before and is paid since.
    stage.make({**PAYMENT, "id": "tr_late", "createdAt": late.isoformat(), "paidAt": stage.now.isoformat()})
    stage.make({**PAYMENT, "id": "tr_open", "createdAt": stage.now.isoformat(), "status": "open"})
    stage.make({**REFUND, "id": "re_late", "createdAt": late.isoformat()})
    stage.make({**REFUND, "id": "re_open", "createdAt": stage.now.isoformat(), "status": "pending"})
    stage.make({**CHARGEBACK, "id": "chb_old", "createdAt": long_ago.isoformat()})
    stage.make({**CHARGEBACK, "createdAt": long_ago.isoformat(), "reversedAt": stage.now.isoformat()})

    found = list_facts(stage, since)
    assert list(found) == ["reconcile:tr_late", "reconcile:re_late", "reconcile:chb_M1:reversed"]
    assert len([asked for asked in stage.calls if asked.path == "/v2/payments"]) == 3


def test_a_key_that_may_not_make_webhooks_leaves_it_to_the_brand(stage):
    own = GatewayAccount("live", {"apiKey": "live_fake"})
    stage.faults.append("forbid")
    left = GATEWAY.subscribe(own, "https://finderfee.example/api/gateways/mollie/token")
    assert left.made == {}
    assert dict(left.setup.values)["webhookUrl"].endswith("/token")

    made = GATEWAY.subscribe(own, "https://finderfee.example/api/gateways/mollie/token")
    assert made.made["webhookSecret"] == "msecret_fake"
    GATEWAY.unsubscribe(GatewayAccount("live", own.credentials, made.made))
    GATEWAY.unsubscribe(GatewayAccount("live", own.credentials, made.made))
    assert not [path for path in stage.objects if path.startswith("/v2/webhooks/")]


def test_a_list_that_is_refused_says_so(stage):
    stage.faults.extend(["", "busy"])
    stage.pay(Purchase())
    with pytest.raises(GatewayUnreachable):
        list_facts(stage, stage.now - timedelta(hours=1))


def test_a_renewal_is_another_payment_of_the_subscription(stage):
    again = {"id": "tr_M2", "sequenceType": "recurring", "subscriptionId": "sub_M1"}
    stage.make({**PAYMENT, **again, "paidAt": "2026-02-02T03:01:00+00:00"})
    (payment,) = [fact for fact in facts(stage, build_classic_call("tr_M2")) if isinstance(fact, PaymentFact)]
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("tr_M2", 2495, "EUR")
    assert (payment.origin.customer_id, payment.origin.subscription_id) == ("cst_M1", "sub_M1")
    assert payment.paid_at == datetime(2026, 2, 2, 3, 1, tzinfo=UTC)
