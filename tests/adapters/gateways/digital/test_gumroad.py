"""gumroad: what its samples mean, and what is its own."""

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
# As the API tells it: without the product's currency, and with more than is needed.
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


def _inbound(sent: Notification, at: datetime | None = None) -> Inbound:
    return Inbound("POST", sent.headers, {}, sent.body, at or datetime.now(UTC))


def _facts(sent, account=ACCOUNT):
    (delivery,) = GATEWAY.prove(account, _inbound(sent)).deliveries
    return GATEWAY.facts(account, delivery)


def _knows(stage, **other):
    stage.sales["SALE1=="] = {**_API_SALE, **other}


def test_a_sale_is_booked_as_the_api_tells_it_with_the_referral_of_its_delivery(stage):
    _knows(stage)
    (paid,) = _facts(form({**_SALE, "price": "1"}))
    assert (paid.external_id, paid.amount_cents, paid.currency) == ("SALE1==", 11800, "USD")
    assert paid.paid_at == datetime(2026, 11, 20, 15, tzinfo=UTC)
    assert paid.origin.carriers == (
        Carrier("gumroad_url_param", {"via": "anna"}),
        Carrier("gumroad_custom_field", {"Team": "Red"}),
    )
    assert paid.origin.codes == (RedeemedCode("ANNA10", "gumroad_coupon_code"),)
    assert paid.origin.customer_id == "buyer@example.com"  # the API names no purchaser


def test_the_amount_is_in_us_cents_whatever_the_products_currency(stage):
    _knows(stage, currency_symbol="¥")
    (paid,) = _facts(form({**_SALE, "currency": "jpy"}))
    assert (paid.amount_cents, paid.currency) == (11800, "USD")


@pytest.mark.parametrize("name", ["url_params[via]", "url_params%5Bvia%5D", "url_params%5bvia%5d"])
def test_brackets_are_read_however_they_are_encoded(stage, name):
    _knows(stage)
    told = {key: value for key, value in _SALE.items() if "[" not in key}
    (paid,) = _facts(form({**told, name: "anna"}))
    assert paid.origin.carriers == (Carrier("gumroad_url_param", {"via": "anna"}),)


def test_a_sale_of_another_seller_or_that_the_api_does_not_know_is_nothing(stage):
    assert _facts(form({**_SALE, "seller_id": "OTHER=="})) == (IgnoredFact("wrong_seller"),)
    assert stage.calls == []
    assert _facts(form(_SALE)) == (IgnoredFact("unknown_sale"),)
    _knows(stage, seller_id="OTHER==")
    assert _facts(form(_SALE)) == (IgnoredFact("unknown_sale"),)
    stage.sales["SALE1=="] = {**_API_SALE, "id": "SALE2=="}
    assert _facts(form(_SALE)) == (IgnoredFact("unknown_sale"),)


def test_an_id_cannot_lead_to_another_address_of_the_api(stage):
    _facts(form({**_SALE, "sale_id": "../user?x=1#"}))
    assert stage.calls[-1].path == "/v2/sales/..%2Fuser%3Fx%3D1%23"
    with pytest.raises(UnreadableEvent):
        _facts(form({**_SALE, "sale_id": "S" * 500}))


def test_nothing_comes_in_before_the_seller_is_known():
    with pytest.raises(NotProved):
        GATEWAY.prove(dataclasses.replace(ACCOUNT, made={}), _inbound(form(_SALE)))
    with pytest.raises(NotProved):
        GATEWAY.prove(ACCOUNT, Inbound("GET", {}, {}, b"", datetime.now(UTC)))


def test_a_rehearsal_with_the_last_real_sale_never_touches_it(stage):
    _knows(stage)
    real, test = form(_SALE), form({**_SALE, "test": "true"})
    keys = [GATEWAY.prove(ACCOUNT, _inbound(sent)).deliveries[0].key for sent in (real, test)]
    assert keys == ["sale:SALE1==", "sale:SALE1==:test"]
    assert _facts(test) == (IgnoredFact("test_event"),)


def test_a_retry_of_a_sale_is_the_same_event_and_every_refund_is_its_own(stage):
    now = datetime.now(UTC)
    again = form({**_SALE, "retry_count": "1"})
    assert len({GATEWAY.prove(ACCOUNT, _inbound(sent)).deliveries[0].key for sent in (form(_SALE), again)}) == 1
    refund = form({**_SALE, "resource_name": "refund"})
    times = (now, now + timedelta(seconds=5))
    assert len({GATEWAY.prove(ACCOUNT, _inbound(refund, at)).deliveries[0].key for at in times}) == 2


def test_a_renewal_needs_no_referral_of_its_own(stage):
    _knows(stage, subscription_id="SUB1==", recurring_charge=True, free_trial_ended=True, free_trial_ends_on="Dec 4")
    told = {key: value for key, value in _SALE.items() if "[" not in key}
    (paid,) = _facts(form({**told, "subscription_id": "SUB1==", "is_recurring_charge": "true"}))
    assert isinstance(paid, PaymentFact)
    assert (paid.origin.subscription_id, paid.origin.carriers) == ("SUB1==", ())


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
def test_the_first_sale_of_a_trial_is_a_start_whatever_its_price(stage, trial, kind):
    _knows(stage, subscription_id="SUB1==", recurring_charge=False, **trial)
    (fact,) = _facts(form({**_SALE, "subscription_id": "SUB1=="}))
    assert type(fact) is kind


def test_a_part_that_went_back_is_the_price_without_what_is_left(stage):
    _knows(stage, partially_refunded=True, amount_refundable_in_currency="70.80")
    (refund,) = _facts(form({**_SALE, "resource_name": "refund"}))
    assert (refund.sale_ids, refund.amount_cents, refund.is_cumulative) == (("SALE1==",), 4720, True)
    _knows(stage, price=1_234_500, partially_refunded=True, amount_refundable_in_currency="12,000.00")
    (refund,) = _facts(form({**_SALE, "resource_name": "refund"}))
    assert refund.amount_cents == 34_500


def test_a_whole_refund_is_all_that_remains(stage):
    _knows(stage, refunded=True, amount_refundable_in_currency="0")
    (refund,) = _facts(form({**_SALE, "resource_name": "refund"}))
    assert (refund.amount_cents, refund.is_cumulative) == (None, True)
    paid, same = _facts(form(_SALE))
    assert isinstance(paid, PaymentFact)
    assert same.refund_id == refund.refund_id


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
def test_a_part_whose_amount_is_not_told_waits_for_a_person(stage, ping, sale):
    _knows(stage, partially_refunded=True, **sale)
    assert _facts(form({**_SALE, **ping, "resource_name": "refund"})) == (UnclearFact("refund_amount_unknown"),)
    assert [type(fact) for fact in _facts(form({**_SALE, **ping}))] == [PaymentFact]


def test_a_refund_or_dispute_that_the_api_does_not_confirm_is_nothing(stage):
    _knows(stage)
    for name in ("refund", "dispute", "dispute_won"):
        assert _facts(form({**_SALE, "resource_name": name, "refunded": "true"})) == (IgnoredFact("no_money_moved"),)


def test_a_dispute_takes_the_money_at_once_and_one_that_is_won_brings_it_back(stage):
    _knows(stage, disputed=True)
    (lost,) = _facts(form({**_SALE, "resource_name": "dispute"}))
    _knows(stage, disputed=True, dispute_won=True)
    (won,) = _facts(form({**_SALE, "resource_name": "dispute_won"}))
    assert isinstance(lost, DisputeFact)
    assert (lost.state, won.state) == (DisputeState.Lost, DisputeState.Won)
    assert lost.dispute_id == won.dispute_id


def test_a_gift_is_the_sale_of_its_giver_once(stage):
    pair = {"gifter_email": "giver@example.com", "giftee_email": "friend@example.com"}
    giver = Purchase(email="giver@example.com", cents=11800)
    given = stage.sale(giver, is_gift_sender_purchase=True, **pair)
    got = stage.sale(Purchase(email="friend@example.com", cents=0), is_gift_receiver_purchase=True, **pair)
    gift = {"is_gift_receiver_purchase": "true", "gift_price": "11800", "gifter_email": "giver@example.com"}
    (paid,) = _facts(stage.ping("sale", got, Purchase(slug="anna"), **gift))
    assert (paid.external_id, paid.amount_cents, paid.origin.email) == (given["id"], 11800, "giver@example.com")
    assert paid.origin.carriers == (Carrier("gumroad_url_param", {"affiliate_slug": "anna"}),)

    (page,) = GATEWAY.list_payments(ACCOUNT, stage.now - timedelta(days=1))
    assert [delivery.key for delivery in page] == [f"reconcile:{given['id']}"]
    stage.sale(giver, is_gift_sender_purchase=True, **pair)
    assert _facts(stage.ping("sale", got, Purchase(), **gift)) == (UnclearFact("gift_not_found"),)


def test_parts_of_a_bundle_and_what_is_only_authorized_are_no_sales(stage):
    _knows(stage, is_bundle_product_purchase=True)
    assert _facts(form(_SALE)) == (IgnoredFact("part_of_a_bundle"),)
    _knows(stage)
    assert _facts(form({**_SALE, "is_preorder_authorization": "true"})) == (IgnoredFact("not_paid"),)


@pytest.mark.parametrize("price", [-1, "x", None, 1.5, True, 10**30])
def test_a_price_that_makes_no_sense_is_no_money(stage, price):
    _knows(stage, price=price)
    with pytest.raises(UnreadableEvent):
        _facts(form(_SALE))


def test_every_page_is_read_back_to_the_day_and_old_sales_only_for_what_went_back(stage):
    ids = [stage.pay(Purchase(customer=str(number))).id for number in range(25)]
    keys = [delivery.key for page in GATEWAY.list_payments(ACCOUNT, stage.now) for delivery in page]
    assert sorted(keys) == sorted(f"reconcile:{sale_id}" for sale_id in ids)

    stage.sales = {}
    stage.now -= timedelta(days=10)
    old = stage.pay(Purchase(cents=11800))
    since = stage.now + timedelta(days=10)
    assert list(GATEWAY.list_payments(ACCOUNT, since)) == []
    stage.refund(old, 4720)
    (page,) = GATEWAY.list_payments(ACCOUNT, since)
    (refund,) = GATEWAY.facts(ACCOUNT, page[0])
    assert isinstance(refund, RefundFact)
    assert (page[0].key, refund.amount_cents) == (f"reconcile:{old.id}:left:70.80", 4720)


def test_each_resource_is_subscribed_to_and_nothing_stays_when_one_is_refused(stage):
    made = GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x").made
    assert {one["resource_name"] for one in stage.subscriptions.values()} == {
        "sale",
        "refund",
        "dispute",
        "dispute_won",
    }
    assert made["sellerId"] == SELLER
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=made))
    GATEWAY.unsubscribe(dataclasses.replace(ACCOUNT, made=made))
    assert stage.subscriptions == {}
    stage.says_no_to = "dispute"
    with pytest.raises(GatewayRejected):
        GATEWAY.subscribe(ACCOUNT, "https://finderfee.example/x")
    assert stage.subscriptions == {}


def test_a_form_is_read_into_tables():
    told = {"order[charges][0][amount]": "1", "a[]": "x", "a": "y", "bad]name[": "z", "deep" + "[d]" * 20: "1"}
    assert forms.parse_nested(urlencode(told).encode()) == {
        "order": {"charges": {"0": {"amount": "1"}}},
        "a": {"0": "x"},
        "bad]name[": "z",
        "deep" + "[d]" * 20: "1",
    }
    for body in (b"%ff=1", b"\xff=1", b"a", b"&".join(b"a=1" for _ in range(1_001))):
        with pytest.raises(ValueError, match="not a form"):
            forms.parse_nested(body)
