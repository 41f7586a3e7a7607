"""ThriveCart: samples of its events, and behaviour that only it has."""

import copy
import dataclasses
import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import GatewayAccount, GatewayUnreachable, Inbound, NotProved
from adapters.gateways.digital.thrivecart import GATEWAY
from domain.gateways.facts import (
    AliasFact,
    Carrier,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    StartFact,
    UnclearFact,
    UnreadableEvent,
)
from tests.support.gateways.digital.thrivecart import TOKEN, WORD, form
from tests.support.gateways.stage import Notification, Purchase

ACCOUNT = GatewayAccount("live", {"apiKey": TOKEN, "secretWord": WORD})
_ORDER = {
    "event": "order.success",
    "mode": "live",
    "mode_int": "2",
    "thrivecart_account": "brand",
    "thrivecart_secret": WORD,
    "base_product": "7",
    "order_id": "38000001",
    "invoice_id": "000000005",
    "order_timestamp": "1790000000",
    "currency": "USD",
    "customer_id": "429001",
    "customer": {"id": "429001", "email": "buyer@example.com", "first_name": "Ada", "last_name": "Buyer"},
    "affiliate": "null",
    "passthrough": {"via": "anna"},
    "order": {"id": "38000001", "total": "10000", "total_gross": "11800", "tax": "1800"},
}
_REBILL = {
    "event": "order.subscription_payment",
    "mode_int": "2",
    "thrivecart_secret": WORD,
    "event_id": "1325000001",
    "order_id": "38000002",
    "invoice_id": "000000006-2",
    "subscription_id": "5440001",
    "date_unix": "1792600000",
    "currency": "USD",
    "customer_id": "429001",
    "customer": {"email": "buyer@example.com"},
    "order": {"id": "38000002", "total": "2900"},
    "subscription": {"id": "8", "amount": "2900", "amount_gross": "2900", "tax_paid": "0"},
}
_REFUND = {
    "event": "order.refund",
    "mode_int": "2",
    "thrivecart_secret": WORD,
    "event_id": "1325000002",
    "date_unix": "1790100000",
    "order_id": "38000001",
    "invoice_id": "000000005",
    "subscription_id": "null",
    "currency": "USD",
    "customer": {"email": "buyer@example.com"},
    "order": {"id": "38000001", "total": "10000", "total_gross": "11800"},
    "refund": {"id": "7", "currency": "USD", "amount": "4000", "amount_gross": "4720", "tax_paid": "720"},
}
_JSON = {
    "event": "order_created",
    "webhook_id": "d0000000-0000-4000-8000-000000000001",
    "event_id": "1325000003",
    "mode_int": 2,
    "thrivecart_secret": WORD,
    "base_product": 7,
    "currency": "USD",
    "order_timestamp": 1790000000,
    "customer": {"id": 429001, "email": "buyer@example.com"},
    "order": {"id": "38000001", "total": 10000},
}


def _inbound(notification: Notification, method: str = "POST") -> Inbound:
    return Inbound(method, notification.headers, {}, notification.body, datetime.now(UTC))


def _prove_form(event):
    (delivery,) = GATEWAY.prove(ACCOUNT, _inbound(form(event))).deliveries
    return delivery


def _facts(event, account=ACCOUNT):
    return GATEWAY.facts(account, _prove_form(event))


def _list_transaction(stage, kind, event, amount, **other):
    stage.transact(kind, event.get("order_id", "38000001"), event.get("invoice_id", "000000005"), amount, Purchase())
    stage.transactions[-1] |= {"event_id": event.get("event_id", "1"), **other}


def _json(event):
    return Notification(json.dumps(event).encode(), {"Content-Type": "application/json"})


def test_order_is_a_sale_of_its_gross_total_with_net(stage):
    _list_transaction(stage, "charge", _ORDER, 10000)
    (payment,) = _facts(_ORDER)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == ("38000001:000000005", 11800, 10000)
    assert payment.paid_at == datetime.fromtimestamp(1790000000, UTC)
    assert (payment.origin.customer_id, payment.origin.email, payment.origin.name) == (
        "429001",
        "buyer@example.com",
        "Ada Buyer",
    )
    assert payment.origin.carriers == (Carrier("thrivecart_url_param", {"via": "anna"}),)


def test_form_and_json_of_one_order_are_one_sale(stage):
    _list_transaction(stage, "charge", _ORDER, 11800)
    (by_form,) = _facts(_ORDER)
    (delivery,) = GATEWAY.prove(ACCOUNT, _inbound(_json(_JSON))).deliveries
    (by_json,) = GATEWAY.facts(ACCOUNT, delivery)
    assert by_json.external_id == by_form.external_id
    assert by_json.aliases == by_form.aliases == ("order:38000001",)
    assert by_json.origin.customer_id == by_form.origin.customer_id
    assert delivery.key == "webhook:d0000000-0000-4000-8000-000000000001"


def test_rebill_is_its_own_sale_with_a_refund_alias(stage):
    _list_transaction(stage, "rebill", _REBILL, 2900)
    payment, alias = _facts(_REBILL)
    assert (payment.external_id, payment.amount_cents) == ("38000002:000000006-2:1325000001", 2900)
    assert (payment.origin.customer_id, payment.origin.subscription_id) == ("429001", "5440001")
    _list_transaction(stage, "refund", _REBILL, 2900, event_id="1325000009")
    (refund,) = _facts(
        {**_REFUND, **{name: _REBILL[name] for name in ("order_id", "invoice_id")}}
        | {
            "event_id": "1325000009",
            "refund": {"amount": "2900"},
        }
    )
    assert isinstance(alias, AliasFact)
    assert set(alias.ids) & set(refund.sale_ids)


def test_refund_has_its_own_id_and_names_the_invoice(stage):
    _list_transaction(stage, "refund", _REFUND, 4000)
    for kind in ("order.refund", "order_refund_product", "order_refund_upsell"):
        (refund,) = _facts({**_REFUND, "event": kind})
        assert isinstance(refund, RefundFact)
        assert (refund.refund_id, refund.amount_cents, refund.is_cumulative) == ("refund:1325000002", 4720, False)
        assert "38000001:000000005" in refund.sale_ids


def test_secret_word_is_compared_and_never_stored():
    for notification in (form(_ORDER), _json(_JSON)):
        (delivery,) = GATEWAY.prove(ACCOUNT, _inbound(notification)).deliveries
        assert WORD.encode() in notification.body
        assert WORD.encode() not in delivery.raw
    for wrong_word in ("", "secretword", WORD + "x", "é"):
        for notification in (
            form({**_ORDER, "thrivecart_secret": wrong_word}),
            _json({**_JSON, "thrivecart_secret": wrong_word}),
        ):
            with pytest.raises(NotProved):
                GATEWAY.prove(ACCOUNT, _inbound(notification))
    for malformed_word in (None, 1, [WORD], {"a": WORD}):
        with pytest.raises(NotProved):
            GATEWAY.prove(ACCOUNT, _inbound(_json({**_JSON, "thrivecart_secret": malformed_word})))
    with pytest.raises(NotProved):
        GATEWAY.prove(dataclasses.replace(ACCOUNT, credentials={"secretWord": ""}), _inbound(form(_ORDER)))


@pytest.mark.parametrize(
    ("method", "body"),
    [("HEAD", b""), ("GET", b""), ("POST", b""), ("POST", b"\r\n"), ("POST", b"test=1"), ("POST", b"{}")],
)
def test_request_without_an_event_gets_200_and_no_delivery(method, body):
    proved = GATEWAY.prove(ACCOUNT, _inbound(Notification(body), method))
    assert (proved.status, proved.deliveries) == (200, ())


def test_item_events_of_an_order_are_ignored(stage):
    _list_transaction(stage, "charge", _ORDER, 11800)
    for item in ("product", "bump", "upsell", "downsell"):
        fact = IgnoredFact("duplicate_of_another_event")
        assert _facts({**_ORDER, "event": f"order_payment_{item}"}) == (fact,)


def test_repeated_order_has_the_same_key():
    assert _prove_form(_ORDER).key == _prove_form({**_ORDER, "order_timestamp": "1790000009"}).key
    refunds = [{**_REFUND, "event_id": "null", "date_unix": at} for at in ("1790100000", "1790100001")]
    assert len({_prove_form(refund).key for refund in (*refunds, *refunds, _REFUND)}) == 3


def test_recent_unlisted_event_raises_and_old_unlisted_event_is_unclear(stage):
    assert _facts(_ORDER) == _facts(_REFUND) == _facts(_REBILL) == (UnclearFact("not_confirmed"),)
    for event in (_ORDER, _REFUND, _REBILL):
        with pytest.raises(GatewayUnreachable):
            _facts({**event, "date_unix": str(int(datetime.now(UTC).timestamp()) - 60)})
    _list_transaction(stage, "charge", {**_ORDER, "order_id": "380000010"}, 11800)
    assert _facts(_ORDER) == (UnclearFact("not_confirmed"),)


@pytest.mark.parametrize(
    ("order", "listed"),
    [
        ({"total": "10000", "total_gross": "11800", "tax": "1800"}, 9999),
        ({"total": "10000", "total_gross": "99999", "tax": "1800"}, 10000),
        ({"total_gross": "11801"}, 11800),
        ({"total": "10001"}, 10000),
    ],
)
def test_amount_above_the_listed_amount_is_unclear(stage, order, listed):
    _list_transaction(stage, "charge", _ORDER, listed)
    assert _facts({**_ORDER, "order": order}) == (UnclearFact("amount_not_confirmed"),)


def test_items_of_an_order_are_confirmed_as_a_sum(stage):
    _list_transaction(stage, "charge", _ORDER, 7000)
    _list_transaction(stage, "charge", _ORDER, 4800, event_id="2")
    (payment,) = _facts(_ORDER)
    assert payment.amount_cents == 11800


def test_refund_without_an_id_is_matched_by_invoice_and_amount(stage):
    _list_transaction(stage, "refund", _REFUND, 4000)
    event = {**_REFUND, "event_id": "null"}
    (refund,) = _facts(event)
    assert refund.refund_id == "refund:1325000002"
    _list_transaction(stage, "refund", _REFUND, 4000, event_id="1325000007")
    assert _facts(event) == (UnclearFact("not_confirmed"),)


def test_zero_order_is_a_start_only_with_future_charges(stage):
    trial = {**_ORDER, "order": {"total": "0", "future_charges": {"0": {"amount": "2900"}}}}
    (start,) = _facts(trial)
    (free,) = _facts({**_ORDER, "order": {"total": "0", "total_gross": "0"}})
    assert isinstance(start, StartFact)
    assert isinstance(free, PaymentFact)
    assert free.amount_cents == 0
    assert stage.calls == []


@pytest.mark.parametrize(
    "changes",
    [
        {"passthrough": {"via": "anna"}},
        {"passthrough": "via=anna"},
        {"passthrough_via": "anna"},
        {"customer": {"custom_fields": {"passthrough_via": "anna"}}},
        {"order": {**_ORDER["order"], "passthrough": {"via": "anna"}}},
    ],
)
def test_passthrough_is_read_in_every_form(stage, changes):
    _list_transaction(stage, "charge", _ORDER, 11800)
    bare = {name: value for name, value in _ORDER.items() if name != "passthrough"}
    (payment,) = _facts({**bare, **copy.deepcopy(changes)})
    assert payment.origin.carriers[0] == Carrier("thrivecart_url_param", {"via": "anna"})


def test_custom_fields_and_coupons_are_read_without_nulls(stage):
    _list_transaction(stage, "charge", _ORDER, 11800)
    customer = {"email": "null", "custom_fields": {"ref": "anna", "phone": "null"}}
    event = {**_ORDER, "customer": customer, "customer_id": "null", "coupon": "null", "passthrough": "null"}
    (payment,) = _facts({**event, "coupon_code": "ANNA10"})
    assert payment.origin.carriers == (Carrier("thrivecart_custom_field", {"ref": "anna"}),)
    assert payment.origin.codes == (RedeemedCode("ANNA10", "thrivecart_coupon_code"),)
    assert (payment.origin.email, payment.origin.customer_id, payment.origin.name) == (None, None, None)


@pytest.mark.parametrize("total", ["-1", "118.00", "x", "1e3", "9" * 30, "Infinity"])
def test_malformed_total_is_unreadable(stage, total):
    _list_transaction(stage, "charge", _ORDER, 11800)
    for order in ({**_ORDER["order"], "total_gross": total}, {"total": total}):
        with pytest.raises(UnreadableEvent):
            _facts({**_ORDER, "order": order})


@pytest.mark.parametrize(("listed", "is_confirmed"), [(11800, True), (10000, False)])
@pytest.mark.parametrize("total", ["-1", "118.00", "x", "9" * 30])
def test_malformed_total_without_tax_is_unknown_where_the_gross_one_is_confirmed(stage, total, listed, is_confirmed):
    _list_transaction(stage, "charge", _ORDER, listed)
    (fact,) = _facts({**_ORDER, "order": {**_ORDER["order"], "total": total}})
    if is_confirmed:
        assert (fact.amount_cents, fact.net_cents) == (11800, 10000)
    else:
        assert fact == UnclearFact("amount_not_confirmed")


@pytest.mark.parametrize("change", [{"order_id": "3" * 500}, {"customer_id": "4" * 500}, {"order_timestamp": "soon"}])
def test_oversized_id_or_malformed_time_is_unreadable(stage, change):
    with pytest.raises(UnreadableEvent):
        _facts({**_ORDER, **change})


@pytest.mark.parametrize("currency", ["JPY", "KWD"])
def test_currency_without_two_decimals_is_unreadable(stage, currency):
    _list_transaction(stage, "charge", _ORDER, 11800)
    with pytest.raises(UnreadableEvent):
        _facts({**_ORDER, "currency": currency})


def test_test_order_is_looked_up_in_test_mode(stage):
    _list_transaction(stage, "charge", _ORDER, 11800)
    (payment,) = _facts({**_ORDER, "mode": "test", "mode_int": "1"})
    assert payment.origin.is_test
    assert stage.calls[-1].headers["X-TC-Mode"] == "test"


def test_listed_transactions_are_unique_and_without_referral(stage):
    sale = stage.pay(Purchase(cents=7000))
    order_id, invoice_id = sale.id.split(":")
    stage.transact("charge", order_id, invoice_id, 3000, Purchase())
    renewal = stage.pay(Purchase(renews=sale, cents=2900))
    stage.refund(sale, 500)
    stage.transact("cancel", order_id, invoice_id, 0, Purchase())
    others = [stage.pay(Purchase(customer=str(number))).id for number in range(2, 60)]
    deliveries = [
        delivery for page in GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(hours=1)) for delivery in page
    ]
    facts = [fact for delivery in deliveries for fact in GATEWAY.facts(ACCOUNT, delivery)]
    payment = {fact.external_id: fact for fact in facts if isinstance(fact, PaymentFact)}
    assert len({delivery.key for delivery in deliveries}) == len(deliveries)
    assert set(payment) == {sale.id, renewal.id, *others}
    assert (payment[sale.id].amount_cents, payment[renewal.id].amount_cents) == (10_000, 2900)
    assert [fact.amount_cents for fact in facts if isinstance(fact, RefundFact)] == [500]
    assert all(fact.origin.is_referral_lost and not fact.origin.carriers for fact in payment.values())
    assert {delivery.key for delivery in deliveries} >= {f"reconcile:{sale.id}", f"reconcile:{renewal.id}"}


def test_webhook_subscription_is_created_and_removed(stage):
    generated = GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x").made
    assert stage.subscribed == ["https://finderfee.example/x"]
    assert stage.calls[-1].json["trigger_fields"] == {"mode_int": 2}
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=generated))
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=generated))
    assert stage.subscribed == []
