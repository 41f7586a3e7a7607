"""thrivecart: what its samples mean, and what is its own."""

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


def _inbound(sent: Notification, method: str = "POST") -> Inbound:
    return Inbound(method, sent.headers, {}, sent.body, datetime.now(UTC))


def _delivery(told):
    (delivery,) = GATEWAY.prove(ACCOUNT, _inbound(form(told))).deliveries
    return delivery


def _facts(told, account=ACCOUNT):
    return GATEWAY.facts(account, _delivery(told))


def _lists(stage, kind, told, amount, **other):
    stage.transact(kind, told.get("order_id", "38000001"), told.get("invoice_id", "000000005"), amount, Purchase())
    stage.transactions[-1] |= {"event_id": told.get("event_id", "1"), **other}


def _json(told):
    return Notification(json.dumps(told).encode(), {"Content-Type": "application/json"})


def test_an_order_is_a_sale_of_its_gross_total_with_the_tax_apart(stage):
    _lists(stage, "charge", _ORDER, 10000)
    (paid,) = _facts(_ORDER)
    assert (paid.external_id, paid.amount_cents, paid.net_cents) == ("38000001:000000005", 11800, 10000)
    assert paid.paid_at == datetime.fromtimestamp(1790000000, UTC)
    assert (paid.origin.customer_id, paid.origin.email, paid.origin.name) == (
        "429001",
        "buyer@example.com",
        "Ada Buyer",
    )
    assert paid.origin.carriers == (Carrier("thrivecart_url_param", {"via": "anna"}),)


def test_the_same_order_by_form_and_by_json_is_one_sale(stage):
    _lists(stage, "charge", _ORDER, 11800)
    (by_form,) = _facts(_ORDER)
    (delivery,) = GATEWAY.prove(ACCOUNT, _inbound(_json(_JSON))).deliveries
    (by_json,) = GATEWAY.facts(ACCOUNT, delivery)
    assert by_json.external_id == by_form.external_id
    assert by_json.aliases == by_form.aliases == ("order:38000001",)
    assert by_json.origin.customer_id == by_form.origin.customer_id
    assert delivery.key == "webhook:d0000000-0000-4000-8000-000000000001"


def test_a_rebill_is_a_sale_of_its_own_and_has_a_name_for_refunds(stage):
    _lists(stage, "rebill", _REBILL, 2900)
    paid, alias = _facts(_REBILL)
    assert (paid.external_id, paid.amount_cents) == ("38000002:000000006-2:1325000001", 2900)
    assert (paid.origin.customer_id, paid.origin.subscription_id) == ("429001", "5440001")
    _lists(stage, "refund", _REBILL, 2900, event_id="1325000009")
    (refund,) = _facts(
        {**_REFUND, **{name: _REBILL[name] for name in ("order_id", "invoice_id")}}
        | {
            "event_id": "1325000009",
            "refund": {"amount": "2900"},
        }
    )
    assert isinstance(alias, AliasFact)
    assert set(alias.ids) & set(refund.sale_ids)


def test_a_refund_is_its_own_and_names_the_invoice(stage):
    _lists(stage, "refund", _REFUND, 4000)
    for kind in ("order.refund", "order_refund_product", "order_refund_upsell"):
        (refund,) = _facts({**_REFUND, "event": kind})
        assert isinstance(refund, RefundFact)
        assert (refund.refund_id, refund.amount_cents, refund.is_cumulative) == ("refund:1325000002", 4720, False)
        assert "38000001:000000005" in refund.sale_ids


def test_the_secret_word_is_compared_and_never_kept():
    for sent in (form(_ORDER), _json(_JSON)):
        (delivery,) = GATEWAY.prove(ACCOUNT, _inbound(sent)).deliveries
        assert WORD.encode() in sent.body
        assert WORD.encode() not in delivery.raw
    for wrong in ("", "secretword", WORD + "x", "é"):
        for sent in (form({**_ORDER, "thrivecart_secret": wrong}), _json({**_JSON, "thrivecart_secret": wrong})):
            with pytest.raises(NotProved):
                GATEWAY.prove(ACCOUNT, _inbound(sent))
    for odd in (None, 1, [WORD], {"a": WORD}):
        with pytest.raises(NotProved):
            GATEWAY.prove(ACCOUNT, _inbound(_json({**_JSON, "thrivecart_secret": odd})))
    with pytest.raises(NotProved):
        GATEWAY.prove(dataclasses.replace(ACCOUNT, credentials={"secretWord": ""}), _inbound(form(_ORDER)))


@pytest.mark.parametrize(
    ("method", "body"),
    [("HEAD", b""), ("GET", b""), ("POST", b""), ("POST", b"\r\n"), ("POST", b"test=1"), ("POST", b"{}")],
)
def test_an_address_that_is_tried_answers_and_takes_nothing(method, body):
    proved = GATEWAY.prove(ACCOUNT, _inbound(Notification(body), method))
    assert (proved.status, proved.deliveries) == (200, ())


def test_items_of_an_order_are_never_booked_beside_it(stage):
    _lists(stage, "charge", _ORDER, 11800)
    for item in ("product", "bump", "upsell", "downsell"):
        fact = IgnoredFact("duplicate_of_another_event")
        assert _facts({**_ORDER, "event": f"order_payment_{item}"}) == (fact,)


def test_an_order_that_is_told_again_is_the_same_event():
    assert _delivery(_ORDER).key == _delivery({**_ORDER, "order_timestamp": "1790000009"}).key
    refunds = [{**_REFUND, "event_id": "null", "date_unix": at} for at in ("1790100000", "1790100001")]
    assert len({_delivery(told).key for told in (*refunds, *refunds, _REFUND)}) == 3


def test_what_was_told_just_now_waits_for_the_list_and_what_is_old_for_a_person(stage):
    assert _facts(_ORDER) == _facts(_REFUND) == _facts(_REBILL) == (UnclearFact("not_confirmed"),)
    for told in (_ORDER, _REFUND, _REBILL):
        with pytest.raises(GatewayUnreachable):
            _facts({**told, "date_unix": str(int(datetime.now(UTC).timestamp()) - 60)})
    _lists(stage, "charge", {**_ORDER, "order_id": "380000010"}, 11800)
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
def test_more_than_the_list_confirms_waits_for_a_person(stage, order, listed):
    _lists(stage, "charge", _ORDER, listed)
    assert _facts({**_ORDER, "order": order}) == (UnclearFact("amount_not_confirmed"),)


def test_several_items_of_an_order_are_confirmed_together(stage):
    _lists(stage, "charge", _ORDER, 7000)
    _lists(stage, "charge", _ORDER, 4800, event_id="2")
    (paid,) = _facts(_ORDER)
    assert paid.amount_cents == 11800


def test_a_refund_without_an_id_is_the_one_of_its_invoice_and_amount_or_waits(stage):
    _lists(stage, "refund", _REFUND, 4000)
    told = {**_REFUND, "event_id": "null"}
    (refund,) = _facts(told)
    assert refund.refund_id == "refund:1325000002"
    _lists(stage, "refund", _REFUND, 4000, event_id="1325000007")
    assert _facts(told) == (UnclearFact("not_confirmed"),)


def test_nothing_that_was_paid_is_a_start_or_nothing(stage):
    trial = {**_ORDER, "order": {"total": "0", "future_charges": {"0": {"amount": "2900"}}}}
    (started,) = _facts(trial)
    (free,) = _facts({**_ORDER, "order": {"total": "0", "total_gross": "0"}})
    assert isinstance(started, StartFact)
    assert isinstance(free, PaymentFact)
    assert free.amount_cents == 0
    assert stage.calls == []


@pytest.mark.parametrize(
    "told",
    [
        {"passthrough": {"via": "anna"}},
        {"passthrough": "via=anna"},
        {"passthrough_via": "anna"},
        {"customer": {"custom_fields": {"passthrough_via": "anna"}}},
        {"order": {**_ORDER["order"], "passthrough": {"via": "anna"}}},
    ],
)
def test_what_was_passed_through_is_found_wherever_it_stands(stage, told):
    _lists(stage, "charge", _ORDER, 11800)
    bare = {name: value for name, value in _ORDER.items() if name != "passthrough"}
    (paid,) = _facts({**bare, **copy.deepcopy(told)})
    assert paid.origin.carriers[0] == Carrier("thrivecart_url_param", {"via": "anna"})


def test_custom_fields_and_coupons_are_told_and_nulls_are_not(stage):
    _lists(stage, "charge", _ORDER, 11800)
    customer = {"email": "null", "custom_fields": {"ref": "anna", "phone": "null"}}
    told = {**_ORDER, "customer": customer, "customer_id": "null", "coupon": "null", "passthrough": "null"}
    (paid,) = _facts({**told, "coupon_code": "ANNA10"})
    assert paid.origin.carriers == (Carrier("thrivecart_custom_field", {"ref": "anna"}),)
    assert paid.origin.codes == (RedeemedCode("ANNA10", "thrivecart_coupon_code"),)
    assert (paid.origin.email, paid.origin.customer_id, paid.origin.name) == (None, None, None)


@pytest.mark.parametrize("total", ["-1", "118.00", "x", "1e3", "9" * 30, "Infinity"])
def test_a_total_that_makes_no_sense_is_no_money(stage, total):
    _lists(stage, "charge", _ORDER, 11800)
    for name in ("total", "total_gross"):
        with pytest.raises(UnreadableEvent):
            _facts({**_ORDER, "order": {**_ORDER["order"], name: total}})


@pytest.mark.parametrize("change", [{"order_id": "3" * 500}, {"customer_id": "4" * 500}, {"order_timestamp": "soon"}])
def test_ids_of_500_characters_and_odd_times_are_no_money(stage, change):
    with pytest.raises(UnreadableEvent):
        _facts({**_ORDER, **change})


@pytest.mark.parametrize("currency", ["JPY", "KWD"])
def test_money_without_hundredths_is_never_guessed(stage, currency):
    _lists(stage, "charge", _ORDER, 11800)
    with pytest.raises(UnreadableEvent):
        _facts({**_ORDER, "currency": currency})


def test_a_test_order_is_asked_for_among_the_test_orders(stage):
    _lists(stage, "charge", _ORDER, 11800)
    (paid,) = _facts({**_ORDER, "mode": "test", "mode_int": "1"})
    assert paid.origin.is_test
    assert stage.calls[-1].headers["X-TC-Mode"] == "test"


def test_what_is_listed_is_each_order_rebill_and_refund_once_and_names_nobody(stage):
    sale = stage.pay(Purchase(cents=7000))
    order_id, invoice_id = sale.id.split(":")
    stage.transact("charge", order_id, invoice_id, 3000, Purchase())
    again = stage.pay(Purchase(renews=sale, cents=2900))
    stage.refund(sale, 500)
    stage.transact("cancel", order_id, invoice_id, 0, Purchase())
    others = [stage.pay(Purchase(customer=str(number))).id for number in range(2, 60)]
    deliveries = [one for page in GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(hours=1)) for one in page]
    facts = [fact for one in deliveries for fact in GATEWAY.facts(ACCOUNT, one)]
    paid = {fact.external_id: fact for fact in facts if isinstance(fact, PaymentFact)}
    assert len({one.key for one in deliveries}) == len(deliveries)
    assert set(paid) == {sale.id, again.id, *others}
    assert (paid[sale.id].amount_cents, paid[again.id].amount_cents) == (10_000, 2900)
    assert [fact.amount_cents for fact in facts if isinstance(fact, RefundFact)] == [500]
    assert all(fact.origin.is_referral_lost and not fact.origin.carriers for fact in paid.values())
    assert {one.key for one in deliveries} >= {f"reconcile:{sale.id}", f"reconcile:{again.id}"}


def test_the_subscription_is_made_and_taken_back(stage):
    made = GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x").made
    assert stage.subscribed == ["https://finderfee.example/x"]
    assert stage.calls[-1].json["trigger_fields"] == {"mode_int": 2}
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=made))
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=made))
    assert stage.subscribed == []
