"""Chargebee: unsigned webhooks, so each event is read again; payments, refunds and chargebacks of its invoices."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, NotProved
from adapters.gateways.billing.chargebee import GATEWAY
from domain.gateways.facts import (
    Carrier,
    DisputeState,
    IgnoredFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)
from domain.gateways.referrals import find_tag, list_claims
from tests.support.gateways.billing.chargebee import PASSWORD, USER, authenticate
from tests.support.gateways.deliveries import build_account, build_inbound, list_facts, read_facts
from tests.support.gateways.stage import Purchase

CUSTOMER = {"id": "cb_c1", "email": "ann@example.com", "first_name": "Ann"}
SUBSCRIPTION = {
    "id": "cb_s1",
    "status": "active",
    "meta_data": {"affiliate_slug": "jane"},
    "cf_affiliate_slug": "jane",
    "coupons": [{"coupon_id": "JANE10"}],
}
TRANSACTION = {
    "id": "txn_C1",
    "type": "payment",
    "status": "success",
    "amount": 10_890,
    "currency_code": "EUR",
    "date": 1767322799,
    "linked_invoices": [{"invoice_id": "inv_C1", "applied_amount": 10_890}],
}
INVOICE = {
    "id": "inv_C1",
    "subscription_id": "cb_s1",
    "recurring": True,
    "first_invoice": True,
    "price_type": "tax_exclusive",
    "tax": 1890,
    "total": 10_890,
    "discounts": [{"entity_type": "document_level_coupon", "entity_id": "JANE10", "amount": 1000}],
}
PAID = {"transaction": TRANSACTION, "invoice": INVOICE, "customer": CUSTOMER, "subscription": SUBSCRIPTION}


def _read_payment(stage, transaction=None, invoice=None, **others):
    content = {**PAID, "transaction": {**TRANSACTION, **(transaction or {})}, "invoice": {**INVOICE, **(invoice or {})}}
    (fact,) = read_facts(stage, stage.event("payment_succeeded", {**content, **others}))
    return fact


def test_first_payment_is_read(stage):
    payment = _read_payment(stage)

    assert (payment.external_id, payment.amount_cents, payment.currency, payment.net_cents) == (
        "txn_C1",
        10_890,
        "EUR",
        9_000,
    )
    assert payment.paid_at == datetime(2026, 1, 2, 2, 59, 59, tzinfo=UTC)
    assert payment.aliases == ("inv_C1",)
    assert (payment.origin.customer_id, payment.origin.subscription_id) == ("cb_c1", "cb_s1")
    assert (payment.origin.email, payment.origin.name) == ("ann@example.com", "Ann")
    assert payment.origin.codes == (RedeemedCode("JANE10", "chargebee_coupon_code", "JANE10"),)
    assert [claim.method for claim in list_claims(payment.origin.carriers, [])] == [
        "chargebee_metadata",
        "chargebee_custom_field",
    ]


def test_custom_fields_are_read_without_prefix_and_the_subscriptions_first(stage):
    subscription = {"id": "cb_s1", "cf_via": "bob", "cf_sub_id": "mail"}
    payment = _read_payment(stage, subscription=subscription, customer={**CUSTOMER, "cf_affiliate_slug": "carl"})
    assert [claim.slug for claim in list_claims(payment.origin.carriers, ["via"])] == ["bob", "carl"]
    assert find_tag(payment.origin.carriers) == "mail"


def test_renewal_counts_only_codes_that_reduced_its_invoice(stage):
    assert _read_payment(stage, {"id": "txn_C2"}, {"first_invoice": False, "discounts": []}).origin.codes == ()


def test_credits_are_not_codes(stage):
    discounts = [{"entity_type": "promotional_credits", "entity_id": "credit", "amount": 5}]
    assert _read_payment(stage, {}, {"discounts": discounts}).origin.codes == ()


def test_invoice_with_several_payments_is_not_an_alias(stage):
    part = {"amount": 890, "linked_invoices": [{"invoice_id": "inv_C1", "applied_amount": 890}]}
    payment = _read_payment(stage, part)
    assert (payment.aliases, payment.net_cents) == ((), 890 - 154)
    assert _read_payment(stage, part, {"credits_applied": 10_000}).aliases == ("inv_C1",)


def test_refund_is_read(stage):
    transaction = {**TRANSACTION, "id": "txn_C3", "type": "refund", "amount": 4356, "refunded_txn_id": "txn_C1"}
    note = {"id": "CN-1", "reference_invoice_id": "inv_C1", "reason_code": "other", "total": 4356}
    content = {"transaction": transaction, "credit_note": note, "invoice": {"id": "inv_C1"}}
    (refund,) = read_facts(stage, stage.event("payment_refunded", content, occurred_at=1767409200))

    at = datetime(2026, 1, 3, 3, tzinfo=UTC)
    assert refund == RefundFact(
        refund_id="txn_C3", sale_ids=("txn_C1",), amount_cents=4356, currency="EUR", refunded_at=at
    )


def test_unfinished_refund_moves_no_money(stage):
    unfinished = {**TRANSACTION, "id": "txn_C3", "type": "refund", "status": "in_progress"}
    assert read_facts(stage, stage.event("payment_refunded", {"transaction": unfinished})) == [
        IgnoredFact("no_money_moved")
    ]


def test_chargeback_reverses_each_payment_of_its_invoice_once(stage):
    note = {"id": "CN-2", "reference_invoice_id": "inv_C1", "reason_code": "chargeback", "total": 6534}
    notification = stage.event("credit_note_created", {"credit_note": note})
    (dispute,) = read_facts(stage, notification)
    assert (dispute.dispute_id, dispute.sale_ids, dispute.state) == ("inv_C1", ("inv_C1",), DisputeState.Lost)

    linked_payments = [{"txn_id": name, "txn_status": status} for name, status in (("a", "success"), ("b", "failure"))]
    linked_payments.append({"txn_id": "c", "txn_status": "success"})
    stage.objects["/invoices/inv_C1"] = {"invoice": {**INVOICE, "linked_payments": linked_payments}}
    assert [fact.sale_ids for fact in read_facts(stage, notification)] == [("a",), ("c",)]


@pytest.mark.parametrize("change", [{"reason_code": "waiver"}, {"status": "voided"}])
def test_other_credit_notes_are_not_chargebacks(stage, change):
    note = {"id": "CN-2", "reference_invoice_id": "inv_C1", "reason_code": "chargeback", **change}
    notification = stage.event("credit_note_updated", {"credit_note": note})
    assert read_facts(stage, notification) == [IgnoredFact("no_money_moved")]


def test_chargeback_events_share_one_id(stage):
    late_failure = {**TRANSACTION, "status": "late_failure"}
    reversal = {**TRANSACTION, "id": "txn_C9", "type": "payment_reversal", "linked_payments": [{"id": "txn_C1"}]}
    notifications = [stage.event("transaction_updated", {"transaction": each}) for each in (late_failure, reversal)]
    assert {(fact.dispute_id, fact.sale_ids) for fact in read_facts(stage, *notifications)} == {("txn_C1", ("txn_C1",))}
    with pytest.raises(UnreadableEvent):
        read_facts(stage, stage.event("transaction_created", {"transaction": {**reversal, "linked_payments": []}}))
    assert read_facts(stage, stage.event("transaction_created", PAID)) == [IgnoredFact("no_money_moved")]


def test_trial_is_a_start_and_paid_subscription_is_a_referral(stage):
    trial = {"subscription": {"id": "cb_s5", "status": "in_trial", "cf_affiliate_slug": "jane"}, "customer": CUSTOMER}
    (start,) = read_facts(stage, stage.event("subscription_created", trial))
    assert isinstance(start, StartFact)
    assert (start.external_id, start.origin.carriers) == (
        "cb_s5",
        (Carrier("chargebee_custom_field", {"affiliate_slug": "jane"}),),
    )
    (referral,) = read_facts(
        stage, stage.event("subscription_created", {"subscription": SUBSCRIPTION, "invoice": INVOICE})
    )
    assert isinstance(referral, ReferralFact)


def test_only_the_event_read_again_counts(stage):
    sale = stage.pay(Purchase(cents=10_890))
    event = json.loads(sale.notifications[0].body)
    event["content"]["transaction"]["amount"] = 99_999_900
    (payment,) = read_facts(stage, authenticate(json.dumps(event).encode()))
    assert payment.amount_cents == 10_890

    event["id"] = "ev_made_up"
    assert read_facts(stage, authenticate(json.dumps(event).encode())) == [IgnoredFact("unknown_at_gateway")]
    event["id"] = "../events"
    assert read_facts(stage, authenticate(json.dumps(event).encode())) == [IgnoredFact("unknown_at_gateway")]


def test_event_read_under_another_id_is_unreadable(stage):
    sale = stage.pay(Purchase())
    event = json.loads(sale.notifications[0].body)
    stage.objects["/events/ev_x"] = {"event": event}
    with pytest.raises(UnreadableEvent):
        read_facts(stage, authenticate(json.dumps({**event, "id": "ev_x"}).encode()))


@pytest.mark.parametrize(
    ("currency", "amount", "cents"),
    [("JPY", 1500, 1500), ("KRW", 1500, 1500), ("USD", 1500, 1500), ("KWD", 1500, 15_000)],
)
def test_amount_has_no_or_two_decimals(stage, currency, amount, cents):
    event = {"currency_code": currency, "amount": amount}
    assert _read_payment(stage, event, {"tax": 0, "total": amount}).amount_cents == cents


@pytest.mark.parametrize(
    "change",
    [{"amount": value} for value in (None, -1, 1.5, "1.5", True, 10**13, [], "9" * 500)]
    + [{"currency_code": "ISK"}, {"currency_code": None}, {"id": None}, {"id": "x" * 500}, {"date": "soon"}],
)
def test_malformed_payment_is_unreadable(stage, change):
    with pytest.raises(UnreadableEvent):
        _read_payment(stage, change)


@pytest.mark.parametrize(
    "header",
    ["", "Basic", "Basic !", "Bearer ZmluZGVyZmVl", "Basic Og==", "Basic " + "A" * 500, "Basic \xe9"],
)
def test_malformed_authorization_header_is_rejected(stage, header):
    notification = replace(stage.pay(Purchase()).notifications[0], headers={"Authorization": header})
    with pytest.raises(NotProved):
        GATEWAY.prove(build_account(stage), build_inbound(notification))


def test_user_and_password_must_match_as_a_pair(stage):
    rotated = GatewayAccount(
        "live",
        {**stage.credentials, "webhookPassword": "new"},
        former=({"webhookUser": "old", "webhookPassword": "b"},),
    )
    for user, password in ((USER, "new"), ("old", "b")):
        assert GATEWAY.prove(rotated, build_inbound(authenticate(b"{}", user=user, password=password))).deliveries
    for user, password in (("old", "new"), (USER, "b"), (USER, PASSWORD), (USER, "")):
        with pytest.raises(NotProved):
            GATEWAY.prove(rotated, build_inbound(authenticate(b"{}", user=user, password=password)))


def test_generated_webhook_pair_is_valid_until_the_brand_enters_a_pair(stage):
    bare = GatewayAccount("live", {"site": "acme", "apiKey": "k"})
    subscribed = GATEWAY.subscribe(bare, "https://finderfee.example/x")
    generated = dict(subscribed.made)
    assert set(generated) == {"webhookUser", "webhookPassword"}
    assert generated.items() <= dict(subscribed.setup.values).items()
    notification = authenticate(b"{}", user=generated["webhookUser"], password=generated["webhookPassword"])
    assert GATEWAY.prove(replace(bare, made=generated), build_inbound(notification)).deliveries

    with_own_pair = replace(build_account(stage), made=generated)
    assert GATEWAY.prove(with_own_pair, build_inbound(authenticate(b"{}"))).deliveries
    with pytest.raises(NotProved):
        GATEWAY.prove(with_own_pair, build_inbound(notification))
    assert GATEWAY.subscribe(build_account(stage), "https://finderfee.example/x").made == {}


@pytest.mark.parametrize("site", ["acme", "acme.chargebee.com", "https://Acme.chargebee.com/"])
def test_site_is_accepted_as_name_or_address(stage, site):
    assert GATEWAY.check(build_account(stage, site=site)).account == "acme"


@pytest.mark.parametrize("site", ["", "acme.example.com", "evil.com/", "a b", "acme@evil", "x" * 500])
def test_malformed_site_is_never_called(stage, site):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(build_account(stage, site=site))
    assert stage.calls == []


def test_later_changes_of_a_payment_are_listed_separately(stage):
    stage.pay(Purchase())
    for number in range(120):
        stage.event(
            "transaction_updated", {"transaction": {**TRANSACTION, "id": f"t{number}", "status": "late_failure"}}
        )
    listed_facts = list_facts(stage, stage.now - timedelta(hours=1))
    assert len(listed_facts) == 121
    assert sum(request.path == "/api/v2/events" for request in stage.calls) == 2
