"""BigCommerce: samples of its events, and pitfalls."""

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
from tests.support.gateways.deliveries import build_account, build_inbound, list_facts, read_facts
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


def _read_order(stage, **other):
    stage.objects["/v2/orders/250"].update(other)
    return read_facts(stage, stage.notify("store/order/statusUpdated", _HOOK["data"]))


def _read_refund(stage, **other):
    stage.objects["/v3/orders/payment_actions/refunds/3"]["data"].update(other)
    data = {"type": "order", "id": 250, "refund": {"refund_id": 3}}
    return read_facts(stage, stage.notify("store/order/refund/created", data))


class TestProof:
    def test_known_signature_is_valid_within_five_minutes(self):
        known_account = GatewayAccount("live", {"clientSecret": "test_bc_client_secret"})
        headers = {
            "webhook-id": "msg_1",
            "webhook-timestamp": "1790000000",
            "webhook-signature": "v1,BwbYGLAnM4qt54SHYMW3BjbHohDM+jWgY3TPn2E96MY=",
        }
        body, at = b'{"id":1001,"total_price":"118.00"}', datetime.fromtimestamp(1790000000, UTC)
        assert GATEWAY.prove(known_account, build_inbound(Notification(body, headers), at)).deliveries
        for offset in (timedelta(seconds=301), timedelta(seconds=-301)):
            with pytest.raises(NotProved):
                GATEWAY.prove(known_account, build_inbound(Notification(body, headers), at + offset))
        with pytest.raises(NotProved):
            GATEWAY.prove(known_account, build_inbound(Notification(body, {**headers, "webhook-id": "msg_2"}), at))

    def test_signature_without_the_hook_token_is_rejected(self, stage):
        notification = sign(json.dumps(_HOOK).encode())
        for word in ("", "another"):
            with pytest.raises(NotProved):
                GATEWAY.prove(
                    build_account(stage),
                    build_inbound(Notification(notification.body, {**notification.headers, "X-Hook-Token": word})),
                )

    def test_unsigned_legacy_callback_needs_only_the_hook_token(self, stage):
        body = json.dumps(_HOOK).encode()
        (delivery,) = GATEWAY.prove(
            build_account(stage), build_inbound(Notification(body, {"X-Hook-Token": WORD}))
        ).deliveries
        assert delivery.key == _HOOK["hash"]
        account_without_token = GatewayAccount("live", stage.credentials)
        with pytest.raises(NotProved):
            GATEWAY.prove(account_without_token, build_inbound(Notification(body, {"X-Hook-Token": WORD})))

    def test_hook_token_does_not_replace_an_invalid_signature(self, stage):
        headers = {"X-Hook-Token": WORD, "webhook-signature": "v1,x"}
        with pytest.raises(NotProved):
            GATEWAY.prove(build_account(stage), build_inbound(Notification(b"{}", headers)))


def test_paid_order_is_a_payment(stage):
    (payment,) = _read_order(stage)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("250", 11_800, "USD")
    assert payment.net_cents == 9_000
    assert payment.paid_at == stage.now.replace(microsecond=0)  # it became paid with the callback
    (shipped,) = read_facts(stage, stage.notify_status_change(250, before=11))
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
def test_coupon_id_is_certain_only_if_the_promotion_has_the_code(stage, coupon, id, is_certain):
    for promotion, code in ((40, "Anna10"), (41, "BEN10")):
        stage.codes.promotions[promotion] = {"id": promotion}
        stage.codes.rows.append({"id": stage.number(), "code": code, "promotion": promotion})
    stage.objects["/v2/orders/250/coupons"] = [{"id": 3, "code": "ANNA10", **coupon}]

    (payment,) = _read_order(stage)

    assert payment.origin.codes == (RedeemedCode("ANNA10", "bigcommerce_coupon_code", id, is_certain),)


@pytest.mark.parametrize("status", [2, 3, 8, 9, 10, 11])
def test_paid_status_is_a_payment(stage, status):
    assert [type(fact) for fact in _read_order(stage, status_id=status)] == [PaymentFact]


@pytest.mark.parametrize("status", [0, 1, 7, 12, None])
def test_unpaid_order_is_ignored(stage, status):
    assert _read_order(stage, status_id=status) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize("other", [{"status_id": 5}, {"status_id": 6}, {"is_deleted": True}])
def test_cancelled_declined_or_deleted_order_is_reported_as_cancelled(stage, other):
    at = datetime(2026, 11, 20, 15, 0, 5, tzinfo=UTC)
    assert _read_order(stage, **other) == [CancelledFact(sale_ids=("250",), told_at=at)]


def test_updated_order_reports_its_total_with_one_request(stage):
    stage.objects["/v2/orders/250"] |= {"total_inc_tax": "60.0000", "total_tax": "0.0000"}
    (total,) = read_facts(stage, stage.notify("store/order/updated", {"type": "order", "id": 250}))
    assert isinstance(total, TotalFact)
    assert (total.sale_ids, total.amount_cents, total.total_cents) == (("250",), 6_000, 6_000)
    assert len(stage.calls) == 1


def test_status_is_read_from_the_order_not_the_callback(stage):
    stage.objects["/v2/orders/250"]["status_id"] = 1
    assert _read_order(stage) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize("status", [4, 14])
def test_refunded_order_is_reported_with_its_refunds(stage, status):
    stage.objects["/v3/orders/250/payment_actions/refunds"] = {"data": [_REFUND]}
    payment, refund = _read_order(stage, status_id=status)
    assert (payment.amount_cents, refund.amount_cents) == (11_800, 4_720)


def test_cart_and_comment_carry_a_referral(stage):
    stage.objects["/v3/orders/250/metafields"] = {"data": []}
    stage.objects[f"/v3/carts/{_ORDER['cart_id']}/metafields"] = {"data": [{"key": "via", "value": "ben"}]}
    (payment,) = _read_order(stage, customer_message="Please ring twice. via=cy")
    assert payment.origin.carriers == (
        Carrier("bigcommerce_metadata", {"via": "ben"}),
        Carrier("bigcommerce_custom_field", {"via": "cy"}),
    )


def test_forbidden_details_are_left_out(stage):
    stage.forbidden = {"metafields", "transactions", "coupons"}
    (payment,) = _read_order(stage)
    assert (payment.amount_cents, payment.origin.carriers, payment.origin.codes) == (11_800, (), ())


def test_test_transaction_marks_the_payment_as_test(stage):
    stage.objects["/v3/orders/250/transactions"] = {"data": [{"test": False}, {"test": True}]}
    assert _read_order(stage)[0].origin.is_test is True


class TestRefunds:
    def test_refund_is_reported(self, stage):
        (refund,) = _read_refund(stage, reason="broken")
        assert refund == RefundFact(
            refund_id="refund:3",
            sale_ids=("250",),
            amount_cents=4_720,
            currency="USD",
            refunded_at=datetime(2026, 11, 22, 9, tzinfo=UTC),
            reason="broken",
        )

    def test_declined_refund_payments_are_not_counted(self, stage):
        parts = [{"amount": 40, "is_declined": True}, {"amount": 7.2, "is_declined": False}]
        assert _read_refund(stage, payments=parts)[0].amount_cents == 720
        assert _read_refund(stage, payments=parts[:1]) == [IgnoredFact("no_money_moved")]

    def test_missing_refund_is_unreadable(self, stage):
        del stage.objects["/v3/orders/payment_actions/refunds/3"]
        data = {"id": 250, "refund": {"refund_id": 3}}
        with pytest.raises(UnreadableEvent, match="refund 3"):
            read_facts(stage, stage.notify("store/order/refund/created", data))


def test_dispute_opens_and_is_won_with_the_order_status(stage):
    payment, dispute = _read_order(stage, status_id=13)
    assert isinstance(payment, PaymentFact)
    assert isinstance(dispute, DisputeFact)
    assert (dispute.state, dispute.sale_ids) == (DisputeState.Opened, ("250",))
    stage.objects["/v2/orders/250"]["status_id"] = 11
    _, won_dispute = read_facts(stage, stage.notify_status_change(250, before=13))
    assert (won_dispute.state, won_dispute.dispute_id) == (DisputeState.Won, dispute.dispute_id)


def test_uninstalled_app_is_disconnected(stage):
    event = stage.notify("store/app/uninstalled", {"type": "app", "id": None})
    assert isinstance(read_facts(stage, event)[0], DisconnectedFact)


@pytest.mark.parametrize("amount", ["-1.0000", "1e30", "", None, [], True])
def test_malformed_amount_is_unreadable(stage, amount):
    with pytest.raises(UnreadableEvent):
        _read_order(stage, total_inc_tax=amount)
    if amount is not None:
        with pytest.raises(UnreadableEvent):
            _read_refund(stage, payments=[{"amount": amount}])


def test_unreadable_refund_is_unclear_while_the_order_counts(stage):
    refunds = [{"id": 3, "order_id": 250, "created": "2026-11-22T09:00:00+00:00", "total_amount": "a lot"}]
    refunds += [{**refunds[0], "id": 4, "total_amount": 33.3333}]
    stage.objects["/v3/orders/250/payment_actions/refunds"] = {"data": refunds}
    payment, unclear, refund = _read_order(stage, status_id=14)
    assert (payment.amount_cents, unclear) == (11_800, UnclearFact("refund_amount_unknown"))
    assert (refund.refund_id, refund.amount_cents) == ("refund:4", 3_333)


@pytest.mark.parametrize("order_id", ["7" * 500, "../store", "1/coupons", None, {}, "x"])
def test_malformed_order_id_is_unreadable_without_a_request(stage, order_id):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, stage.notify("store/order/statusUpdated", {"type": "order", "id": order_id}))
    assert stage.calls == []


def test_unreachable_store_raises_gateway_unreachable(stage):
    stage.faults.append("busy")
    with pytest.raises(GatewayUnreachable):
        _read_order(stage)


@pytest.mark.parametrize("store_hash", ["", "abc/../v2", "abc 123", "stores/abc"])
def test_malformed_store_hash_is_rejected(stage, store_hash):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(build_account(stage, storeHash=store_hash))


class TestWebhooks:
    ADDRESS = "https://finderfee.example/api/gateways/bigcommerce/token"

    @pytest.mark.parametrize(("has_uninstalled", "count"), [(True, 6), (False, 5)])
    def test_webhooks_share_one_token_and_are_removed(self, stage, has_uninstalled, count):
        stage.hooks.clear()
        stage.has_uninstalled = has_uninstalled
        subscribed = GATEWAY.subscribe(build_account(stage), self.ADDRESS)
        assert len(stage.hooks) == count
        words = {hook["headers"]["X-Hook-Token"] for hook in stage.hooks.values()}
        assert words == {subscribed.made["hookToken"]}
        GATEWAY.unsubscribe(GatewayAccount("live", stage.credentials, subscribed.made))
        assert stage.hooks == {}

    def test_failed_subscription_leaves_no_webhook(self, stage):
        stage.hooks.clear()
        stage.faults.extend(["", "fail"])
        with pytest.raises(GatewayUnreachable):
            GATEWAY.subscribe(build_account(stage), self.ADDRESS)
        assert stage.hooks == {}

    def test_listing_reactivates_disabled_webhooks(self, stage):
        stage.hooks["21"]["is_active"] = False
        stage.hooks.pop("22")
        list_facts(stage, stage.now)
        assert {number: hook["is_active"] for number, hook in stage.hooks.items()} == {"21": True, "23": True}


def test_all_pages_of_changed_orders_are_read(stage, monkeypatch):
    stage.objects.clear()
    monkeypatch.setattr("adapters.gateways.storefront.bigcommerce._PAGE", 2)
    sales = [stage.pay(Purchase(customer=str(number))) for number in range(4)]
    stage.objects[f"/v2/orders/{sales[0].id}"]["date_created"] = "Wed, 01 Jan 2020 00:00:00 +0000"
    stage.objects[f"/v2/orders/{sales[1].id}"]["status_id"] = 1
    stage.refund(sales[0], 100)
    listed_facts = list_facts(stage, stage.now - timedelta(hours=1))
    (refund,) = [key for key in listed_facts if key.startswith("reconcile:refund:")]
    assert [type(fact) for fact in listed_facts.pop(refund)] == [RefundFact]
    # Includes the old order, because the list does not say when it was paid.
    assert list(listed_facts) == [f"reconcile:{sale.id}" for sale in (sales[0], *sales[2:])]
