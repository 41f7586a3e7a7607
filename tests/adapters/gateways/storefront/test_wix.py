"""Wix: samples of its events, and pitfalls."""

import base64
import hashlib
import hmac
import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from joserfc import jws
from joserfc.jwk import RSAKey

from adapters.gateways.base import CredentialsRefused, GatewayAccount, NotProved
from adapters.gateways.storefront.wix import GATEWAY
from domain.gateways.facts import (
    CancelledFact,
    Carrier,
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    UnreadableEvent,
)
from tests.support.gateways.deliveries import build_account, build_inbound, list_facts, read_facts
from tests.support.gateways.stage import Notification, Purchase
from tests.support.gateways.storefront.wix import INSTANCE, KEY, PAID, REFUND, SITE, sign

_ID = "0d000000-0000-4000-8000-000000000001"
_ORDER = {
    "id": _ID,
    "number": "10025",
    "createdDate": "2026-11-20T15:00:00.000Z",
    "purchasedDate": "2026-11-20T15:00:00.000Z",
    "status": "APPROVED",
    "paymentStatus": "PAID",
    "currency": "USD",
    "taxIncludedInPrices": False,
    "priceSummary": {
        "subtotal": {"amount": "100.00"},
        "shipping": {"amount": "10.00"},
        "tax": {"amount": "18.00"},
        "discount": {"amount": "10.00"},
        "total": {"amount": "118.00"},
    },
    "balanceSummary": {"paid": {"amount": "118.00"}, "refunded": {"amount": "0.00"}},
    "buyerInfo": {"visitorId": "aaaa", "contactId": "cccc", "email": "buyer@example.com"},
    "billingInfo": {"contactDetails": {"firstName": "Ada", "lastName": "Buyer"}},
    "appliedDiscounts": [{"discountType": "GLOBAL", "coupon": {"id": "b000", "code": "ANNA10"}}],
    "customFields": [{"title": "via", "value": "anna"}],
    "lineItems": [{"id": "1", "quantity": 1, "subscriptionInfo": None}],
    "channelInfo": {"type": "WEB"},
    "imported": False,
}
_REFUND = {
    "id": "4e000000-0000-4000-8000-000000000001",
    "createdDate": "2026-11-22T09:00:00.000Z",
    "transactions": [{"paymentId": "7a", "amount": {"amount": "47.20"}, "refundStatus": "SUCCEEDED"}],
    "summary": {"refunded": {"amount": "47.20"}, "pendingRefund": {"amount": "0.00"}, "pending": False},
}


@pytest.fixture
def stage(stage):
    stage.orders[_ID] = dict(_ORDER)
    return stage


def _read_payment_event(stage, **other):
    return read_facts(stage, stage.notify(PAID, {"previousPaymentStatus": "NOT_PAID", "order": {**_ORDER, **other}}))


def _claims(**other):
    event = {"id": "e0", "actionEvent": {"body": {"order": _ORDER}}}
    data = {"eventType": PAID, "instanceId": INSTANCE, "data": json.dumps(event), **other}
    return {"data": json.dumps(data), "iat": int(time.time()), "exp": int(time.time()) + 60}


def _encode_segment(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")


class TestProof:
    def _assert_rejected(self, stage, body):
        with pytest.raises(NotProved):
            GATEWAY.prove(build_account(stage), build_inbound(Notification(body)))

    def test_token_without_an_algorithm_is_rejected(self, stage):
        for header in ({"alg": "none"}, {"alg": "None", "typ": "JWT"}, {}, {"alg": None}, []):
            for signature in (b"", b"AA"):
                self._assert_rejected(
                    stage, b".".join([_encode_segment(header), _encode_segment(_claims()), signature])
                )

    def test_public_key_is_not_accepted_as_a_shared_secret(self, stage):
        for algorithm in ("HS256", "hs256"):
            signed_part = b".".join([_encode_segment({"alg": algorithm}), _encode_segment(_claims())])
            digest = hmac.new(stage.credentials["publicKey"].encode(), signed_part, hashlib.sha256).digest()
            self._assert_rejected(stage, signed_part + b"." + base64.urlsafe_b64encode(digest).rstrip(b"="))

    def test_token_of_another_key_or_algorithm_is_rejected(self, stage):
        self._assert_rejected(stage, sign(_claims(), key=RSAKey.generate_key(2048)).body)
        payload = json.dumps(_claims()).encode()
        for algorithm in ("RS512", "PS256"):
            token = jws.serialize_compact({"alg": algorithm}, payload, KEY, algorithms=[algorithm])
            self._assert_rejected(stage, token.encode())

    def test_token_without_a_valid_expiry_is_rejected(self, stage):
        claims = _claims()
        for expires_at in (None, "later", 1.5):
            payload = json.dumps({**claims, "exp": expires_at}).encode()
            self._assert_rejected(stage, jws.serialize_compact({"alg": "RS256"}, payload, KEY).encode())

    def test_token_of_another_site_is_rejected(self, stage):
        self._assert_rejected(stage, sign(_claims(instanceId="22222222-2222-4333-8444-555555555555")).body)

    def test_large_order_is_verified_without_a_request(self, stage):
        lines = [{"id": str(number), "name": "x" * 200} for number in range(2_000)]
        notification = stage.notify(PAID, {"order": {**_ORDER, "lineItems": lines}})
        assert len(notification.body) > 500_000
        (delivery,) = GATEWAY.prove(build_account(stage), build_inbound(notification)).deliveries
        assert stage.calls == []
        assert isinstance(GATEWAY.facts(build_account(stage), delivery)[0], PaymentFact)

    def test_stored_event_does_not_contain_the_token(self, stage):
        notification = stage.notify(PAID, {"order": _ORDER})
        (delivery,) = GATEWAY.prove(build_account(stage), build_inbound(notification)).deliveries
        assert delivery.type == PAID
        assert json.loads(delivery.raw)["data"]["id"] == delivery.id == delivery.key
        assert notification.body not in delivery.raw

    def test_public_key_pasted_on_one_line_is_read(self, stage):
        one_line_account = build_account(stage, publicKey=stage.credentials["publicKey"].replace("\n", "\\n"))
        assert GATEWAY.prove(one_line_account, build_inbound(stage.notify(PAID, {"order": _ORDER}))).deliveries


def test_paid_order_is_a_payment(stage):
    (payment,) = _read_payment_event(stage)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == (_ID, 11_800, 9_000)
    assert abs(payment.paid_at - stage.now) < timedelta(milliseconds=1)  # it became paid with the event
    origin = payment.origin
    assert (origin.customer_id, origin.email, origin.name) == ("cccc", "buyer@example.com", "Ada Buyer")
    assert origin.carriers == (Carrier("wix_custom_field", {"via": "anna"}),)
    assert origin.codes == (RedeemedCode("ANNA10", "wix_coupon_code", "b000"),)
    assert origin.subscription_id is None


def test_renewal_is_another_order_of_a_subscription(stage):
    cycle = {"id": "5b000000-0000-4000-8000-000000000001", "cycleNumber": 2}
    (payment,) = _read_payment_event(stage, id="0d-2", lineItems=[{"id": "1", "subscriptionInfo": cycle}])
    assert (payment.external_id, payment.origin.subscription_id) == ("0d-2", cycle["id"])


def test_alternative_field_names_and_text_bodies_are_read(stage):
    order = {**_ORDER, "_id": "0d-3", "_createdDate": _ORDER["createdDate"]}
    for name in ("id", "createdDate", "purchasedDate"):
        order.pop(name)
    event = {"id": "e1", "actionEvent": {"bodyAsJson": json.dumps({"order": order})}}
    (payment,) = read_facts(stage, sign(_claims(data=json.dumps(event))))
    assert (payment.external_id, payment.amount_cents) == ("0d-3", 11_800)


def test_extended_fields_come_after_custom_fields(stage):
    (payment,) = _read_payment_event(
        stage, extendedFields={"namespaces": {"@us/app": {"affiliate_slug": "ben"}, "x": 1}}
    )
    assert payment.origin.carriers[1:] == (Carrier("wix_metadata", {"affiliate_slug": "ben"}),)


@pytest.mark.parametrize("status", ["NOT_PAID", "PENDING", "PARTIALLY_PAID", None])
def test_unpaid_order_is_ignored(stage, status):
    assert _read_payment_event(stage, paymentStatus=status) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize(
    "other",
    [{"paymentStatus": "CANCELED"}, {"paymentStatus": "DECLINED"}, {"status": "CANCELED"}, {"status": "REJECTED"}],
)
def test_cancelled_or_declined_order_is_reported_as_cancelled(stage, other):
    (cancelled,) = _read_payment_event(stage, updatedDate="2026-11-22T09:00:00.000Z", **other)
    assert isinstance(cancelled, CancelledFact)
    assert cancelled.told_at == datetime(2026, 11, 22, 9, tzinfo=UTC)


def test_imported_and_anonymized_orders_are_ignored(stage):
    assert _read_payment_event(stage, imported=True) == [IgnoredFact("imported")]
    event = stage.notify(PAID, {"order": _ORDER}, triggeredByAnonymizeRequest=True)
    assert read_facts(stage, event) == [IgnoredFact("anonymized")]


def test_amount_without_decimals_is_read(stage):
    totals = {"total": {"amount": "118"}, "tax": {"amount": "0"}, "shipping": {"amount": "0"}}
    (payment,) = _read_payment_event(stage, priceSummary=totals)
    assert (payment.amount_cents, payment.net_cents) == (11_800, 11_800)


@pytest.mark.parametrize("amount", ["-1.00", "1e30", "", None, [], True, "9" * 40])
def test_malformed_amount_is_unreadable(stage, amount):
    with pytest.raises(UnreadableEvent):
        _read_payment_event(stage, priceSummary={"total": {"amount": amount}})


def test_oversized_id_is_unreadable(stage):
    with pytest.raises(UnreadableEvent):
        _read_payment_event(stage, id="7" * 500)


class TestRefunds:
    def _read_refund(self, stage, **other):
        return read_facts(stage, stage.notify(REFUND, {"orderId": _ID, "refund": {**_REFUND, **other}}))

    def test_refund_is_cumulative(self, stage):
        (refund,) = self._read_refund(stage)
        assert refund == RefundFact(
            refund_id=_REFUND["id"],
            sale_ids=(_ID,),
            amount_cents=4_720,
            currency="USD",
            refunded_at=datetime(2026, 11, 22, 9, tzinfo=UTC),
            is_cumulative=True,
        )

    def test_only_succeeded_refunds_count(self, stage):
        parts = [
            {"amount": {"amount": "40.00"}, "refundStatus": "PENDING"},
            {"amount": {"amount": "7.20"}, "refundStatus": "SUCCEEDED"},
        ]
        assert self._read_refund(stage, transactions=parts)[0].amount_cents == 720
        zero_summary = {"refunded": {"amount": "0"}}
        assert self._read_refund(stage, transactions=parts[:1], summary=zero_summary) == [IgnoredFact("no_money_moved")]

    @pytest.mark.parametrize("order_id", ["unknown", "../search", "7" * 300, None])
    def test_refund_of_an_unknown_order_is_unreadable(self, stage, order_id):
        with pytest.raises(UnreadableEvent):
            read_facts(stage, stage.notify(REFUND, {"orderId": order_id, "refund": _REFUND}))


def test_approved_chargeback_is_a_lost_dispute(stage):
    chargeback = {"id": "c4", "amount": {"amount": "118.00"}, "status": "APPROVED"}
    kind = "wix.ecom.v1.order_transactions_chargeback_approved"
    (dispute,) = read_facts(stage, stage.notify(kind, {"orderId": _ID, "paymentId": "7a", "chargeback": chargeback}))
    assert isinstance(dispute, DisputeFact)
    assert (dispute.dispute_id, dispute.sale_ids, dispute.state) == ("c4", (_ID,), DisputeState.Lost)


class TestCredentials:
    def test_token_is_requested_once_and_replaced_when_rejected(self, stage):
        assert GATEWAY.check(build_account(stage)).account == SITE
        stage.token = "another"
        for _ in range(3):
            read_facts(stage, stage.notify(REFUND, {"orderId": _ID, "refund": _REFUND}))
        assert stage.tokens_given == 2

    @pytest.mark.parametrize("typed", ["", "a key", KEY.as_pem(private=True).decode()])
    def test_malformed_public_key_is_rejected_without_a_request(self, stage, typed):
        with pytest.raises(CredentialsRefused):
            GATEWAY.check(build_account(stage, publicKey=typed))
        assert stage.calls == []

    def test_webhooks_are_created_manually(self, stage):
        values = dict(GATEWAY.subscribe(build_account(stage), "https://finderfee.example/x").setup.values)
        assert values["webhookUrl"] == "https://finderfee.example/x"
        assert {PAID, REFUND, "AppRemoved"} <= set(values["events"].split(", "))

    def test_both_keys_are_valid_during_a_rotation(self, stage):
        new_key = RSAKey.generate_key(2048)
        new_credentials = {**stage.credentials, "publicKey": new_key.as_pem(private=False).decode()}
        rotated = GatewayAccount("live", new_credentials, {}, (stage.credentials,))
        for key in (new_key, KEY):
            assert GATEWAY.prove(rotated, build_inbound(sign(_claims(), key=key))).deliveries


def test_all_pages_of_changed_orders_are_read(stage):
    stage.orders.clear()
    sales = [stage.pay(Purchase(customer=str(number))) for number in range(5)]
    stage.orders[sales[0].id]["purchasedDate"] = "2020-01-01T00:00:00Z"
    stage.refund(sales[0], 100)
    listed_facts = list_facts(stage, stage.now - timedelta(hours=1))
    # Includes the old order, because the list does not say when it was paid.
    orders = [f"reconcile:{sale.id}" for sale in sales]
    (refund,) = set(listed_facts) - set(orders)
    assert [type(fact) for fact in listed_facts[refund]] == [RefundFact]
    assert [key for key in listed_facts if key != refund] == orders


def test_unreadable_order_does_not_end_the_list(stage):
    stage.orders.clear()
    sales = [stage.pay(Purchase(customer=str(number))) for number in range(3)]
    stage.orders[sales[0].id]["purchasedDate"] = "some day"
    stage.orders[sales[1].id].update(currency="XTS", paymentStatus="FULLY_REFUNDED")
    pages = list(GATEWAY.list_payments(build_account(stage), stage.now - timedelta(hours=1)))
    assert [delivery.key for page in pages for delivery in page] == [f"reconcile:{sale.id}" for sale in sales]
