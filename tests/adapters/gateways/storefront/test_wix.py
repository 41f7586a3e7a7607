"""wix: its samples and its traps."""

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
from tests.support.gateways.deliveries import account, facts, inbound, list_facts
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


def _told(stage, **other):
    return facts(stage, stage.notify(PAID, {"previousPaymentStatus": "NOT_PAID", "order": {**_ORDER, **other}}))


def _claims(**other):
    event = {"id": "e0", "actionEvent": {"body": {"order": _ORDER}}}
    data = {"eventType": PAID, "instanceId": INSTANCE, "data": json.dumps(event), **other}
    return {"data": json.dumps(data), "iat": int(time.time()), "exp": int(time.time()) + 60}


def _segment(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")


class TestProof:
    def _refused(self, stage, body):
        with pytest.raises(NotProved):
            GATEWAY.prove(account(stage), inbound(Notification(body)))

    def test_a_token_of_no_algorithm_is_refused(self, stage):
        for header in ({"alg": "none"}, {"alg": "None", "typ": "JWT"}, {}, {"alg": None}, []):
            for signature in (b"", b"AA"):
                self._refused(stage, b".".join([_segment(header), _segment(_claims()), signature]))

    def test_the_public_key_as_a_shared_secret_proves_nothing(self, stage):
        for algorithm in ("HS256", "hs256"):
            signed_part = b".".join([_segment({"alg": algorithm}), _segment(_claims())])
            digest = hmac.new(stage.credentials["publicKey"].encode(), signed_part, hashlib.sha256).digest()
            self._refused(stage, signed_part + b"." + base64.urlsafe_b64encode(digest).rstrip(b"="))

    def test_another_key_or_another_rsa_algorithm_proves_nothing(self, stage):
        self._refused(stage, sign(_claims(), key=RSAKey.generate_key(2048)).body)
        payload = json.dumps(_claims()).encode()
        for algorithm in ("RS512", "PS256"):
            token = jws.serialize_compact({"alg": algorithm}, payload, KEY, algorithms=[algorithm])
            self._refused(stage, token.encode())

    def test_a_token_without_an_end_is_refused(self, stage):
        claims = _claims()
        for until in (None, "later", 1.5):
            payload = json.dumps({**claims, "exp": until}).encode()
            self._refused(stage, jws.serialize_compact({"alg": "RS256"}, payload, KEY).encode())

    def test_a_site_of_somebody_else_with_the_same_app_is_refused(self, stage):
        self._refused(stage, sign(_claims(instanceId="22222222-2222-4333-8444-555555555555")).body)

    def test_an_order_of_many_lines_is_proved_without_asking_anybody(self, stage):
        lines = [{"id": str(number), "name": "x" * 200} for number in range(2_000)]
        sent = stage.notify(PAID, {"order": {**_ORDER, "lineItems": lines}})
        assert len(sent.body) > 500_000
        (delivery,) = GATEWAY.prove(account(stage), inbound(sent)).deliveries
        assert stage.calls == []
        assert isinstance(GATEWAY.facts(account(stage), delivery)[0], PaymentFact)

    def test_what_is_kept_is_not_the_token(self, stage):
        sent = stage.notify(PAID, {"order": _ORDER})
        (delivery,) = GATEWAY.prove(account(stage), inbound(sent)).deliveries
        assert delivery.type == PAID
        assert json.loads(delivery.raw)["data"]["id"] == delivery.id == delivery.key
        assert sent.body not in delivery.raw

    def test_a_key_whose_lines_were_pasted_in_one_is_read(self, stage):
        pasted = account(stage, publicKey=stage.credentials["publicKey"].replace("\n", "\\n"))
        assert GATEWAY.prove(pasted, inbound(stage.notify(PAID, {"order": _ORDER}))).deliveries


def test_the_sample_of_a_sale(stage):
    (payment,) = _told(stage)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == (_ID, 11_800, 9_000)
    assert abs(payment.paid_at - stage.now) < timedelta(milliseconds=1)  # it was not paid until the event
    origin = payment.origin
    assert (origin.customer_id, origin.email, origin.name) == ("cccc", "buyer@example.com", "Ada Buyer")
    assert origin.carriers == (Carrier("wix_custom_field", {"via": "anna"}),)
    assert origin.codes == (RedeemedCode("ANNA10", "wix_coupon_code", "b000"),)
    assert origin.subscription_id is None


def test_the_sample_of_a_renewal_is_another_order_of_a_subscription(stage):
    cycle = {"id": "5b000000-0000-4000-8000-000000000001", "cycleNumber": 2}
    (payment,) = _told(stage, id="0d-2", lineItems=[{"id": "1", "subscriptionInfo": cycle}])
    assert (payment.external_id, payment.origin.subscription_id) == ("0d-2", cycle["id"])


def test_the_spelling_of_the_kit_and_bodies_as_text_are_read(stage):
    order = {**_ORDER, "_id": "0d-3", "_createdDate": _ORDER["createdDate"]}
    for name in ("id", "createdDate", "purchasedDate"):
        order.pop(name)
    event = {"id": "e1", "actionEvent": {"bodyAsJson": json.dumps({"order": order})}}
    (payment,) = facts(stage, sign(_claims(data=json.dumps(event))))
    assert (payment.external_id, payment.amount_cents) == ("0d-3", 11_800)


def test_extended_fields_carry_a_referral_after_custom_ones(stage):
    (payment,) = _told(stage, extendedFields={"namespaces": {"@us/app": {"affiliate_slug": "ben"}, "x": 1}})
    assert payment.origin.carriers[1:] == (Carrier("wix_metadata", {"affiliate_slug": "ben"}),)


@pytest.mark.parametrize("status", ["NOT_PAID", "PENDING", "PARTIALLY_PAID", None])
def test_an_order_that_is_not_paid_is_no_sale(stage, status):
    assert _told(stage, paymentStatus=status) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize(
    "other",
    [{"paymentStatus": "CANCELED"}, {"paymentStatus": "DECLINED"}, {"status": "CANCELED"}, {"status": "REJECTED"}],
)
def test_cancelled_or_declined_order_is_reported_as_cancelled(stage, other):
    (cancelled,) = _told(stage, updatedDate="2026-11-22T09:00:00.000Z", **other)
    assert isinstance(cancelled, CancelledFact)
    assert cancelled.told_at == datetime(2026, 11, 22, 9, tzinfo=UTC)


def test_imported_history_and_anonymized_buyers_are_no_sales(stage):
    assert _told(stage, imported=True) == [IgnoredFact("imported")]
    told = stage.notify(PAID, {"order": _ORDER}, triggeredByAnonymizeRequest=True)
    assert facts(stage, told) == [IgnoredFact("anonymized")]


def test_money_without_decimals_is_money(stage):
    totals = {"total": {"amount": "118"}, "tax": {"amount": "0"}, "shipping": {"amount": "0"}}
    (payment,) = _told(stage, priceSummary=totals)
    assert (payment.amount_cents, payment.net_cents) == (11_800, 11_800)


@pytest.mark.parametrize("amount", ["-1.00", "1e30", "", None, [], True, "9" * 40])
def test_an_amount_that_is_none_is_unreadable(stage, amount):
    with pytest.raises(UnreadableEvent):
        _told(stage, priceSummary={"total": {"amount": amount}})


def test_an_id_of_500_characters_is_unreadable(stage):
    with pytest.raises(UnreadableEvent):
        _told(stage, id="7" * 500)


class TestRefunds:
    def _told(self, stage, **other):
        return facts(stage, stage.notify(REFUND, {"orderId": _ID, "refund": {**_REFUND, **other}}))

    def test_the_sample_of_a_refund(self, stage):
        (refund,) = self._told(stage)
        assert refund == RefundFact(
            refund_id=_REFUND["id"],
            sale_ids=(_ID,),
            amount_cents=4_720,
            currency="USD",
            refunded_at=datetime(2026, 11, 22, 9, tzinfo=UTC),
            is_cumulative=True,
        )

    def test_only_what_succeeded_counts(self, stage):
        parts = [
            {"amount": {"amount": "40.00"}, "refundStatus": "PENDING"},
            {"amount": {"amount": "7.20"}, "refundStatus": "SUCCEEDED"},
        ]
        assert self._told(stage, transactions=parts)[0].amount_cents == 720
        nothing = {"refunded": {"amount": "0"}}
        assert self._told(stage, transactions=parts[:1], summary=nothing) == [IgnoredFact("no_money_moved")]

    @pytest.mark.parametrize("order_id", ["unknown", "../search", "7" * 300, None])
    def test_one_of_an_order_that_is_not_there_is_said(self, stage, order_id):
        with pytest.raises(UnreadableEvent):
            facts(stage, stage.notify(REFUND, {"orderId": order_id, "refund": _REFUND}))


def test_the_sample_of_a_chargeback(stage):
    chargeback = {"id": "c4", "amount": {"amount": "118.00"}, "status": "APPROVED"}
    kind = "wix.ecom.v1.order_transactions_chargeback_approved"
    (dispute,) = facts(stage, stage.notify(kind, {"orderId": _ID, "paymentId": "7a", "chargeback": chargeback}))
    assert isinstance(dispute, DisputeFact)
    assert (dispute.dispute_id, dispute.sale_ids, dispute.state) == ("c4", (_ID,), DisputeState.Lost)


class TestCredentials:
    def test_a_token_is_asked_for_once_and_replaced_when_it_is_not_taken(self, stage):
        assert GATEWAY.check(account(stage)).account == SITE
        stage.token = "another"
        for _ in range(3):
            facts(stage, stage.notify(REFUND, {"orderId": _ID, "refund": _REFUND}))
        assert stage.tokens_given == 2

    @pytest.mark.parametrize("typed", ["", "a key", KEY.as_pem(private=True).decode()])
    def test_what_is_no_public_key_is_refused_before_anybody_is_asked(self, stage, typed):
        with pytest.raises(CredentialsRefused):
            GATEWAY.check(account(stage, publicKey=typed))
        assert stage.calls == []

    def test_the_webhooks_are_made_by_hand(self, stage):
        values = dict(GATEWAY.subscribe(account(stage), "https://finderfee.example/x").setup.values)
        assert values["webhookUrl"] == "https://finderfee.example/x"
        assert {PAID, REFUND, "AppRemoved"} <= set(values["events"].split(", "))

    def test_both_keys_count_while_one_is_replaced(self, stage):
        new = RSAKey.generate_key(2048)
        present = {**stage.credentials, "publicKey": new.as_pem(private=False).decode()}
        rotated = GatewayAccount("live", present, {}, (stage.credentials,))
        for key in (new, KEY):
            assert GATEWAY.prove(rotated, inbound(sign(_claims(), key=key))).deliveries


def test_every_page_of_what_changed_is_read(stage):
    stage.orders.clear()
    sold = [stage.pay(Purchase(customer=str(number))) for number in range(5)]
    stage.orders[sold[0].id]["purchasedDate"] = "2020-01-01T00:00:00Z"
    stage.refund(sold[0], 100)
    told = list_facts(stage, stage.now - timedelta(hours=1))
    # The old one too: when it was paid, the list does not say.
    orders = [f"reconcile:{sale.id}" for sale in sold]
    (refund,) = set(told) - set(orders)
    assert [type(fact) for fact in told[refund]] == [RefundFact]
    assert [key for key in told if key != refund] == orders


def test_one_order_that_cannot_be_read_does_not_end_the_list(stage):
    stage.orders.clear()
    sold = [stage.pay(Purchase(customer=str(number))) for number in range(3)]
    stage.orders[sold[0].id]["purchasedDate"] = "some day"
    stage.orders[sold[1].id].update(currency="XTS", paymentStatus="FULLY_REFUNDED")
    pages = list(GATEWAY.list_payments(account(stage), stage.now - timedelta(hours=1)))
    assert [delivery.key for page in pages for delivery in page] == [f"reconcile:{sale.id}" for sale in sold]
