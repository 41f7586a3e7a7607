"""Recurly: signed notifications that only name objects, exact decimals, refunds known only by their transactions."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayRejected, Inbound, NotProved
from adapters.gateways.billing.recurly import GATEWAY
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    IgnoredFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)
from tests.support.gateways.billing.recurly import SECRET, sign
from tests.support.gateways.deliveries import build_account, build_inbound, list_deliveries, list_facts, read_facts
from tests.support.gateways.stage import Purchase

AT = datetime(2026, 1, 2, 3, tzinfo=UTC)
PAID = {"invoice_number": 1000, "id": "rinv1", "event_time": "2026-01-02T03:00:00Z"}
INVOICE = {
    "object": "invoice",
    "id": "rinv1",
    "number": "1000",
    "type": "charge",
    "state": "paid",
    "origin": "purchase",
    "currency": "USD",
    "discount": Decimal("10.0"),
    "tax": Decimal("18.9"),
    "total": Decimal("108.9"),
    "paid": Decimal("108.9"),
    "subscription_ids": ["rsub1"],
    "account": {"id": "racc1", "code": "ann-1", "email": "ann@example.com", "first_name": "Ann"},
    "coupon_redemptions": [{"coupon": {"code": "JANE10"}, "discounted": Decimal("10.0")}],
    "transactions": [{"id": "rtx1", "uuid": "u-rtx1", "type": "purchase", "status": "success"}],
    "closed_at": "2026-01-02T03:00:00Z",
}
REFUND = {
    "object": "transaction",
    "id": "rtx2",
    "uuid": "u-rtx2",
    "type": "refund",
    "status": "success",
    "amount": Decimal("43.56"),
    "currency": "USD",
    "original_transaction_id": "rtx1",
}


@pytest.fixture
def stage(stage):
    fields = [{"name": "affiliate_slug", "value": "jane"}]
    stage.objects["/accounts/racc1"] = {**INVOICE["account"], "custom_fields": fields}
    return stage


def _read_payment(stage, **changes):
    stage.add_invoice({**INVOICE, **changes})
    (fact,) = read_facts(stage, stage.notice("charge_invoice", "paid", **PAID))
    return fact


def _read_refund(stage, **changes):
    transaction = {**REFUND, **changes}
    stage.add_transaction(transaction)
    (fact,) = read_facts(stage, stage.notice("payment", "refunded", id=transaction["id"], uuid=transaction["uuid"]))
    return fact


def test_signature_of_the_test_vector_is_valid_for_five_minutes():
    body = b'{"id":"evt_1","object":"event"}'
    header = "1700000000000,c46b269a921931bd3e4bc1c8db6351304cbb2f45077a79490ac218628496b8bf"
    own_account = GatewayAccount("live", {"webhookSecret": "rkey"})
    at = datetime.fromtimestamp(1_700_000_000, UTC)
    assert GATEWAY.prove(own_account, Inbound("POST", {"recurly-signature": header}, {}, body, at)).deliveries
    for received_at in (at - timedelta(seconds=301), at + timedelta(seconds=301)):
        with pytest.raises(NotProved):
            GATEWAY.prove(own_account, Inbound("POST", {"recurly-signature": header}, {}, body, received_at))


def test_first_payment_is_read(stage):
    payment = _read_payment(stage)

    assert (payment.external_id, payment.amount_cents, payment.currency, payment.net_cents) == (
        "rinv1",
        10_890,
        "USD",
        9_000,
    )
    assert (payment.paid_at, payment.aliases) == (AT, ("rtx1", "u-rtx1"))
    assert payment.origin == BuyerOrigin(
        customer_id="racc1",
        email="ann@example.com",
        name="Ann",
        carriers=(Carrier("recurly_custom_field", {"affiliate_slug": "jane"}),),
        codes=(RedeemedCode("JANE10", "recurly_coupon_code"),),
    )


def test_subscription_fields_precede_account_fields(stage):
    fields = [{"name": "via", "value": "bob"}, {"name": "note", "value": None}, {"value": "x"}]
    stage.objects["/subscriptions/rsub1"] = {"id": "rsub1", "custom_fields": fields}
    payment = _read_payment(stage)
    assert [dict(carrier.fields) for carrier in payment.origin.carriers] == [{"via": "bob"}, {"affiliate_slug": "jane"}]
    assert payment.origin.subscription_id == "rsub1"


@pytest.mark.parametrize(
    ("amount", "currency", "cents"),
    [
        (Decimal("0.29"), "USD", 29),
        (Decimal("19.99"), "EUR", 1999),
        (1500, "JPY", 1500),
        (Decimal("1.234"), "KWD", 1234),
        (Decimal("9007199254.75"), "USD", 900_719_925_475),
        (Decimal("0.0"), "USD", 0),
    ],
)
def test_decimal_amount_is_exact(stage, amount, currency, cents):
    assert _read_payment(stage, paid=amount, total=amount, tax=0, currency=currency).amount_cents == cents


@pytest.mark.parametrize("change", [{"state": "processing"}, {"state": "past_due", "paid": 0}, {"type": "credit"}])
def test_unpaid_invoice_is_ignored(stage, change):
    assert _read_payment(stage, **change) == IgnoredFact("not_paid")


@pytest.mark.parametrize(
    "change",
    [
        *({"paid": value} for value in (None, "x", -1, Decimal("1e300"), True, [])),
        *({"currency": None}, {"id": None}, {"id": "x" * 500}, {"closed_at": "soon"}, {"account": {"id": "x" * 500}}),
    ],
)
def test_malformed_payment_is_unreadable(stage, change):
    with pytest.raises(UnreadableEvent):
        _read_payment(stage, **change)


def test_notification_of_a_missing_object_raises(stage):
    with pytest.raises(GatewayRejected):
        read_facts(stage, stage.notice("charge_invoice", "paid", **PAID))
    with pytest.raises(UnreadableEvent):
        read_facts(stage, stage.notice("charge_invoice", "paid", id="x" * 500))


def test_refund_is_read(stage):
    refund = _read_refund(stage)
    assert refund == RefundFact(
        refund_id="rtx2", sale_ids=("rtx1",), amount_cents=4356, currency="USD", refunded_at=refund.refunded_at
    )


def test_void_refunds_the_payment(stage):
    refund = _read_refund(stage, id="rtx1", uuid="u-rtx1", type="purchase", status="void", original_transaction_id=None)
    assert (refund.refund_id, refund.sale_ids, refund.amount_cents) == ("void:rtx1", ("rtx1",), 4356)


def test_declined_refund_moves_no_money(stage):
    assert _read_refund(stage, status="declined") == IgnoredFact("no_money_moved")


@pytest.mark.parametrize("change", [{"original_transaction_id": None}, {"type": "purchase"}, {"amount": None}])
def test_refund_without_a_payment_is_unreadable(stage, change):
    with pytest.raises(UnreadableEvent):
        _read_refund(stage, **change)


@pytest.mark.parametrize("event", ["charged_back", "chargeback", "updated"])
def test_chargeback_is_recognized_by_its_transaction(stage, event):
    stage.add_transaction({**REFUND, "id": "rtx1", "uuid": "u-rtx1", "type": "purchase", "status": "chargeback"})
    (dispute,) = read_facts(stage, stage.notice("payment", event, id="rtx1", uuid="u-rtx1"))
    assert isinstance(dispute, DisputeFact)
    assert (dispute.sale_ids, dispute.state) == (("rtx1",), DisputeState.Lost)


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        *(("credit_invoice", "paid"), ("credit_invoice", "created"), ("invoice", "paid"), ("payment", "succeeded")),
        *(("charge_invoice", "created"), ("subscription", "renewed")),
    ],
)
def test_duplicate_notifications_are_ignored_without_a_request(stage, kind, event):
    assert read_facts(stage, stage.notice(kind, event, id="x1", uuid="x1")) == [IgnoredFact("unknown_type")]
    assert stage.calls == []


@pytest.mark.parametrize(("trial_ends_at", "kind"), [("2026-01-09T00:00:00Z", StartFact), (None, ReferralFact)])
def test_subscription_with_a_trial_is_a_start(stage, trial_ends_at, kind):
    subscription = {"id": "rsub5", "account": {"id": "racc1"}, "trial_ends_at": trial_ends_at, "custom_fields": []}
    stage.objects["/subscriptions/uuid-u-rsub5"] = subscription
    notice = {"id": "rsub5", "uuid": "u-rsub5", "event_time": "2026-01-02T03:00:00Z"}
    (fact,) = read_facts(stage, stage.notice("subscription", "created", **notice))
    assert isinstance(fact, kind)
    assert (fact.origin.email, fact.origin.subscription_id) == ("ann@example.com", "rsub5")


def test_digest_of_either_rotated_secret_is_valid(stage):
    for secrets in ((SECRET, "other"), ("other", SECRET)):
        assert GATEWAY.prove(build_account(stage), build_inbound(sign(b"{}", secrets=secrets))).deliveries
    for secrets in (("other", "another"), ()):
        with pytest.raises(NotProved):
            GATEWAY.prove(build_account(stage), build_inbound(sign(b"{}", secrets=secrets)))


@pytest.mark.parametrize("header", ["", ",", "now,ab", "-1,ab", "1700000000000", "9" * 40 + ",ab", "\xe9,\xe9"])
def test_malformed_signature_header_is_rejected(stage, header):
    with pytest.raises(NotProved):
        GATEWAY.prove(
            build_account(stage), Inbound("POST", {"recurly-signature": header}, {}, b"{}", datetime.now(UTC))
        )


def test_unsigned_xml_is_rejected(stage):
    body = b'<?xml version="1.0"?><successful_payment_notification/>'
    with pytest.raises(NotProved):
        GATEWAY.prove(
            build_account(stage), Inbound("POST", {"Content-Type": "application/xml"}, {}, body, datetime.now(UTC))
        )


def test_delivery_key_depends_on_object_event_and_time(stage):
    notifications = [
        stage.notice("payment", event, id="rtx1", uuid="u") for event in ("succeeded", "refunded", "refunded")
    ]
    notifications.append(stage.notice("payment", "refunded", id="rtx1", uuid="u", event_time="2026-02-01T00:00:00Z"))
    keys = [delivery.key for delivery in list_deliveries(stage, *notifications)]
    assert keys[1] == keys[2]
    assert len(set(keys)) == 3
    (long_delivery,) = list_deliveries(stage, stage.notice("payment", "refunded", id="x" * 5000))
    assert "x" * 500 in long_delivery.key


def test_region_selects_the_host_and_unknown_region_is_never_called(stage):
    assert GATEWAY.check(build_account(stage, region="EU")).account == "acme"
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(build_account(stage, region="evil.example/"))
    assert len(stage.calls) == 1


def test_all_pages_of_returned_money_are_listed(stage):
    stage.pay(Purchase(cents=100))
    for number in range(250):
        stage.add_transaction({**REFUND, "id": f"r{number}", "uuid": f"r{number}"})
    stage.add_transaction({**REFUND, "id": "p", "uuid": "p", "status": "pending"})
    stage.add_transaction({**REFUND, "id": "v", "uuid": "v", "type": "purchase", "status": "void"})
    listed_facts = list_facts(stage, stage.now - timedelta(hours=1))
    assert len(listed_facts) == 1 + 250 + 1
    assert "reconcile:v:void" in listed_facts
    raw = json.loads(
        next(delivery.raw for page in GATEWAY.list_payments(build_account(stage), AT) for delivery in page)
    )
    assert (raw["object_type"], raw["invoice_number"]) == ("charge_invoice", "1001")


def test_listed_object_without_a_time_is_unreadable(stage):
    stage.create_malformed_event()
    ((delivery,),) = GATEWAY.list_payments(build_account(stage), stage.now)
    with pytest.raises(UnreadableEvent):
        GATEWAY.facts(build_account(stage), delivery)


def test_invoice_paid_earlier_is_not_listed_after_a_change(stage):
    stage.add_invoice({**INVOICE, "updated_at": stage.now.isoformat()})
    assert list_facts(stage, stage.now - timedelta(hours=1)) == {}
