"""Gumroad: samples of its events, and behaviour that only it has."""

import dataclasses
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from adapters.gateways import forms
from adapters.gateways.base import GatewayAccount, GatewayRejected, Inbound, NotProved
from adapters.gateways.digital.gumroad import GATEWAY
from domain.gateways.facts import (
    Carrier,
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    StartFact,
    UnclearFact,
    UnreadableEvent,
)
from tests.support.gateways.digital.gumroad import SELLER, TOKEN, form
from tests.support.gateways.stage import Notification, Purchase

ACCOUNT = GatewayAccount("live", {"accessToken": TOKEN}, {"sellerId": SELLER})
_SALE = {
    "resource_name": "sale",
    "seller_id": SELLER,
    "product_id": "PR0D==",
    "email": "buyer@example.com",
    "full_name": "Ada Buyer",
    "price": "11800",
    "currency": "usd",
    "quantity": "1",
    "order_number": "524459935",
    "sale_id": "SALE1==",
    "sale_timestamp": "2026-11-20T15:00:00Z",
    "purchaser_id": "7001",
    "url_params[via]": "anna",
    "offer_code": "ANNA10",
    "custom_fields[Team]": "Red",
    "refunded": "false",
    "is_gift_receiver_purchase": "false",
}
# The sale as the API returns it: without the product's currency, and with additional fields.
_API_SALE = {
    "id": "SALE1==",
    "email": "buyer@example.com",
    "seller_id": SELLER,
    "created_at": "2026-11-20T15:00:00Z",
    "product_id": "PR0D==",
    "price": 11800,
    "amount_refundable_in_currency": "118",
    "refunded": False,
    "partially_refunded": False,
    "disputed": False,
    "dispute_won": False,
    "paid": True,
    "order_id": 524459935,
    "offer_code": {"code": "ANNA10", "name": "ANNA10", "displayed_amount_off": "10%"},
}


def _inbound(notification: Notification, at: datetime | None = None) -> Inbound:
    return Inbound("POST", notification.headers, {}, notification.body, at or datetime.now(UTC))


def _facts(notification, account=ACCOUNT):
    (delivery,) = GATEWAY.prove(account, _inbound(notification)).deliveries
    return GATEWAY.facts(account, delivery)


def _add_sale(stage, **other):
    stage.sales["SALE1=="] = {**_API_SALE, **other}


def test_sale_is_read_from_the_api_with_the_deliverys_referral(stage):
    _add_sale(stage)
    (payment,) = _facts(form({**_SALE, "price": "1"}))
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("SALE1==", 11800, "USD")
    assert payment.paid_at == datetime(2026, 11, 20, 15, tzinfo=UTC)
    assert payment.origin.carriers == (
        Carrier("gumroad_url_param", {"via": "anna"}),
        Carrier("gumroad_custom_field", {"Team": "Red"}),
    )
    assert payment.origin.codes == (RedeemedCode("ANNA10", "gumroad_coupon_code"),)
    assert payment.origin.customer_id == "buyer@example.com"  # the API names no purchaser


def test_amount_is_in_us_cents_for_every_product_currency(stage):
    _add_sale(stage, currency_symbol="¥")
    (payment,) = _facts(form({**_SALE, "currency": "jpy"}))
    assert (payment.amount_cents, payment.currency) == (11800, "USD")


@pytest.mark.parametrize("name", ["url_params[via]", "url_params%5Bvia%5D", "url_params%5bvia%5d"])
def test_brackets_are_read_in_any_encoding(stage, name):
    _add_sale(stage)
    fields = {key: value for key, value in _SALE.items() if "[" not in key}
    (payment,) = _facts(form({**fields, name: "anna"}))
    assert payment.origin.carriers == (Carrier("gumroad_url_param", {"via": "anna"}),)


def test_sale_of_another_seller_or_unknown_sale_is_ignored(stage):
    assert _facts(form({**_SALE, "seller_id": "OTHER=="})) == (IgnoredFact("wrong_seller"),)
    assert stage.calls == []
    assert _facts(form(_SALE)) == (IgnoredFact("unknown_sale"),)
    _add_sale(stage, seller_id="OTHER==")
    assert _facts(form(_SALE)) == (IgnoredFact("unknown_sale"),)
    stage.sales["SALE1=="] = {**_API_SALE, "id": "SALE2=="}
    assert _facts(form(_SALE)) == (IgnoredFact("unknown_sale"),)


def test_sale_id_cannot_change_the_api_path(stage):
    _facts(form({**_SALE, "sale_id": "../user?x=1#"}))
    assert stage.calls[-1].path == "/v2/sales/..%2Fuser%3Fx%3D1%23"
    with pytest.raises(UnreadableEvent):
        _facts(form({**_SALE, "sale_id": "S" * 500}))


def test_event_is_rejected_before_the_seller_is_known():
    with pytest.raises(NotProved):
        GATEWAY.prove(dataclasses.replace(ACCOUNT, made={}), _inbound(form(_SALE)))
    with pytest.raises(NotProved):
        GATEWAY.prove(ACCOUNT, Inbound("GET", {}, {}, b"", datetime.now(UTC)))


def test_test_ping_has_its_own_key_and_is_ignored(stage):
    _add_sale(stage)
    real, test = form(_SALE), form({**_SALE, "test": "true"})
    keys = [GATEWAY.prove(ACCOUNT, _inbound(notification)).deliveries[0].key for notification in (real, test)]
    assert keys == ["sale:SALE1==", "sale:SALE1==:test"]
    assert _facts(test) == (IgnoredFact("test_event"),)


def test_retried_sale_has_the_same_key_and_each_refund_its_own(stage):
    now = datetime.now(UTC)
    retried = form({**_SALE, "retry_count": "1"})
    assert (
        len(
            {
                GATEWAY.prove(ACCOUNT, _inbound(notification)).deliveries[0].key
                for notification in (form(_SALE), retried)
            }
        )
        == 1
    )
    refund = form({**_SALE, "resource_name": "refund"})
    times = (now, now + timedelta(seconds=5))
    assert len({GATEWAY.prove(ACCOUNT, _inbound(refund, at)).deliveries[0].key for at in times}) == 2


def test_renewal_is_a_payment_without_a_referral(stage):
    _add_sale(stage, subscription_id="SUB1==", recurring_charge=True, free_trial_ended=True, free_trial_ends_on="Dec 4")
    fields = {key: value for key, value in _SALE.items() if "[" not in key}
    (payment,) = _facts(form({**fields, "subscription_id": "SUB1==", "is_recurring_charge": "true"}))
    assert isinstance(payment, PaymentFact)
    assert (payment.origin.subscription_id, payment.origin.carriers) == ("SUB1==", ())


@pytest.mark.parametrize(
    ("trial", "kind"),
    [
        ({"free_trial_ended": False, "free_trial_ends_on": "Dec 4, 2026"}, StartFact),
        ({"free_trial_ended": True, "free_trial_ends_on": "Dec 4, 2026"}, StartFact),  # read late: nothing was charged
        ({"free_trial_ended": False}, StartFact),
        ({"free_trial_ended": None, "free_trial_ends_on": None}, PaymentFact),
        ({}, PaymentFact),
    ],
)
def test_first_sale_of_a_trial_is_a_start(stage, trial, kind):
    _add_sale(stage, subscription_id="SUB1==", recurring_charge=False, **trial)
    (fact,) = _facts(form({**_SALE, "subscription_id": "SUB1=="}))
    assert type(fact) is kind


def test_partial_refund_is_the_price_less_the_refundable_amount(stage):
    _add_sale(stage, partially_refunded=True, amount_refundable_in_currency="70.80")
    (refund,) = _facts(form({**_SALE, "resource_name": "refund"}))
    assert (refund.sale_ids, refund.amount_cents, refund.is_cumulative) == (("SALE1==",), 4720, True)
    _add_sale(stage, price=1_234_500, partially_refunded=True, amount_refundable_in_currency="12,000.00")
    (refund,) = _facts(form({**_SALE, "resource_name": "refund"}))
    assert refund.amount_cents == 34_500


def test_full_refund_has_no_amount(stage):
    _add_sale(stage, refunded=True, amount_refundable_in_currency="0")
    (refund,) = _facts(form({**_SALE, "resource_name": "refund"}))
    assert (refund.amount_cents, refund.is_cumulative) == (None, True)
    payment, repeated_refund = _facts(form(_SALE))
    assert isinstance(payment, PaymentFact)
    assert repeated_refund.refund_id == refund.refund_id


@pytest.mark.parametrize(
    ("ping", "sale"),
    [
        ({"currency": "eur"}, {"amount_refundable_in_currency": "70.80"}),
        ({}, {"amount_refundable_in_currency": "70.80", "currency_symbol": "€"}),
        ({}, {"amount_refundable_in_currency": "0"}),
        ({}, {"amount_refundable_in_currency": "118"}),
        ({}, {"amount_refundable_in_currency": "much"}),
        ({}, {"amount_refundable_in_currency": "NaN"}),
        ({}, {"amount_refundable_in_currency": None}),
    ],
)
def test_partial_refund_of_unknown_amount_is_unclear(stage, ping, sale):
    _add_sale(stage, partially_refunded=True, **sale)
    assert _facts(form({**_SALE, **ping, "resource_name": "refund"})) == (UnclearFact("refund_amount_unknown"),)
    assert [type(fact) for fact in _facts(form({**_SALE, **ping}))] == [PaymentFact]


def test_refund_or_dispute_unconfirmed_by_the_api_is_ignored(stage):
    _add_sale(stage)
    for name in ("refund", "dispute", "dispute_won"):
        assert _facts(form({**_SALE, "resource_name": name, "refunded": "true"})) == (IgnoredFact("no_money_moved"),)


def test_dispute_counts_as_lost_until_won(stage):
    _add_sale(stage, disputed=True)
    (lost_dispute,) = _facts(form({**_SALE, "resource_name": "dispute"}))
    _add_sale(stage, disputed=True, dispute_won=True)
    (won_dispute,) = _facts(form({**_SALE, "resource_name": "dispute_won"}))
    assert isinstance(lost_dispute, DisputeFact)
    assert (lost_dispute.state, won_dispute.state) == (DisputeState.Lost, DisputeState.Won)
    assert lost_dispute.dispute_id == won_dispute.dispute_id


def test_gift_is_one_sale_of_its_giver(stage):
    pair = {"gifter_email": "giver@example.com", "giftee_email": "friend@example.com"}
    giver = Purchase(email="giver@example.com", cents=11800)
    given_sale = stage.sale(giver, is_gift_sender_purchase=True, **pair)
    received_sale = stage.sale(Purchase(email="friend@example.com", cents=0), is_gift_receiver_purchase=True, **pair)
    gift = {"is_gift_receiver_purchase": "true", "gift_price": "11800", "gifter_email": "giver@example.com"}
    (payment,) = _facts(stage.ping("sale", received_sale, Purchase(slug="anna"), **gift))
    assert (payment.external_id, payment.amount_cents, payment.origin.email) == (
        given_sale["id"],
        11800,
        "giver@example.com",
    )
    assert payment.origin.carriers == (Carrier("gumroad_url_param", {"affiliate_slug": "anna"}),)

    (page,) = GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(days=1))
    assert [delivery.key for delivery in page] == [f"reconcile:{given_sale['id']}"]
    stage.sale(giver, is_gift_sender_purchase=True, **pair)
    assert _facts(stage.ping("sale", received_sale, Purchase(), **gift)) == (UnclearFact("gift_not_found"),)


def test_bundle_parts_and_authorizations_are_ignored(stage):
    _add_sale(stage, is_bundle_product_purchase=True)
    assert _facts(form(_SALE)) == (IgnoredFact("part_of_a_bundle"),)
    _add_sale(stage)
    assert _facts(form({**_SALE, "is_preorder_authorization": "true"})) == (IgnoredFact("not_paid"),)


@pytest.mark.parametrize("price", [-1, "x", None, 1.5, True, 10**30])
def test_malformed_price_is_unreadable(stage, price):
    _add_sale(stage, price=price)
    with pytest.raises(UnreadableEvent):
        _facts(form(_SALE))


def test_all_pages_are_read_and_older_sales_only_for_refunds(stage):
    ids = [stage.pay(Purchase(customer=str(number))).id for number in range(25)]
    keys = [delivery.key for page in GATEWAY.list_payments(ACCOUNT, stage.now) for delivery in page]
    assert sorted(keys) == sorted(f"reconcile:{sale_id}" for sale_id in ids)

    stage.sales = {}
    stage.now -= timedelta(days=10)
    old_sale = stage.pay(Purchase(cents=11800))
    since = stage.now + timedelta(days=10)
    assert list(GATEWAY.list_payments(ACCOUNT, since)) == []
    stage.refund(old_sale, 4720)
    (page,) = GATEWAY.list_payments(ACCOUNT, since)
    (refund,) = GATEWAY.facts(ACCOUNT, page[0])
    assert isinstance(refund, RefundFact)
    assert (page[0].key, refund.amount_cents) == (f"reconcile:{old_sale.id}:left:70.80", 4720)


def test_webhooks_are_subscribed_for_each_resource_or_for_none(stage):
    generated = GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x").made
    assert {subscription["resource_name"] for subscription in stage.subscriptions.values()} == {
        "sale",
        "refund",
        "dispute",
        "dispute_won",
    }
    assert generated["sellerId"] == SELLER
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=generated))
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=generated))
    assert stage.subscriptions == {}
    stage.says_no_to = "dispute"
    with pytest.raises(GatewayRejected):
        GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x")
    assert stage.subscriptions == {}


def test_form_is_parsed_into_nested_tables():
    fields = {"order[charges][0][amount]": "1", "a[]": "x", "a": "y", "bad]name[": "z", "deep" + "[d]" * 20: "1"}
    assert forms.parse_nested(urlencode(fields).encode()) == {
        "order": {"charges": {"0": {"amount": "1"}}},
        "a": {"0": "x"},
        "bad]name[": "z",
        "deep" + "[d]" * 20: "1",
    }
    for body in (b"%ff=1", b"\xff=1", b"a", b"&".join(b"a=1" for _ in range(1_001))):
        with pytest.raises(ValueError, match="not a form"):
            forms.parse_nested(body)
