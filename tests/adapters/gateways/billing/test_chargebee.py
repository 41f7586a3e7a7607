"""chargebee: nothing is signed, so what is told is read again; payments, refunds and chargebacks of its invoices."""

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
from tests.support.gateways.deliveries import account, facts, inbound, list_facts
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


def _paid(stage, transaction=None, invoice=None, **others):
    content = {**PAID, "transaction": {**TRANSACTION, **(transaction or {})}, "invoice": {**INVOICE, **(invoice or {})}}
    (fact,) = facts(stage, stage.event("payment_succeeded", {**content, **others}))
    return fact


def test_a_first_payment_as_it_is_sent(stage):
    paid = _paid(stage)

    assert (paid.external_id, paid.amount_cents, paid.currency, paid.net_cents) == ("txn_C1", 10_890, "EUR", 9_000)
    assert paid.paid_at == datetime(2026, 1, 2, 2, 59, 59, tzinfo=UTC)
    assert paid.aliases == ("inv_C1",)
    assert (paid.origin.customer_id, paid.origin.subscription_id) == ("cb_c1", "cb_s1")
    assert (paid.origin.email, paid.origin.name) == ("ann@example.com", "Ann")
    assert paid.origin.codes == (RedeemedCode("JANE10", "chargebee_coupon_code", "JANE10"),)
    assert [claim.method for claim in list_claims(paid.origin.carriers, [])] == [
        "chargebee_metadata",
        "chargebee_custom_field",
    ]


def test_custom_fields_are_read_without_their_prefix_the_subscriptions_first(stage):
    subscription = {"id": "cb_s1", "cf_via": "bob", "cf_sub_id": "mail"}
    paid = _paid(stage, subscription=subscription, customer={**CUSTOMER, "cf_affiliate_slug": "carl"})
    assert [claim.slug for claim in list_claims(paid.origin.carriers, ["via"])] == ["bob", "carl"]
    assert find_tag(paid.origin.carriers) == "mail"


def test_a_renewal_counts_only_the_codes_that_reduced_its_invoice(stage):
    assert _paid(stage, {"id": "txn_C2"}, {"first_invoice": False, "discounts": []}).origin.codes == ()


def test_credits_are_no_codes(stage):
    discounts = [{"entity_type": "promotional_credits", "entity_id": "credit", "amount": 5}]
    assert _paid(stage, {}, {"discounts": discounts}).origin.codes == ()


def test_an_invoice_of_several_payments_is_no_name_of_one_of_them(stage):
    part = {"amount": 890, "linked_invoices": [{"invoice_id": "inv_C1", "applied_amount": 890}]}
    paid = _paid(stage, part)
    assert (paid.aliases, paid.net_cents) == ((), 890 - 154)
    assert _paid(stage, part, {"credits_applied": 10_000}).aliases == ("inv_C1",)


def test_a_refund_as_it_is_sent(stage):
    transaction = {**TRANSACTION, "id": "txn_C3", "type": "refund", "amount": 4356, "refunded_txn_id": "txn_C1"}
    note = {"id": "CN-1", "reference_invoice_id": "inv_C1", "reason_code": "other", "total": 4356}
    content = {"transaction": transaction, "credit_note": note, "invoice": {"id": "inv_C1"}}
    (refund,) = facts(stage, stage.event("payment_refunded", content, occurred_at=1767409200))

    at = datetime(2026, 1, 3, 3, tzinfo=UTC)
    assert refund == RefundFact(
        refund_id="txn_C3", sale_ids=("txn_C1",), amount_cents=4356, currency="EUR", refunded_at=at
    )


def test_a_refund_that_is_not_through_moves_nothing(stage):
    waiting = {**TRANSACTION, "id": "txn_C3", "type": "refund", "status": "in_progress"}
    assert facts(stage, stage.event("payment_refunded", {"transaction": waiting})) == [IgnoredFact("no_money_moved")]


def test_a_chargeback_reverses_every_payment_of_its_invoice_once(stage):
    note = {"id": "CN-2", "reference_invoice_id": "inv_C1", "reason_code": "chargeback", "total": 6534}
    sent = stage.event("credit_note_created", {"credit_note": note})
    (alone,) = facts(stage, sent)
    assert (alone.dispute_id, alone.sale_ids, alone.state) == ("inv_C1", ("inv_C1",), DisputeState.Lost)

    linked = [{"txn_id": name, "txn_status": status} for name, status in (("a", "success"), ("b", "failure"))]
    linked.append({"txn_id": "c", "txn_status": "success"})
    stage.objects["/invoices/inv_C1"] = {"invoice": {**INVOICE, "linked_payments": linked}}
    assert [fact.sale_ids for fact in facts(stage, sent)] == [("a",), ("c",)]


@pytest.mark.parametrize("change", [{"reason_code": "waiver"}, {"status": "voided"}])
def test_other_credit_notes_are_no_chargebacks(stage, change):
    note = {"id": "CN-2", "reference_invoice_id": "inv_C1", "reason_code": "chargeback", **change}
    sent = stage.event("credit_note_updated", {"credit_note": note})
    assert facts(stage, sent) == [IgnoredFact("no_money_moved")]


def test_whatever_tells_of_a_chargeback_has_the_same_id(stage):
    late = {**TRANSACTION, "status": "late_failure"}
    back = {**TRANSACTION, "id": "txn_C9", "type": "payment_reversal", "linked_payments": [{"id": "txn_C1"}]}
    sent = [stage.event("transaction_updated", {"transaction": each}) for each in (late, back)]
    assert {(fact.dispute_id, fact.sale_ids) for fact in facts(stage, *sent)} == {("txn_C1", ("txn_C1",))}
    with pytest.raises(UnreadableEvent):
        facts(stage, stage.event("transaction_created", {"transaction": {**back, "linked_payments": []}}))
    assert facts(stage, stage.event("transaction_created", PAID)) == [IgnoredFact("no_money_moved")]


def test_a_trial_is_a_start_and_a_paid_subscription_only_a_referral(stage):
    trial = {"subscription": {"id": "cb_s5", "status": "in_trial", "cf_affiliate_slug": "jane"}, "customer": CUSTOMER}
    (start,) = facts(stage, stage.event("subscription_created", trial))
    assert isinstance(start, StartFact)
    assert (start.external_id, start.origin.carriers) == (
        "cb_s5",
        (Carrier("chargebee_custom_field", {"affiliate_slug": "jane"}),),
    )
    (told,) = facts(stage, stage.event("subscription_created", {"subscription": SUBSCRIPTION, "invoice": INVOICE}))
    assert isinstance(told, ReferralFact)


def test_what_is_told_is_read_again_and_only_that_counts(stage):
    sale = stage.pay(Purchase(cents=10_890))
    told = json.loads(sale.notifications[0].body)
    told["content"]["transaction"]["amount"] = 99_999_900
    (paid,) = facts(stage, authenticate(json.dumps(told).encode()))
    assert paid.amount_cents == 10_890

    told["id"] = "ev_made_up"
    assert facts(stage, authenticate(json.dumps(told).encode())) == [IgnoredFact("unknown_at_gateway")]
    told["id"] = "../events"
    assert facts(stage, authenticate(json.dumps(told).encode())) == [IgnoredFact("unknown_at_gateway")]


def test_an_event_that_is_read_under_another_id_is_refused(stage):
    sale = stage.pay(Purchase())
    told = json.loads(sale.notifications[0].body)
    stage.objects["/events/ev_x"] = {"event": told}
    with pytest.raises(UnreadableEvent):
        facts(stage, authenticate(json.dumps({**told, "id": "ev_x"}).encode()))


@pytest.mark.parametrize(
    ("currency", "amount", "cents"),
    [("JPY", 1500, 1500), ("KRW", 1500, 1500), ("USD", 1500, 1500), ("KWD", 1500, 15_000)],
)
def test_amounts_have_no_decimals_or_two(stage, currency, amount, cents):
    told = {"currency_code": currency, "amount": amount}
    assert _paid(stage, told, {"tax": 0, "total": amount}).amount_cents == cents


@pytest.mark.parametrize(
    "change",
    [{"amount": value} for value in (None, -1, 1.5, "1.5", True, 10**13, [], "9" * 500)]
    + [{"currency_code": "ISK"}, {"currency_code": None}, {"id": None}, {"id": "x" * 500}, {"date": "soon"}],
)
def test_what_cannot_be_read_is_no_money(stage, change):
    with pytest.raises(UnreadableEvent):
        _paid(stage, change)


@pytest.mark.parametrize(
    "header",
    ["", "Basic", "Basic !", "Bearer ZmluZGVyZmVl", "Basic Og==", "Basic " + "A" * 500, "Basic \xe9"],
)
def test_other_headers_prove_nothing(stage, header):
    sent = replace(stage.pay(Purchase()).notifications[0], headers={"Authorization": header})
    with pytest.raises(NotProved):
        GATEWAY.prove(account(stage), inbound(sent))


def test_user_and_password_count_together(stage):
    rotated = GatewayAccount(
        "live",
        {**stage.credentials, "webhookPassword": "new"},
        former=({"webhookUser": "old", "webhookPassword": "b"},),
    )
    for user, password in ((USER, "new"), ("old", "b")):
        assert GATEWAY.prove(rotated, inbound(authenticate(b"{}", user=user, password=password))).deliveries
    for user, password in (("old", "new"), (USER, "b"), (USER, PASSWORD), (USER, "")):
        with pytest.raises(NotProved):
            GATEWAY.prove(rotated, inbound(authenticate(b"{}", user=user, password=password)))


def test_a_pair_that_was_not_typed_is_made_shown_once_and_counts_until_one_is_typed(stage):
    bare = GatewayAccount("live", {"site": "acme", "apiKey": "k"})
    subscribed = GATEWAY.subscribe(bare, "https://finderfee.example/x")
    made = dict(subscribed.made)
    assert set(made) == {"webhookUser", "webhookPassword"}
    assert made.items() <= dict(subscribed.setup.values).items()
    sent = authenticate(b"{}", user=made["webhookUser"], password=made["webhookPassword"])
    assert GATEWAY.prove(replace(bare, made=made), inbound(sent)).deliveries

    typed = replace(account(stage), made=made)
    assert GATEWAY.prove(typed, inbound(authenticate(b"{}"))).deliveries
    with pytest.raises(NotProved):
        GATEWAY.prove(typed, inbound(sent))
    assert GATEWAY.subscribe(account(stage), "https://finderfee.example/x").made == {}


@pytest.mark.parametrize("site", ["acme", "acme.chargebee.com", "https://Acme.chargebee.com/"])
def test_a_site_is_found_by_its_name_or_address(stage, site):
    assert GATEWAY.check(account(stage, site=site)).account == "acme"


@pytest.mark.parametrize("site", ["", "acme.example.com", "evil.com/", "a b", "acme@evil", "x" * 500])
def test_a_site_that_is_none_is_never_called(stage, site):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(account(stage, site=site))
    assert stage.calls == []


def test_what_happens_to_a_payment_later_is_listed_apart_from_it(stage):
    stage.pay(Purchase())
    for number in range(120):
        stage.event(
            "transaction_updated", {"transaction": {**TRANSACTION, "id": f"t{number}", "status": "late_failure"}}
        )
    found = list_facts(stage, stage.now - timedelta(hours=1))
    assert len(found) == 121
    assert sum(asked.path == "/api/v2/events" for asked in stage.calls) == 2
