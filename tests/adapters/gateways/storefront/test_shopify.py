"""Shopify: samples of its events, and pitfalls."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import (
    CredentialsRefused,
    GatewayAccount,
    GatewayRejected,
    GatewayUnreachable,
    NotProved,
)
from adapters.gateways.storefront.shopify import GATEWAY
from domain.gateways.facts import (
    Carrier,
    DisconnectedFact,
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
from tests.support.gateways.storefront.shopify import SECRET, SHOP, TOKEN, sign

_SALE = (
    b'{"id":5678901234567,"name":"#1001","created_at":"2026-11-20T10:00:00-05:00",'
    b'"processed_at":"2026-11-20T10:00:00-05:00","test":false,"source_name":"web","financial_status":"paid",'
    b'"currency":"USD","presentment_currency":"USD","taxes_included":false,"total_price":"118.00",'
    b'"subtotal_price":"90.00","total_tax":"18.00","total_discounts":"10.00",'
    b'"total_shipping_price_set":{"shop_money":{"amount":"10.00","currency_code":"USD"}},'
    b'"email":"buyer@example.com","customer":{"id":7001,"email":"buyer@example.com","first_name":"Ada",'
    b'"last_name":"Buyer"},"note_attributes":[{"name":"via","value":"anna"}],'
    b'"landing_site":"/products/mug?via=anna","referring_site":"https://blog.example.com/",'
    b'"discount_codes":[{"code":"ANNA10","amount":"10.00","type":"percentage"}],'
    b'"line_items":[{"id":1,"product_id":11,"quantity":1,"price":"100.00","properties":[]}]}'
)
_REFUND = {
    "id": 880001,
    "order_id": 5678901234567,
    "created_at": "2026-11-22T09:00:00-05:00",
    "processed_at": "2026-11-22T09:00:00-05:00",
    "refund_line_items": [],
    "order_adjustments": [{"id": 1, "amount": "-47.20", "tax_amount": "0.00", "kind": "refund_discrepancy"}],
    "transactions": [
        {"id": 990001, "kind": "refund", "status": "success", "amount": "47.20", "currency": "USD", "test": False}
    ],
}
_DISPUTE = {
    "id": 285332,
    "order_id": 5678901234567,
    "type": "chargeback",
    "amount": "118.00",
    "currency": "USD",
    "status": "needs_response",
    "initiated_at": "2026-11-25T19:00:00-05:00",
}


def _order(**other):
    return sign("orders/paid", json.dumps({**json.loads(_SALE), **other}).encode())


def test_known_signature_is_valid():
    known_account = GatewayAccount("live", {"shopDomain": SHOP, "clientSecret": "test_client_secret"})
    headers = {"X-Shopify-Hmac-Sha256": "pB3otUjELt/vzBLfydXeoJe+AImABXUKKwVef69haak=", "X-Shopify-Topic": "x"}
    assert GATEWAY.prove(
        known_account, build_inbound(Notification(b'{"id":1001,"total_price":"118.00"}', headers))
    ).deliveries
    with pytest.raises(NotProved):
        GATEWAY.prove(known_account, build_inbound(Notification(b'{"id":1001,"total_price":"119.00"}', headers)))


def test_webhook_of_another_shop_is_rejected(stage):
    with pytest.raises(NotProved):
        GATEWAY.prove(build_account(stage), build_inbound(sign("orders/paid", _SALE, shop="hats.myshopify.com")))


def test_both_secrets_are_valid_during_a_rotation(stage):
    rotated = GatewayAccount("live", {**stage.credentials, "clientSecret": "new"}, {}, (stage.credentials,))
    for secret in ("new", SECRET):
        assert GATEWAY.prove(rotated, build_inbound(sign("orders/paid", _SALE, secret=secret))).deliveries


def test_paid_order_is_a_payment(stage):
    (payment,) = read_facts(stage, sign("orders/paid", _SALE))
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == ("5678901234567", 11_800, 9_000)
    assert payment.paid_at == datetime(2026, 11, 20, 15, tzinfo=UTC)
    origin = payment.origin
    assert (origin.customer_id, origin.email, origin.name) == ("7001", "buyer@example.com", "Ada Buyer")
    assert origin.carriers == (
        Carrier("shopify_web_pixel", {"via": "anna"}),
        Carrier("shopify_landing_page", {"via": "anna"}),
    )
    assert origin.codes == (RedeemedCode("ANNA10", "shopify_coupon_code"),)


def test_renewal_requests_no_journey(stage):
    renewal = _order(
        id=5678901234999,
        source_name="subscription_contract_checkout_one",
        total_price="29.00",
        total_tax="0.00",
        total_shipping_price_set=None,
        note_attributes=[],
        landing_site=None,
        customer={"id": 7001},
    )
    (payment,) = read_facts(stage, renewal)
    assert (payment.amount_cents, payment.origin.customer_id, payment.origin.carriers) == (2_900, "7001", ())
    assert stage.calls == []


def test_large_ids_stay_exact(stage):
    (payment,) = read_facts(stage, _order(id=9_223_372_036_854_775_807))
    assert payment.external_id == "9223372036854775807"


def test_hidden_cart_attributes_and_item_properties_are_read(stage):
    lines = [{"properties": [{"name": "_via", "value": "ben"}]}]
    (payment,) = read_facts(stage, _order(note_attributes=[], landing_site=None, line_items=lines))
    assert payment.origin.carriers == (Carrier("shopify_web_pixel", {"via": "ben"}),)


def test_shipping_with_included_tax_is_subtracted_once(stage):
    lines = [{"tax_lines": [{"price": "1.60"}]}]
    (payment,) = read_facts(stage, _order(taxes_included=True, total_price="100.00", shipping_lines=lines))
    assert payment.net_cents == 10_000 - 1_800 - (1_000 - 160)


def test_unpaid_order_is_ignored(stage):
    assert read_facts(stage, _order(financial_status="pending")) == [IgnoredFact("not_paid")]


def test_guest_has_no_customer_id(stage):
    (payment,) = read_facts(stage, _order(customer=None, email=None, contact_email="guest@example.com"))
    assert (payment.origin.customer_id, payment.origin.email) == (None, "guest@example.com")


@pytest.mark.parametrize("amount", ["-1.00", "1e30", "NaN", None, True, "9" * 40])
def test_malformed_amount_is_unreadable(stage, amount):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _order(total_price=amount))


def test_oversized_id_is_unreadable(stage):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _order(id="7" * 500))


class TestCustomerJourney:
    def _read_payment(self, stage, journey):
        sale = stage.pay(Purchase(slug=None))
        stage.journeys[sale.id] = journey
        return read_facts(stage, *sale.notifications)

    def test_last_visit_precedes_the_first(self, stage):
        visits = {
            "lastVisit": {"landingPage": "https://mugs.example.com/?via=last&utm_source=x"},
            "firstVisit": {"landingPage": "https://mugs.example.com/?via=first"},
        }
        (payment,) = self._read_payment(stage, {"ready": True, **visits})
        assert [carrier.fields["via"] for carrier in payment.origin.carriers] == ["last", "first"]
        assert {carrier.method for carrier in payment.origin.carriers} == {"shopify_customer_journey"}

    def test_unready_journey_is_awaited_for_a_limited_time(self, stage):
        with pytest.raises(GatewayUnreachable):
            self._read_payment(stage, {"ready": False})
        stage.now -= timedelta(minutes=20)
        (payment,) = self._read_payment(stage, {"ready": False})
        assert payment.origin.carriers == ()


class TestRefunds:
    def _pay_and_refund(self, stage):
        sale = stage.pay(Purchase(cents=11_800))
        return sale, {**_REFUND, "order_id": int(sale.id)}

    def test_refunded_total_of_the_order_is_cumulative(self, stage):
        sale, refund_event = self._pay_and_refund(stage)
        stage.refunded[sale.id] = 4_720
        (refund,) = read_facts(stage, stage.notify("refunds/create", refund_event))
        assert (refund.amount_cents, refund.is_cumulative, refund.sale_ids) == (4_720, True, (sale.id,))

    def test_refund_without_money_is_ignored(self, stage):
        _, refund_event = self._pay_and_refund(stage)
        assert read_facts(stage, stage.notify("refunds/create", refund_event)) == [IgnoredFact("no_money_moved")]

    def test_refund_is_in_the_shops_currency(self, stage):
        sale, refund_event = self._pay_and_refund(stage)
        stage.refunded[sale.id] = 3_500
        refund_event["transactions"] = [{"kind": "refund", "status": "success", "amount": "47.20", "currency": "CAD"}]
        (refund,) = read_facts(stage, stage.notify("refunds/create", refund_event))
        assert (refund.amount_cents, refund.currency) == (3_500, "USD")

    def test_refund_of_an_unreadable_order_uses_its_own_transactions(self, stage):
        (refund,) = read_facts(stage, stage.notify("refunds/create", _REFUND))
        assert refund == RefundFact(
            refund_id="880001",
            sale_ids=("5678901234567",),
            amount_cents=4_720,
            currency="USD",
            refunded_at=datetime(2026, 11, 22, 14, tzinfo=UTC),
        )

    @pytest.mark.parametrize("other", [{"status": "pending"}, {"currency": "CAD"}, {"kind": "void"}])
    def test_ambiguous_refund_amount_is_unreadable(self, stage, other):
        refund_event = {**_REFUND, "transactions": [{**_REFUND["transactions"][0], **other}]}
        with pytest.raises(UnreadableEvent, match="read_all_orders"):
            read_facts(stage, stage.notify("refunds/create", refund_event))


def test_dispute_state_follows_its_status(stage):
    states = {"needs_response": DisputeState.Opened, "accepted": DisputeState.Lost, "charge_refunded": DisputeState.Won}
    for status, state in states.items():
        (dispute,) = read_facts(stage, stage.notify("disputes/update", {**_DISPUTE, "status": status}))
        assert isinstance(dispute, DisputeFact)
        assert (dispute.dispute_id, dispute.sale_ids, dispute.state) == ("285332", ("5678901234567",), state)


@pytest.mark.parametrize("other", [{"type": "inquiry", "status": "lost"}, {"status": "x"}, {"order_id": None}])
def test_inquiry_or_malformed_dispute_is_ignored(stage, other):
    assert read_facts(stage, stage.notify("disputes/create", {**_DISPUTE, **other})) == [IgnoredFact("no_money_moved")]


def test_uninstalled_app_is_disconnected(stage):
    refund_event = {"id": 548380009, "name": "Mug Shop", "domain": "mugs.example.com", "myshopify_domain": SHOP}
    assert isinstance(read_facts(stage, stage.notify("app/uninstalled", refund_event))[0], DisconnectedFact)


class TestCredentials:
    def test_token_is_requested_once(self, stage):
        GATEWAY.check(build_account(stage))
        for _ in range(3):
            read_facts(stage, stage.notify("refunds/create", {**_REFUND}))
        assert stage.tokens_given == 1

    def test_rejected_token_is_replaced(self, stage):
        GATEWAY.check(build_account(stage))
        stage.token = "shpca_another"
        assert read_facts(stage, stage.notify("refunds/create", _REFUND))
        assert stage.tokens_given == 2

    def test_pasted_token_is_used_unchanged(self, stage):
        GATEWAY.check(build_account(stage, accessToken=TOKEN))
        assert stage.tokens_given == 0

    def test_missing_scope_is_reported(self, stage):
        stage.scopes = ["read_products"]
        with pytest.raises(CredentialsRefused, match="read_orders"):
            GATEWAY.check(build_account(stage))

    @pytest.mark.parametrize(
        "shop_domain", ["mugs.example.com", "10.0.0.1", "localhost", "x.myshopify.com.evil.example", ""]
    )
    def test_host_outside_myshopify_is_never_called(self, stage, shop_domain):
        with pytest.raises(CredentialsRefused):
            GATEWAY.check(build_account(stage, shopDomain=shop_domain))
        assert stage.calls == []

    def test_shop_domain_is_normalized(self, stage):
        assert GATEWAY.check(build_account(stage, shopDomain=f" https://{SHOP.upper()}/admin ")).account == SHOP


class TestWebhooks:
    ADDRESS = "https://finderfee.example/api/gateways/shopify/token"

    def test_webhooks_are_created_once_and_removed(self, stage):
        first = GATEWAY.subscribe(build_account(stage), self.ADDRESS)
        again = GATEWAY.subscribe(build_account(stage), self.ADDRESS)
        assert len(stage.hooks) == 7
        assert sorted(first.made["webhooks"].split()) == sorted(again.made["webhooks"].split())
        GATEWAY.unsubscribe(GatewayAccount("live", stage.credentials, first.made))
        assert stage.hooks == {}

    def test_missing_dispute_scope_is_reported_as_a_setup_step(self, stage):
        stage.scopes = ["read_orders"]
        subscribed = GATEWAY.subscribe(build_account(stage), self.ADDRESS)
        assert len(stage.hooks) == 5
        assert "read_shopify_payments_disputes" in subscribed.setup.steps[0]

    def test_failed_subscription_leaves_no_webhook(self, stage, monkeypatch):
        create_hook = stage._reply_to_hook
        refusal = {"webhookSubscription": None, "userErrors": [{"message": "not approved to subscribe"}]}

        def refuse(variables):
            is_refused = variables["topic"] == "REFUNDS_CREATE"
            return {"webhookSubscriptionCreate": refusal} if is_refused else create_hook(variables)

        monkeypatch.setattr(stage, "_reply_to_hook", refuse)
        with pytest.raises(GatewayRejected, match="not approved"):
            GATEWAY.subscribe(build_account(stage), self.ADDRESS)
        assert stage.hooks == {}


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ({"message": "Throttled", "extensions": {"code": "THROTTLED"}}, GatewayUnreachable),
        ({"message": "Access denied", "extensions": {"code": "ACCESS_DENIED"}}, GatewayRejected),
    ],
)
def test_error_with_status_200_raises(stage, monkeypatch, error, raised):
    answer = stage.answer
    monkeypatch.setattr(
        stage, "answer", lambda request: (200, {"errors": [error]}) if "graphql" in request.path else answer(request)
    )
    with pytest.raises(raised):
        GATEWAY.check(build_account(stage))


def test_all_pages_of_changed_orders_are_read(stage):
    sales = [stage.pay(Purchase(customer=str(number))) for number in range(5)]
    old_order = stage.orders[sales[0].id]
    old_order["processed_at"] = "2020-01-01T00:00:00Z"
    stage.refund(sales[0], 100)
    keys = list(list_facts(stage, stage.now - timedelta(hours=1)))
    # Includes the old order, because the list does not say when it was paid.
    assert sorted(keys) == sorted([f"reconcile:{sales[0].id}:1.00", *(f"reconcile:{sale.id}" for sale in sales)])
