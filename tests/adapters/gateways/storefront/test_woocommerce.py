"""WooCommerce: samples of its events, and pitfalls."""

import dataclasses
import json
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayUnreachable, NotProved
from adapters.gateways.storefront.woocommerce import GATEWAY
from domain.gateways.facts import (
    CancelledFact,
    Carrier,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    TotalFact,
    UnclearFact,
    UnreadableEvent,
)
from domain.gateways.referrals import list_claims
from tests.support.gateways.deliveries import build_account, build_inbound, list_facts, read_facts
from tests.support.gateways.stage import Notification, Purchase
from tests.support.gateways.storefront.woocommerce import sign
from tests.support.settings_overrides import override_settings

_PAID = {
    "id": 727,
    "number": "727",
    "status": "processing",
    "created_via": "checkout",
    "currency": "USD",
    "date_created_gmt": "2026-11-20T15:00:00",
    "date_modified_gmt": "2026-11-20T15:00:04",
    "date_paid": "2026-11-20T09:00:03",
    "date_paid_gmt": "2026-11-20T15:00:03",
    "discount_total": "10.00",
    "shipping_total": "10.00",
    "cart_tax": "18.00",
    "total": "118.00",
    "total_tax": "18.00",
    "prices_include_tax": False,
    "customer_id": 11,
    "billing": {"first_name": "Ada", "last_name": "Buyer", "email": "buyer@example.com"},
    "payment_method": "stripe",
    "transaction_id": "ch_1",
    "meta_data": [
        {"id": 1, "key": "_affiliate_via", "value": "anna"},
        {
            "id": 2,
            "key": "_wc_order_attribution_session_entry",
            "value": f"https://shop.example.com/?fbclid={'x' * 600}&via=anna",
        },
    ],
    "coupon_lines": [{"id": 5, "code": "anna10", "discount": "10.00", "discount_tax": "0.00"}],
    "refunds": [],
}
_ADDRESS = "https://finderfee.example/api/gateways/woocommerce/token"


def _order(**other):
    return sign(json.dumps({**_PAID, **other}).encode())


def test_known_signature_is_valid():
    known_account = GatewayAccount("live", {}, {"webhookSecret": "test_wc_secret"})
    headers = {"X-WC-Webhook-Signature": "d7VuSwFsq6AxzIpBWtEqL1+mPzyeGPfIDv9i+Dqpzy8="}
    assert GATEWAY.prove(
        known_account, build_inbound(Notification(b'{"id":1001,"total_price":"118.00"}', headers))
    ).deliveries
    with pytest.raises(NotProved):
        GATEWAY.prove(known_account, build_inbound(Notification(b'{"id":1002,"total_price":"118.00"}', headers)))


def test_ping_of_a_saved_webhook_gets_200(stage):
    proved = GATEWAY.prove(build_account(stage), build_inbound(Notification(b"webhook_id=12")))
    assert (proved.status, proved.deliveries) == (200, ())
    with pytest.raises(NotProved):
        GATEWAY.prove(build_account(stage), build_inbound(Notification(b"webhook_id=12&id=727")))


def test_paid_order_is_a_payment(stage):
    (payment,) = read_facts(stage, _order())
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == ("727", 11_800, 9_000)
    assert payment.paid_at == datetime(2026, 11, 20, 15, 0, 3, tzinfo=UTC)
    origin = payment.origin
    assert (origin.customer_id, origin.email, origin.name) == ("11", "buyer@example.com", "Ada Buyer")
    assert [(claim.slug, claim.method) for claim in list_claims(origin.carriers, ["via"])] == [
        ("anna", "woocommerce_metadata"),
        ("anna", "woocommerce_url_param"),
    ]
    assert origin.codes == (RedeemedCode("anna10", "woocommerce_coupon_code"),)


@pytest.mark.parametrize(
    ("meta", "id"),
    [
        ([{"key": "coupon_info", "value": '[33,"anna10",null,10]'}], "33"),
        ([{"key": "coupon_info", "value": [33, "anna10"]}], "33"),
        ([{"key": "coupon_data", "value": {"id": 34, "code": "anna10"}}], "34"),
        ([{"key": "coupon_info", "value": '[0,"anna10"]'}], None),
        ([{"key": "coupon_info", "value": "[]"}], None),
        ([{"key": "coupon_info", "value": "not JSON"}], None),
        ([{"key": "coupon_info", "value": '{"id":33}'}], None),
        ([], None),
    ],
)
def test_coupon_line_has_the_id_of_its_coupon(stage, meta, id):
    (payment,) = read_facts(stage, _order(coupon_lines=[{"id": 5, "code": "anna10", "meta_data": meta}]))
    assert payment.origin.codes == (RedeemedCode("anna10", "woocommerce_coupon_code", id),)


def test_renewal_names_its_subscription(stage):
    meta = [{"id": 9, "key": "_subscription_renewal", "value": "740"}]
    (payment,) = read_facts(stage, _order(id=790, status="completed", total="29.00", total_tax="0.00", meta_data=meta))
    assert (payment.origin.subscription_id, payment.origin.customer_id) == ("740", "11")


def test_zero_order_is_a_zero_payment(stage):
    (payment,) = read_facts(stage, _order(id=741, total="0.00", total_tax=None))
    assert (payment.amount_cents, payment.net_cents) == (0, None)


def test_partial_refund_is_reported_with_its_sale(stage):
    event = _order(refunds=[{"id": 731, "reason": "", "total": "-47.20"}], date_modified_gmt="2026-11-22T09:00:00")
    payment, refund = read_facts(stage, event)
    assert payment.external_id == "727"
    assert refund == RefundFact(
        refund_id="731",
        sale_ids=("727",),
        amount_cents=4_720,
        currency="USD",
        refunded_at=datetime(2026, 11, 22, 9, tzinfo=UTC),
    )


@pytest.mark.parametrize("status", ["cancelled", "failed", "trash"])
def test_cancelled_paid_order_is_reported_with_its_refunds(stage, status):
    cancelled, refund = read_facts(stage, _order(status=status, refunds=[{"id": 731, "total": "-40.00"}]))
    at = datetime(2026, 11, 20, 15, 0, 4, tzinfo=UTC)
    assert cancelled == CancelledFact(sale_ids=("727",), told_at=at)
    assert (refund.refund_id, refund.amount_cents) == ("731", 4_000)


@pytest.mark.parametrize("status", ["cancelled", "failed", "trash"])
def test_unreadable_refund_of_a_cancelled_order_is_unclear_and_the_order_is_cancelled(stage, status):
    refunds = [{"id": 731, "total": "a lot"}, {"id": 732, "total": "-40.00"}]
    cancelled, unclear, refund = read_facts(stage, _order(status=status, refunds=refunds))
    assert isinstance(cancelled, CancelledFact)
    assert unclear == UnclearFact("refund_amount_unknown")
    assert refund.refund_id == "732"


def test_unpaid_cancelled_order_is_ignored(stage):
    assert read_facts(stage, _order(status="cancelled", date_paid_gmt=None)) == [IgnoredFact("not_paid")]


def test_deleted_order_is_cancelled_at_arrival(stage):
    (cancelled,) = read_facts(stage, stage.notify({"id": 727}, topic="order.deleted"))
    assert isinstance(cancelled, CancelledFact)
    assert cancelled.sale_ids == ("727",)
    assert cancelled.told_at > stage.now


def test_restored_order_is_newer_than_its_deletion(stage):
    (payment,) = read_facts(stage, sign(_order().body, topic="order.restored"))
    assert payment.told_at > stage.now


@pytest.mark.parametrize(
    "other", [{"date_paid_gmt": None}, {"status": "on-hold"}, {"status": "pending"}, {"status": "checkout-draft"}]
)
def test_unpaid_order_is_ignored(stage, other):
    assert read_facts(stage, _order(**other)) == [IgnoredFact("not_paid")]


def test_guest_has_no_customer_id(stage):
    (payment,) = read_facts(stage, _order(customer_id=0, meta_data="none", coupon_lines=None))
    assert (payment.origin.customer_id, payment.origin.carriers, payment.origin.codes) == (None, (), ())


@pytest.mark.parametrize("amount", ["-1.00", "1e30", "", None, [], "9" * 40])
def test_malformed_amount_is_unreadable(stage, amount):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _order(total=amount))


@pytest.mark.parametrize("amount", ["-1.00", "1e30", "", None, [], "9" * 40])
def test_unreadable_refund_is_unclear_while_its_sale_counts(stage, amount):
    refunds = [{"id": 1, "total": f"-{amount}"}, {"id": 2, "total": "-33.3333"}]
    payment, unclear, refund = read_facts(stage, _order(refunds=refunds))
    assert (payment.amount_cents, unclear) == (11_800, UnclearFact("refund_amount_unknown"))
    assert (refund.refund_id, refund.amount_cents) == ("2", 3_333)


@pytest.mark.parametrize("other", [{"id": "7" * 500}, {"date_paid_gmt": "yesterday"}, {"total": "x"}])
def test_oversized_id_or_malformed_field_is_unreadable(stage, other):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _order(**other))


def test_changes_within_a_second_have_distinct_keys(stage):
    keys = {
        GATEWAY.prove(build_account(stage), build_inbound(_order(**other))).deliveries[0].key
        for other in ({}, {}, {"refunds": [{"id": 731, "total": "-1.00"}]})
    }
    assert len(keys) == 2


class TestShop:
    def test_shop_without_permalinks_is_called_by_query(self, stage):
        stage.has_permalinks = False
        assert GATEWAY.check(build_account(stage)).account == "shop.example.com"
        assert stage.calls[-1].params["rest_route"] == ["/wc/v3/orders"]

    def test_keys_are_in_the_query_if_the_header_is_stripped(self, stage):
        stage.strips_header = True
        assert GATEWAY.check(build_account(stage)).account
        assert "Authorization" not in stage.calls[-1].headers

    def test_page_of_a_security_plugin_raises_gateway_unreachable(self, stage):
        stage.faults.append("html")
        with pytest.raises(GatewayUnreachable):
            GATEWAY.check(build_account(stage))

    @pytest.mark.parametrize("store_url", ["", "  ", "ftp://shop.example.com", "https://[::1", "https://a b", "a\nb"])
    def test_malformed_address_is_rejected(self, stage, store_url, monkeypatch):
        _call_entered_host(monkeypatch)
        with pytest.raises(CredentialsRefused):
            GATEWAY.check(build_account(stage, storeUrl=store_url))

    @pytest.mark.parametrize(
        "store_url",
        ["https://127.0.0.1", "https://10.0.0.7/shop", "http://localhost", "169.254.169.254", "https://2130706433"],
    )
    def test_private_address_is_never_called(self, stage, store_url, monkeypatch):
        _call_entered_host(monkeypatch)
        with pytest.raises(CredentialsRefused):
            GATEWAY.check(build_account(stage, storeUrl=store_url))
        assert stage.calls == []

    def test_entered_host_is_called(self, stage, monkeypatch):
        _call_entered_host(monkeypatch, allow_private=True)
        shop_account = build_account(stage, storeUrl=f"{stage.url}/shop/")
        assert GATEWAY.check(shop_account).account == stage.url.removeprefix("http://")
        created = GATEWAY.subscribe(shop_account, _ADDRESS).made
        GATEWAY.unsubscribe(dataclasses.replace(shop_account, made=created))
        assert {(request.method, request.path) for request in stage.calls[1:3]} == {
            ("POST", "/shop/wp-json/wc/v3/webhooks")
        }
        assert sorted(stage.hooks) == ["12", "13"]
        for fault, error in (("refuse", CredentialsRefused), ("fail", GatewayUnreachable), ("cut", GatewayUnreachable)):
            stage.faults.append(fault)
            with pytest.raises(error):
                GATEWAY.check(shop_account)

    def test_unreachable_host_raises_gateway_unreachable(self, stage, monkeypatch):
        _call_entered_host(monkeypatch, allow_private=True)
        with pytest.raises(GatewayUnreachable):
            GATEWAY.check(build_account(stage, storeUrl="https://127.0.0.1:1"))

    def test_shop_in_a_folder_is_called_there(self, stage):
        assert GATEWAY.check(build_account(stage, storeUrl="shop.example.com/en/?x=1")).account == "shop.example.com"
        assert stage.calls[0].path == "/en/wp-json/wc/v3/orders"


def _call_entered_host(monkeypatch, *, allow_private=False):
    """Make requests go to the host that the brand entered."""
    override_settings(monkeypatch, addresses={"apis": {}}, webhooks={"allow_private": allow_private, "also_allow": ()})


class TestWebhooks:
    def test_webhooks_share_one_secret_and_are_removed(self, stage):
        stage.hooks.clear()
        subscribed = GATEWAY.subscribe(build_account(stage), _ADDRESS)
        assert {hook["topic"] for hook in stage.hooks.values()} == {
            "order.created",
            "order.updated",
            "order.restored",
            "order.deleted",
        }
        assert {hook["secret"] for hook in stage.hooks.values()} == {subscribed.made["webhookSecret"]}
        GATEWAY.unsubscribe(GatewayAccount("live", stage.credentials, subscribed.made))
        assert stage.hooks == {}

    def test_read_only_key_gives_setup_steps(self, stage):
        stage.may_write = False
        subscribed = GATEWAY.subscribe(build_account(stage), _ADDRESS)
        assert ("secret", subscribed.made["webhookSecret"]) in subscribed.setup.values
        assert ("webhookUrl", _ADDRESS) in subscribed.setup.values

    def test_failed_subscription_leaves_no_webhook(self, stage):
        stage.hooks.clear()
        stage.faults.extend(["", "fail"])
        with pytest.raises(GatewayUnreachable):
            GATEWAY.subscribe(build_account(stage), _ADDRESS)
        assert stage.hooks == {}

    def test_listing_reactivates_disabled_webhooks(self, stage):
        stage.hooks["12"]["status"] = "disabled"
        stage.hooks.pop("13")
        assert list_facts(stage, stage.now) == {}
        assert stage.hooks == {"12": {"id": "12", "status": "active"}}


def test_all_pages_of_changed_orders_are_read(stage, monkeypatch):
    monkeypatch.setattr("adapters.gateways.storefront.woocommerce._PAGE", 2)
    sales = [stage.pay(Purchase(customer=str(number))) for number in range(5)]
    stage.orders[int(sales[0].id)]["date_paid_gmt"] = "2020-01-01T00:00:00"
    stage.refund(sales[0], 100)
    listed_facts = list_facts(stage, stage.now - timedelta(hours=1))
    (changed, refund, *others) = listed_facts
    assert [type(fact) for fact in listed_facts[changed]] == [TotalFact]
    assert [type(fact) for fact in listed_facts[refund]] == [RefundFact]
    assert others == [f"reconcile:{sale.id}" for sale in sales[1:]]


def test_meta_data_of_any_json_type_is_read(stage):
    meta = [{"key": "_x", "value": {"a": 1}}, {"key": None, "value": "x"}, "x", {"key": "ref", "value": 7}]
    (payment,) = read_facts(stage, _order(meta_data=meta))
    assert payment.origin.carriers == (Carrier("woocommerce_metadata", {"ref": "7"}),)
