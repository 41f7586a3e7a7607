"""bigcommerce: its samples and its traps."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayUnreachable, NotProved
from adapters.gateways.storefront.bigcommerce import GATEWAY
from domain.gateways.facts import (
    CancelledFact,
    Carrier,
    DisconnectedFact,
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    TotalFact,
    UnclearFact,
    UnreadableEvent,
)
from tests.support.gateways.deliveries import account, facts, inbound, list_facts
from tests.support.gateways.stage import Notification, Purchase
from tests.support.gateways.storefront.bigcommerce import WORD, sign

_HOOK = {
    "scope": "store/order/statusUpdated",
    "store_id": "1025646",
    "data": {"type": "order", "id": 250, "status": {"previous_status_id": 0, "new_status_id": 11}},
    "hash": "7ee67cd1cf2ca60bc1aa9e5fe957d2de373be4ca",
    "created_at": 1790000000,
    "producer": "stores/abc123",
}
_ORDER = {
    "id": 250,
    "customer_id": 11,
    "date_created": "Fri, 20 Nov 2026 15:00:00 +0000",
    "date_modified": "Fri, 20 Nov 2026 15:00:05 +0000",
    "status_id": 11,
    "cart_id": "a8458391-ef68-4fe5-9ec1-442e6a8165b9",
    "subtotal_ex_tax": "90.0000",
    "total_ex_tax": "100.0000",
    "total_inc_tax": "118.0000",
    "total_tax": "18.0000",
    "shipping_cost_inc_tax": "10.0000",
    "payment_method": "Credit Card",
    "refunded_amount": "0.0000",
    "currency_code": "EUR",
    "default_currency_code": "USD",
    "customer_message": "",
    "billing_address": {"first_name": "Ada", "last_name": "Buyer", "email": "buyer@example.com"},
    "is_deleted": False,
}
_REFUND = {
    "id": 3,
    "order_id": 250,
    "created": "2026-11-22T09:00:00+00:00",
    "reason": "",
    "total_amount": 47.2,
    "total_tax": 7.2,
    "payments": [{"id": 1, "amount": 47.2, "is_declined": False}],
}


@pytest.fixture
def stage(stage):
    stage.objects["/v2/orders/250"] = dict(_ORDER)
    stage.objects["/v2/orders/250/coupons"] = [{"id": 3, "coupon_id": 1, "code": "ANNA10", "amount": 10}]
    metafield = {"id": 6, "namespace": "affiliate", "key": "via", "value": "anna"}
    stage.objects["/v3/orders/250/metafields"] = {"data": [metafield], "meta": {}}
    stage.objects["/v3/orders/payment_actions/refunds/3"] = {"data": dict(_REFUND), "meta": {}}
    return stage


def _told(stage, **other):
    stage.objects["/v2/orders/250"].update(other)
    return facts(stage, stage.notify("store/order/statusUpdated", _HOOK["data"]))


def _refunded(stage, **other):
    stage.objects["/v3/orders/payment_actions/refunds/3"]["data"].update(other)
    data = {"type": "order", "id": 250, "refund": {"refund_id": 3}}
    return facts(stage, stage.notify("store/order/refund/created", data))


class TestProof:
    def test_the_signature_of_the_vector_holds(self):
        known = GatewayAccount("live", {"clientSecret": "test_bc_client_secret"})
        headers = {
            "webhook-id": "msg_1",
            "webhook-timestamp": "1790000000",
            "webhook-signature": "v1,BwbYGLAnM4qt54SHYMW3BjbHohDM+jWgY3TPn2E96MY=",
        }
        body, at = b'{"id":1001,"total_price":"118.00"}', datetime.fromtimestamp(1790000000, UTC)
        assert GATEWAY.prove(known, inbound(Notification(body, headers), at)).deliveries
        for late in (timedelta(seconds=301), timedelta(seconds=-301)):
            with pytest.raises(NotProved):
                GATEWAY.prove(known, inbound(Notification(body, headers), at + late))
        with pytest.raises(NotProved):
            GATEWAY.prove(known, inbound(Notification(body, {**headers, "webhook-id": "msg_2"}), at))

    def test_a_good_signature_without_our_word_is_refused(self, stage):
        sent = sign(json.dumps(_HOOK).encode())
        for word in ("", "another"):
            with pytest.raises(NotProved):
                GATEWAY.prove(account(stage), inbound(Notification(sent.body, {**sent.headers, "X-Hook-Token": word})))

    def test_a_callback_of_the_older_kind_is_proved_by_our_word_alone(self, stage):
        body = json.dumps(_HOOK).encode()
        (delivery,) = GATEWAY.prove(account(stage), inbound(Notification(body, {"X-Hook-Token": WORD}))).deliveries
        assert delivery.key == _HOOK["hash"]
        unknown = GatewayAccount("live", stage.credentials)
        with pytest.raises(NotProved):
            GATEWAY.prove(unknown, inbound(Notification(body, {"X-Hook-Token": WORD})))

    def test_our_word_does_not_make_a_bad_signature_good(self, stage):
        headers = {"X-Hook-Token": WORD, "webhook-signature": "v1,x"}
        with pytest.raises(NotProved):
            GATEWAY.prove(account(stage), inbound(Notification(b"{}", headers)))


def test_the_samples_of_a_sale(stage):
    (payment,) = _told(stage)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("250", 11_800, "USD")
    assert payment.net_cents == 9_000
    assert payment.paid_at == stage.now.replace(microsecond=0)  # it was not paid until the callback
    (shipped,) = facts(stage, stage.notify_status_change(250, before=11))
    assert shipped.paid_at == datetime(2026, 11, 20, 15, tzinfo=UTC)
    origin = payment.origin
    assert (origin.customer_id, origin.email, origin.name) == ("11", "buyer@example.com", "Ada Buyer")
    assert origin.carriers == (Carrier("bigcommerce_metadata", {"via": "anna"}),)
    assert origin.codes == (RedeemedCode("ANNA10", "bigcommerce_coupon_code", "1", is_id_certain=False),)
    assert origin.is_test is False


@pytest.mark.parametrize(
    ("coupon", "id", "is_certain"),
    [
        ({"coupon_id": 40, "type": 5}, "40", True),
        ({"coupon_id": 41, "type": 5}, "41", False),
        ({"coupon_id": 42, "type": 5}, "42", False),
        ({"coupon_id": 40, "type": 1}, "coupon:40", True),
        ({"type": 5}, None, True),
    ],
    ids=["promotion with the code", "promotion with another code", "no promotion", "older coupon", "no id"],
)
def test_coupon_id_is_certain_where_that_promotion_has_the_code(stage, coupon, id, is_certain):
    for promotion, code in ((40, "Anna10"), (41, "BEN10")):
        stage.codes.promotions[promotion] = {"id": promotion}
        stage.codes.rows.append({"id": stage.number(), "code": code, "promotion": promotion})
    stage.objects["/v2/orders/250/coupons"] = [{"id": 3, "code": "ANNA10", **coupon}]

    (payment,) = _told(stage)

    assert payment.origin.codes == (RedeemedCode("ANNA10", "bigcommerce_coupon_code", id, is_certain),)


@pytest.mark.parametrize("status", [2, 3, 8, 9, 10, 11])
def test_statuses_that_are_paid(stage, status):
    assert [type(fact) for fact in _told(stage, status_id=status)] == [PaymentFact]


@pytest.mark.parametrize("status", [0, 1, 7, 12, None])
def test_an_order_that_is_not_paid_is_no_sale(stage, status):
    assert _told(stage, status_id=status) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize("other", [{"status_id": 5}, {"status_id": 6}, {"is_deleted": True}])
def test_cancelled_declined_or_deleted_order_is_reported_as_cancelled(stage, other):
    at = datetime(2026, 11, 20, 15, 0, 5, tzinfo=UTC)
    assert _told(stage, **other) == [CancelledFact(sale_ids=("250",), told_at=at)]


def test_updated_order_reports_its_total_by_one_call(stage):
    stage.objects["/v2/orders/250"] |= {"total_inc_tax": "60.0000", "total_tax": "0.0000"}
    (total,) = facts(stage, stage.notify("store/order/updated", {"type": "order", "id": 250}))
    assert isinstance(total, TotalFact)
    assert (total.sale_ids, total.amount_cents, total.total_cents) == (("250",), 6_000, 6_000)
    assert len(stage.calls) == 1


def test_what_the_callback_says_of_the_status_is_not_believed(stage):
    stage.objects["/v2/orders/250"]["status_id"] = 1
    assert _told(stage) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize("status", [4, 14])
def test_an_order_that_is_seen_refunded_brings_its_refunds(stage, status):
    stage.objects["/v3/orders/250/payment_actions/refunds"] = {"data": [_REFUND]}
    payment, refund = _told(stage, status_id=status)
    assert (payment.amount_cents, refund.amount_cents) == (11_800, 4_720)


def test_a_cart_and_a_comment_may_carry_the_referral_too(stage):
    stage.objects["/v3/orders/250/metafields"] = {"data": []}
    stage.objects[f"/v3/carts/{_ORDER['cart_id']}/metafields"] = {"data": [{"key": "via", "value": "ben"}]}
    (payment,) = _told(stage, customer_message="Please ring twice. via=cy")
    assert payment.origin.carriers == (
        Carrier("bigcommerce_metadata", {"via": "ben"}),
        Carrier("bigcommerce_custom_field", {"via": "cy"}),
    )


def test_what_the_token_may_not_read_is_left_out(stage):
    stage.forbidden = {"metafields", "transactions", "coupons"}
    (payment,) = _told(stage)
    assert (payment.amount_cents, payment.origin.carriers, payment.origin.codes) == (11_800, (), ())


def test_a_transaction_of_a_test_makes_a_test(stage):
    stage.objects["/v3/orders/250/transactions"] = {"data": [{"test": False}, {"test": True}]}
    assert _told(stage)[0].origin.is_test is True


class TestRefunds:
    def test_the_samples_of_a_refund(self, stage):
        (refund,) = _refunded(stage, reason="broken")
        assert refund == RefundFact(
            refund_id="refund:3",
            sale_ids=("250",),
            amount_cents=4_720,
            currency="USD",
            refunded_at=datetime(2026, 11, 22, 9, tzinfo=UTC),
            reason="broken",
        )

    def test_declined_payments_are_no_money(self, stage):
        parts = [{"amount": 40, "is_declined": True}, {"amount": 7.2, "is_declined": False}]
        assert _refunded(stage, payments=parts)[0].amount_cents == 720
        assert _refunded(stage, payments=parts[:1]) == [IgnoredFact("no_money_moved")]

    def test_one_that_is_not_there_is_said(self, stage):
        del stage.objects["/v3/orders/payment_actions/refunds/3"]
        data = {"id": 250, "refund": {"refund_id": 3}}
        with pytest.raises(UnreadableEvent, match="refund 3"):
            facts(stage, stage.notify("store/order/refund/created", data))


def test_a_dispute_is_told_by_the_status_and_released_when_it_leaves_it(stage):
    payment, opened = _told(stage, status_id=13)
    assert isinstance(payment, PaymentFact)
    assert isinstance(opened, DisputeFact)
    assert (opened.state, opened.sale_ids) == (DisputeState.Opened, ("250",))
    stage.objects["/v2/orders/250"]["status_id"] = 11
    _, won = facts(stage, stage.notify_status_change(250, before=13))
    assert (won.state, won.dispute_id) == (DisputeState.Won, opened.dispute_id)


def test_the_sample_of_an_uninstalled_app(stage):
    told = stage.notify("store/app/uninstalled", {"type": "app", "id": None})
    assert isinstance(facts(stage, told)[0], DisconnectedFact)


@pytest.mark.parametrize("amount", ["-1.0000", "1e30", "", None, [], True])
def test_an_amount_that_is_none_is_unreadable(stage, amount):
    with pytest.raises(UnreadableEvent):
        _told(stage, total_inc_tax=amount)
    if amount is not None:
        with pytest.raises(UnreadableEvent):
            _refunded(stage, payments=[{"amount": amount}])


def test_unreadable_refund_of_an_order_waits_for_a_person_while_the_order_counts(stage):
    refunds = [{"id": 3, "order_id": 250, "created": "2026-11-22T09:00:00+00:00", "total_amount": "a lot"}]
    refunds += [{**refunds[0], "id": 4, "total_amount": 33.3333}]
    stage.objects["/v3/orders/250/payment_actions/refunds"] = {"data": refunds}
    payment, unclear, refund = _told(stage, status_id=14)
    assert (payment.amount_cents, unclear) == (11_800, UnclearFact("refund_amount_unknown"))
    assert (refund.refund_id, refund.amount_cents) == ("refund:4", 3_333)


@pytest.mark.parametrize("order_id", ["7" * 500, "../store", "1/coupons", None, {}, "x"])
def test_an_id_that_is_none_is_not_asked_for(stage, order_id):
    with pytest.raises(UnreadableEvent):
        facts(stage, stage.notify("store/order/statusUpdated", {"type": "order", "id": order_id}))
    assert stage.calls == []


def test_a_store_that_is_away_is_asked_again_later(stage):
    stage.faults.append("busy")
    with pytest.raises(GatewayUnreachable):
        _told(stage)


@pytest.mark.parametrize("typed", ["", "abc/../v2", "abc 123", "stores/abc"])
def test_a_hash_that_is_none_is_refused(stage, typed):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(account(stage, storeHash=typed))


class TestWebhooks:
    ADDRESS = "https://finderfee.example/api/gateways/bigcommerce/token"

    @pytest.mark.parametrize(("has_uninstalled", "count"), [(True, 6), (False, 5)])
    def test_they_are_made_with_our_word_and_taken_back(self, stage, has_uninstalled, count):
        stage.hooks.clear()
        stage.has_uninstalled = has_uninstalled
        subscribed = GATEWAY.subscribe(account(stage), self.ADDRESS)
        assert len(stage.hooks) == count
        words = {hook["headers"]["X-Hook-Token"] for hook in stage.hooks.values()}
        assert words == {subscribed.made["hookToken"]}
        GATEWAY.unsubscribe(GatewayAccount("live", stage.credentials, subscribed.made))
        assert stage.hooks == {}

    def test_nothing_stays_where_the_store_is_away_in_between(self, stage):
        stage.hooks.clear()
        stage.faults.extend(["", "fail"])
        with pytest.raises(GatewayUnreachable):
            GATEWAY.subscribe(account(stage), self.ADDRESS)
        assert stage.hooks == {}

    def test_those_that_the_store_gave_up_are_woken_by_every_listing(self, stage):
        stage.hooks["21"]["is_active"] = False
        stage.hooks.pop("22")
        list_facts(stage, stage.now)
        assert {number: hook["is_active"] for number, hook in stage.hooks.items()} == {"21": True, "23": True}


def test_every_page_of_what_changed_is_read(stage, monkeypatch):
    stage.objects.clear()
    monkeypatch.setattr("adapters.gateways.storefront.bigcommerce._PAGE", 2)
    sold = [stage.pay(Purchase(customer=str(number))) for number in range(4)]
    stage.objects[f"/v2/orders/{sold[0].id}"]["date_created"] = "Wed, 01 Jan 2020 00:00:00 +0000"
    stage.objects[f"/v2/orders/{sold[1].id}"]["status_id"] = 1
    stage.refund(sold[0], 100)
    told = list_facts(stage, stage.now - timedelta(hours=1))
    (refund,) = [key for key in told if key.startswith("reconcile:refund:")]
    assert [type(fact) for fact in told.pop(refund)] == [RefundFact]
    # The old one too: when it was paid, the list does not say.
    assert list(told) == [f"reconcile:{sale.id}" for sale in (sold[0], *sold[2:])]
