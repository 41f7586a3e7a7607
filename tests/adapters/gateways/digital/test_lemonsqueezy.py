"""Lemon Squeezy: samples of its events, and behaviour that only it has."""

import dataclasses
import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, Inbound, NotProved
from adapters.gateways.digital.lemonsqueezy import GATEWAY
from domain.gateways.facts import (
    Carrier,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)
from tests.support.gateways.digital.lemonsqueezy import SECRET, sign
from tests.support.gateways.stage import Notification, Purchase

ACCOUNT = GatewayAccount("live", {"apiKey": "ls_live_fake", "storeId": "1"}, {"webhookSecret": SECRET})
_ORDER = {
    "store_id": 1,
    "customer_id": 55,
    "user_name": "Ada Buyer",
    "user_email": "buyer@example.com",
    "currency": "EUR",
    "currency_rate": "1.08",
    "subtotal": 11000,
    "discount_total": 0,
    "tax": 1800,
    "total": 11800,
    "refunded_amount": 0,
    "status": "paid",
    "refunded": False,
    "refunded_at": None,
    "created_at": "2026-11-20T15:00:00.000000Z",
    "updated_at": "2026-11-20T15:00:01.000000Z",
    "test_mode": False,
}
_INVOICE = {**_ORDER, "subscription_id": 300001, "billing_reason": "renewal", "subtotal": 2900, "tax": 551} | {
    "total": 3451
}


def _event(name, number, attributes, meta=None, kind="orders"):
    custom = {"test_mode": False, "event_name": name, "custom_data": {"via": "anna"}}
    return {"meta": custom | (meta or {}), "data": {"type": kind, "id": number, "attributes": attributes}}


def _facts(event, account=ACCOUNT):
    (delivery,) = GATEWAY.prove(account, _inbound(sign(json.dumps(event).encode()))).deliveries
    return GATEWAY.facts(account, delivery)


def _inbound(notification: Notification) -> Inbound:
    return Inbound("POST", notification.headers, {}, notification.body, datetime.now(UTC))


def test_published_signature_is_valid_and_variants_are_rejected():
    body = b'{"id":1001,"total_price":"118.00"}'
    digest = "67cb7d55e64002d61e9312c44cde248c4935b29a89d7a4ad38877a7a4ba84709"
    assert GATEWAY.prove(ACCOUNT, _inbound(Notification(body, {"X-Signature": digest}))).deliveries
    for wrong in (digest.upper(), "", digest[:-1], "é"):
        with pytest.raises(NotProved):
            GATEWAY.prove(ACCOUNT, _inbound(Notification(body, {"X-Signature": wrong})))


def test_order_is_a_sale_of_its_total_with_net():
    (payment,) = _facts(_event("order_created", "900001", _ORDER))
    assert (payment.external_id, payment.amount_cents, payment.net_cents, payment.currency) == (
        "order:900001",
        11800,
        10000,
        "EUR",
    )
    assert payment.paid_at == datetime(2026, 11, 20, 15, tzinfo=UTC)
    assert (payment.origin.customer_id, payment.origin.email, payment.origin.name) == (
        "55",
        "buyer@example.com",
        "Ada Buyer",
    )
    assert payment.origin.carriers == (Carrier("lemonsqueezy_custom_data", {"via": "anna"}),)
    assert not payment.origin.is_referral_lost


def test_trial_is_a_start_without_money():
    attributes = {"customer_id": 55, "order_id": 900002, "status": "on_trial", "user_email": "buyer@example.com"}
    (start,) = _facts(_event("subscription_created", "300001", {**attributes, "created_at": "2026-11-20T15:00:00Z"}))
    assert isinstance(start, StartFact)
    assert start.external_id == start.origin.subscription_id == "300001"


def test_renewal_is_a_sale_of_its_invoice():
    event = _event("subscription_payment_success", "500002", _INVOICE, kind="subscription-invoices")
    (payment,) = _facts(event)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == ("invoice:500002", 3451, 2900)
    assert payment.origin.subscription_id == "300001"


def test_refunded_amount_of_an_order_is_cumulative():
    attributes = {**_ORDER, "refunded_amount": 4720, "updated_at": "2026-11-22T09:00:00.000000Z"}
    (refund,) = _facts(_event("order_refunded", "900001", attributes))
    assert (refund.sale_ids, refund.amount_cents, refund.is_cumulative) == (("order:900001",), 4720, True)
    assert refund.refunded_at == datetime(2026, 11, 22, 9, tzinfo=UTC)


def test_refunded_new_order_is_a_sale_and_a_refund():
    attributes = {**_ORDER, "refunded_amount": 11800, "refunded": True, "status": "refunded"}
    payment, refund = _facts(_event("order_created", "900001", attributes))
    assert isinstance(payment, PaymentFact)
    assert (refund.refund_id, refund.amount_cents) == ("order:900001", 11800)


def test_first_invoice_duplicates_its_order(stage):
    sale = stage.pay(Purchase(cents=11800))
    facts = [fact for notification in sale.notifications for fact in _facts(json.loads(notification.body))]
    assert [type(fact) for fact in facts] == [PaymentFact, ReferralFact, IgnoredFact]


def test_first_invoice_of_a_zero_order_is_a_sale(stage):
    order = stage.start_trial(Purchase(cents=0, customer="7"))[0]
    attributes = {**_INVOICE, "billing_reason": "initial", "subscription_id": 37}
    (free,) = _facts(json.loads(order.body))
    (payment,) = _facts(_event("subscription_payment_success", "5", attributes))
    (refund,) = _facts(_event("subscription_payment_refunded", "5", {**attributes, "refunded_amount": 100}))
    assert isinstance(free, ReferralFact)  # nothing was paid, and a zero order alone is no trial
    assert (payment.external_id, refund.sale_ids, refund.refund_id) == ("invoice:5", ("invoice:5",), "invoice:5")


def test_refunds_of_order_and_first_invoice_share_an_id(stage):
    sale = stage.pay(Purchase(cents=11800))
    (order_refund,) = _facts(json.loads(stage.refund(sale, 4720)[0].body))
    invoice = json.loads(sale.notifications[2].body)["data"]
    attributes = {**invoice["attributes"], "refunded_amount": 5000}
    (invoice_refund,) = _facts(_event("subscription_payment_refunded", invoice["id"], attributes))
    assert order_refund.refund_id == invoice_refund.refund_id == sale.id
    assert order_refund.sale_ids == invoice_refund.sale_ids == (sale.id,)
    assert (order_refund.amount_cents, invoice_refund.amount_cents) == (4720, 5000)
    assert order_refund.is_cumulative
    assert invoice_refund.is_cumulative


def test_codes_are_requested_only_for_discounted_orders(stage):
    notification = stage.pay(Purchase(code="ANNA10", code_id="77")).notifications[0]
    (payment,) = _facts(json.loads(notification.body))
    assert payment.origin.codes == (RedeemedCode("ANNA10", "lemonsqueezy_coupon_code", "77"),)
    calls_before = len(stage.calls)
    _facts(json.loads(stage.pay(Purchase()).notifications[0].body))
    assert len(stage.calls) == calls_before


def test_listed_sale_has_no_referral(stage):
    sale = stage.pay(Purchase(slug="jane"))
    (page, _) = list(GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(hours=1)))
    (payment,) = GATEWAY.facts(ACCOUNT, page[0])
    assert (page[0].key, payment.external_id) == (f"reconcile:{sale.id}", sale.id)
    assert (payment.origin.carriers, payment.origin.is_referral_lost) == ((), True)


def test_grown_refund_of_an_older_payment_is_listed_again(stage):
    sale = stage.pay(Purchase(cents=11800))
    since = stage.now + timedelta(days=1)
    assert list(GATEWAY.list_payments(ACCOUNT, since)) == []
    keys = []
    for cents in (1000, 2000):
        stage.refund(sale, cents)
        keys += [delivery.key for page in GATEWAY.list_payments(ACCOUNT, since) for delivery in page]
    assert keys == [f"reconcile:{sale.id}:refunded:1000", f"reconcile:{sale.id}:refunded:3000"]
    assert list(GATEWAY.list_payments(ACCOUNT, since + timedelta(days=31))) == []


def test_all_pages_of_a_list_are_read(stage):
    ids = {stage.pay(Purchase(customer=str(number))).id for number in range(130)}
    deliveries = [
        delivery for page in GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(hours=1)) for delivery in page
    ]
    assert ids <= {delivery.key.removeprefix("reconcile:") for delivery in deliveries}


@pytest.mark.parametrize("status", ["pending", "failed", "fraudulent", None])
def test_unpaid_order_is_ignored(status):
    assert _facts(_event("order_created", "1", {**_ORDER, "status": status})) == (IgnoredFact("not_paid"),)


@pytest.mark.parametrize(
    "change",
    [
        {"total": -1},
        {"total": "118.00"},
        {"total": 1e3},
        {"total": True},
        {"total": None},
        {"total": 10**30},
        {"currency": None},
        {"created_at": "soon"},
        {"customer_id": "x" * 500},
    ],
)
def test_malformed_order_is_unreadable(change):
    with pytest.raises(UnreadableEvent):
        _facts(_event("order_created", "1", {**_ORDER, **change}))


def test_oversized_id_is_unreadable():
    with pytest.raises(UnreadableEvent):
        _facts(_event("order_created", "1" * 500, _ORDER))


def test_refund_without_an_amount_is_unreadable_unless_full():
    attributes = {name: value for name, value in _ORDER.items() if name != "refunded_amount"}
    with pytest.raises(UnreadableEvent):
        _facts(_event("order_refunded", "1", attributes))
    (full_refund,) = _facts(_event("order_refunded", "1", {**attributes, "refunded": True}))
    assert isinstance(full_refund, RefundFact)
    assert full_refund.amount_cents is None
    assert _facts(_event("order_refunded", "1", _ORDER)) == (IgnoredFact("no_money_moved"),)


def test_webhook_is_created_for_the_store_with_a_valid_secret(stage):
    generated = GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x").made
    data = stage.calls[-1].json["data"]
    assert 6 <= len(generated["webhookSecret"]) <= 40
    assert data["attributes"]["secret"] == generated["webhookSecret"]
    assert data["relationships"]["store"]["data"] == {"type": "stores", "id": "1"}
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=generated))
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=generated))
    assert f"/v1/webhooks/{generated['webhook']}" not in stage.objects


def test_key_without_access_to_the_store_is_refused(stage):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(dataclasses.replace(ACCOUNT, credentials={"apiKey": "ls_live_fake", "storeId": "2"}))
