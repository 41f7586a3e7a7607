"""lemonsqueezy: what its samples mean, and what is its own."""

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


def _event(name, number, told, meta=None, kind="orders"):
    custom = {"test_mode": False, "event_name": name, "custom_data": {"via": "anna"}}
    return {"meta": custom | (meta or {}), "data": {"type": kind, "id": number, "attributes": told}}


def _facts(event, account=ACCOUNT):
    (delivery,) = GATEWAY.prove(account, _inbound(sign(json.dumps(event).encode()))).deliveries
    return GATEWAY.facts(account, delivery)


def _inbound(sent: Notification) -> Inbound:
    return Inbound("POST", sent.headers, {}, sent.body, datetime.now(UTC))


def test_the_published_vector_is_proved_and_its_upper_case_is_not():
    body = b'{"id":1001,"total_price":"118.00"}'
    digest = "67cb7d55e64002d61e9312c44cde248c4935b29a89d7a4ad38877a7a4ba84709"
    assert GATEWAY.prove(ACCOUNT, _inbound(Notification(body, {"X-Signature": digest}))).deliveries
    for wrong in (digest.upper(), "", digest[:-1], "é"):
        with pytest.raises(NotProved):
            GATEWAY.prove(ACCOUNT, _inbound(Notification(body, {"X-Signature": wrong})))


def test_an_order_is_a_sale_of_its_total_with_the_tax_apart():
    (paid,) = _facts(_event("order_created", "900001", _ORDER))
    assert (paid.external_id, paid.amount_cents, paid.net_cents, paid.currency) == ("order:900001", 11800, 10000, "EUR")
    assert paid.paid_at == datetime(2026, 11, 20, 15, tzinfo=UTC)
    assert (paid.origin.customer_id, paid.origin.email, paid.origin.name) == ("55", "buyer@example.com", "Ada Buyer")
    assert paid.origin.carriers == (Carrier("lemonsqueezy_custom_data", {"via": "anna"}),)
    assert not paid.origin.is_referral_lost


def test_a_trial_starts_without_money():
    told = {"customer_id": 55, "order_id": 900002, "status": "on_trial", "user_email": "buyer@example.com"}
    (started,) = _facts(_event("subscription_created", "300001", {**told, "created_at": "2026-11-20T15:00:00Z"}))
    assert isinstance(started, StartFact)
    assert started.external_id == started.origin.subscription_id == "300001"


def test_a_renewal_is_a_sale_of_its_invoice():
    event = _event("subscription_payment_success", "500002", _INVOICE, kind="subscription-invoices")
    (paid,) = _facts(event)
    assert (paid.external_id, paid.amount_cents, paid.net_cents) == ("invoice:500002", 3451, 2900)
    assert paid.origin.subscription_id == "300001"


def test_what_went_back_is_a_running_total_of_the_order():
    told = {**_ORDER, "refunded_amount": 4720, "updated_at": "2026-11-22T09:00:00.000000Z"}
    (refund,) = _facts(_event("order_refunded", "900001", told))
    assert (refund.sale_ids, refund.amount_cents, refund.is_cumulative) == (("order:900001",), 4720, True)
    assert refund.refunded_at == datetime(2026, 11, 22, 9, tzinfo=UTC)


def test_an_order_that_is_refunded_when_it_is_first_seen_is_a_sale_and_a_refund():
    told = {**_ORDER, "refunded_amount": 11800, "refunded": True, "status": "refunded"}
    paid, refund = _facts(_event("order_created", "900001", told))
    assert isinstance(paid, PaymentFact)
    assert (refund.refund_id, refund.amount_cents) == ("order:900001", 11800)


def test_the_first_invoice_is_the_same_money_as_its_order(stage):
    sale = stage.pay(Purchase(cents=11800))
    facts = [fact for sent in sale.notifications for fact in _facts(json.loads(sent.body))]
    assert [type(fact) for fact in facts] == [PaymentFact, ReferralFact, IgnoredFact]


def test_the_first_invoice_of_an_order_of_nothing_is_a_sale_of_its_own(stage):
    order = stage.start_trial(Purchase(cents=0, customer="7"))[0]
    told = {**_INVOICE, "billing_reason": "initial", "subscription_id": 37}
    (free,) = _facts(json.loads(order.body))
    (paid,) = _facts(_event("subscription_payment_success", "5", told))
    (refund,) = _facts(_event("subscription_payment_refunded", "5", {**told, "refunded_amount": 100}))
    assert isinstance(free, ReferralFact)  # nothing was paid, and nobody began a trial of it alone
    assert (paid.external_id, refund.sale_ids, refund.refund_id) == ("invoice:5", ("invoice:5",), "invoice:5")


def test_a_refund_told_of_the_order_and_of_its_first_invoice_counts_once_by_the_larger_figure(stage):
    sale = stage.pay(Purchase(cents=11800))
    (of_order,) = _facts(json.loads(stage.refund(sale, 4720)[0].body))
    invoice = json.loads(sale.notifications[2].body)["data"]
    told = {**invoice["attributes"], "refunded_amount": 5000}
    (of_invoice,) = _facts(_event("subscription_payment_refunded", invoice["id"], told))
    assert of_order.refund_id == of_invoice.refund_id == sale.id
    assert of_order.sale_ids == of_invoice.sale_ids == (sale.id,)
    assert (of_order.amount_cents, of_invoice.amount_cents) == (4720, 5000)
    assert of_order.is_cumulative
    assert of_invoice.is_cumulative


def test_codes_are_asked_for_where_something_was_taken_off(stage):
    sent = stage.pay(Purchase(code="ANNA10", code_id="77")).notifications[0]
    (paid,) = _facts(json.loads(sent.body))
    assert paid.origin.codes == (RedeemedCode("ANNA10", "lemonsqueezy_coupon_code", "77"),)
    asked = len(stage.calls)
    _facts(json.loads(stage.pay(Purchase()).notifications[0].body))
    assert len(stage.calls) == asked


def test_what_is_read_from_a_list_names_nobody_and_says_so(stage):
    sale = stage.pay(Purchase(slug="jane"))
    (page, _) = list(GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(hours=1)))
    (paid,) = GATEWAY.facts(ACCOUNT, page[0])
    assert (page[0].key, paid.external_id) == (f"reconcile:{sale.id}", sale.id)
    assert (paid.origin.carriers, paid.origin.is_referral_lost) == ((), True)


def test_a_refund_of_an_older_payment_is_listed_again_whenever_it_grew(stage):
    sale = stage.pay(Purchase(cents=11800))
    since = stage.now + timedelta(days=1)
    assert list(GATEWAY.list_payments(ACCOUNT, since)) == []
    keys = []
    for cents in (1000, 2000):
        stage.refund(sale, cents)
        keys += [delivery.key for page in GATEWAY.list_payments(ACCOUNT, since) for delivery in page]
    assert keys == [f"reconcile:{sale.id}:refunded:1000", f"reconcile:{sale.id}:refunded:3000"]
    assert list(GATEWAY.list_payments(ACCOUNT, since + timedelta(days=31))) == []


def test_every_page_of_a_list_is_read(stage):
    ids = {stage.pay(Purchase(customer=str(number))).id for number in range(130)}
    found = [delivery for page in GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(hours=1)) for delivery in page]
    assert ids <= {delivery.key.removeprefix("reconcile:") for delivery in found}


@pytest.mark.parametrize("status", ["pending", "failed", "fraudulent", None])
def test_an_order_that_is_not_paid_is_nothing(status):
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
def test_an_order_that_makes_no_sense_is_no_money(change):
    with pytest.raises(UnreadableEvent):
        _facts(_event("order_created", "1", {**_ORDER, **change}))


def test_an_id_of_500_characters_is_no_money():
    with pytest.raises(UnreadableEvent):
        _facts(_event("order_created", "1" * 500, _ORDER))


def test_a_refund_without_its_figure_is_unreadable_and_one_of_nothing_is_nothing():
    told = {name: value for name, value in _ORDER.items() if name != "refunded_amount"}
    with pytest.raises(UnreadableEvent):
        _facts(_event("order_refunded", "1", told))
    (whole,) = _facts(_event("order_refunded", "1", {**told, "refunded": True}))
    assert isinstance(whole, RefundFact)
    assert whole.amount_cents is None
    assert _facts(_event("order_refunded", "1", _ORDER)) == (IgnoredFact("no_money_moved"),)


def test_the_webhook_is_made_for_the_store_with_a_secret_that_they_take(stage):
    made = GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x").made
    sent = stage.calls[-1].json["data"]
    assert 6 <= len(made["webhookSecret"]) <= 40
    assert sent["attributes"]["secret"] == made["webhookSecret"]
    assert sent["relationships"]["store"]["data"] == {"type": "stores", "id": "1"}
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=made))
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=made))
    assert f"/v1/webhooks/{made['webhook']}" not in stage.objects


def test_a_key_that_does_not_see_the_store_is_refused(stage):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(dataclasses.replace(ACCOUNT, credentials={"apiKey": "ls_live_fake", "storeId": "2"}))
