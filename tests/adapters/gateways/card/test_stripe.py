"""Stripe: signed header, invoices of both API generations, checkout sessions, cumulative refunds, disputes."""

import json
from datetime import UTC, datetime

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, Inbound, NotProved
from adapters.gateways.card.stripe import GATEWAY
from domain.gateways.facts import (
    AliasFact,
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    StartFact,
)
from domain.gateways.referrals import list_claims
from tests.support.gateways.card.stripe import sign
from tests.support.gateways.deliveries import build_account, build_inbound
from tests.support.gateways.deliveries import read_facts as facts
from tests.support.gateways.stage import Purchase

_PAID, _CREATED = 1_767_322_799, 1_767_322_800
_SUBSCRIBED = {"subscription": "sub_A1", "metadata": {"affiliate_slug": "jane"}}
INVOICE = {
    "id": "in_A1",
    "object": "invoice",
    "status": "paid",
    "billing_reason": "subscription_create",
    "amount_paid": 10_890,
    "total": 10_890,
    "total_excluding_tax": 9_000,
    "total_taxes": [{"amount": 1_890, "tax_behavior": "exclusive"}],
    "total_discount_amounts": [{"amount": 1_000, "discount": "di_A1"}],
    "discounts": ["di_A1"],
    "currency": "eur",
    "customer": "cus_A1",
    "customer_email": "ann@example.com",
    "customer_name": "Ann",
    "metadata": {},
    "parent": {"type": "subscription_details", "subscription_details": _SUBSCRIBED},
    "status_transitions": {"paid_at": _PAID},
    "livemode": True,
}
SESSION = {
    "id": "cs_A3",
    "object": "checkout.session",
    "mode": "payment",
    "payment_status": "paid",
    "amount_total": 5_000,
    "currency": "usd",
    "customer": "cus_A3",
    "customer_details": {"email": "bob@example.com", "name": "Bob"},
    "client_reference_id": "jane",
    "metadata": {"affiliate_slug": "jane"},
    "discounts": [{"coupon": None, "promotion_code": "promo_A1"}],
    "total_details": {"amount_tax": 0, "amount_discount": 0},
    "invoice": None,
    "subscription": None,
    "payment_intent": "pi_A3",
}
CHARGE = {
    "id": "ch_A1",
    "object": "charge",
    "amount": 10_890,
    "amount_refunded": 4_356,
    "refunded": False,
    "currency": "eur",
    "customer": "cus_A1",
    "payment_intent": "pi_A1",
}
DISPUTE = {
    "id": "du_A1",
    "object": "dispute",
    "amount": 10_890,
    "currency": "eur",
    "charge": "ch_A1",
    "payment_intent": "pi_A1",
    "status": "needs_response",
}
TRIAL = {
    "id": "sub_A7",
    "object": "subscription",
    "status": "trialing",
    "customer": "cus_A7",
    "metadata": {"affiliate_slug": "jane"},
    "discounts": ["di_A7"],
    "trial_end": 1_768_532_300,
}


@pytest.fixture
def stage(stage):
    discount = {"id": "di_A1", "promotion_code": "promo_A1", "source": {"coupon": "co_A1"}}
    stage.objects["/v1/invoices/in_A1"] = {**INVOICE, "discounts": [discount]}
    stage.objects["/v1/subscriptions/sub_A7"] = {**TRIAL, "discounts": [discount]}
    stage.objects["/v1/promotion_codes/promo_A1"] = {"id": "promo_A1", "code": "JANE10"}
    return stage


# What Stripe answers for its account to a restricted key without that permission.
_NOT_PERMITTED = (
    f"The provided key 'rk_live_{'*' * 90}abcdef' does not have the required permissions for this endpoint on account"
    " 'acct_1'. Having the 'rak_accounts_kyc_basic_read' permission would allow this request to continue."
)


def _refuse_account(stage, status, message):
    answer = stage.answer
    error = {"error": {"message": message, "type": "invalid_request_error"}}
    stage.answer = lambda call: (status, error) if call.path == "/v1/account" else answer(call)


def test_restricted_key_that_may_not_read_its_account_is_accepted(stage):
    _refuse_account(stage, 403, _NOT_PERMITTED)

    check = GATEWAY.check(build_account(stage))
    assert (check.account, check.identity) == ("acct_1", ("acct_1",))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "Invalid API Key provided: rk_live_****"),
        (401, "Expired API Key provided: rk_live_****"),
        (403, "The provided key 'rk_live_****' does not have access to account 'acct_1'"),
    ],
)
def test_key_that_is_refused_for_another_reason_stays_refused(stage, status, message):
    _refuse_account(stage, status, message)

    with pytest.raises(CredentialsRefused):
        GATEWAY.check(build_account(stage))


def _read_event(stage, kind, data, created=_CREATED, event_id="evt_A1"):
    event = {"id": event_id, "object": "event", "created": created, "livemode": True, "type": kind}
    read_facts = facts(stage, sign(json.dumps({**event, "data": {"object": data}}).encode()))
    assert len(read_facts) == 1
    return read_facts[0]


def _slugs(fact):
    return [(claim.slug, claim.method) for claim in list_claims(fact.origin.carriers, ["via"])]


def _time_of(seconds):
    return datetime.fromtimestamp(seconds, UTC)


def _prove(header, secrets=("whsec_test",), body=b'{"id":"evt_1","object":"event"}', at=1_700_000_000):
    current, *former = ({"webhookSecret": secret} for secret in secrets)
    own_account = GatewayAccount("live", current, former=tuple(former))
    return GATEWAY.prove(own_account, Inbound("POST", {"Stripe-Signature": header}, {}, body, _time_of(at))).deliveries


_DIGEST = "4c15fb2a43f93ef61eaa3e0893866d57cad9cad4223242cfb96f362480cb4021"


def test_signature_covers_time_and_body_within_five_minutes():
    (delivery,) = _prove(f"t=1700000000,v1={_DIGEST}")
    assert (delivery.key, delivery.id, delivery.type) == ("evt_1", "evt_1", "unreadable")
    for secrets in (("new", "whsec_test"), ("whsec_test", "old")):
        assert _prove(f"t=1700000000,v1={'0' * 64},v0=x,v1={_DIGEST}", secrets)
    for received_at in (1_700_000_300, 1_699_999_700):
        assert _prove(f"t=1700000000,v1={_DIGEST}", at=received_at)


@pytest.mark.parametrize(
    "proof",
    [
        {"header": ""},
        {"header": f"v1={_DIGEST}"},
        {"header": f"t=1700000000,v0={_DIGEST}"},
        {"header": f"t=1700000001,v1={_DIGEST}"},
        {"header": f"t=1700000000,t=1700000000,v1={_DIGEST}"},
        {"header": f"t=1700000000,v1={_DIGEST}", "secrets": ("_test",)},
        {"header": f"t=1700000000,v1={_DIGEST}", "body": b'{"id": "evt_1","object":"event"}'},
        {"header": f"t=1700000000,v1={_DIGEST}", "at": 1_700_000_301},
        {"header": f"t=1700000000,v1={_DIGEST}", "at": 1_699_999_699},
    ],
    ids=range(9),
)
def test_invalid_signature_is_rejected(proof):
    with pytest.raises(NotProved):
        _prove(**proof)


def test_first_subscription_invoice_is_a_payment(stage):
    payment = _read_event(stage, "invoice.paid", INVOICE)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.net_cents, payment.currency) == (
        "in_A1",
        10_890,
        9_000,
        "EUR",
    )
    assert (payment.paid_at, payment.origin.is_test) == (_time_of(_PAID), False)
    origin = payment.origin
    assert (origin.customer_id, origin.subscription_id) == ("cus_A1", "sub_A1")
    assert (origin.email, origin.name) == ("ann@example.com", "Ann")
    assert _slugs(payment) == [("jane", "metadata_or_customer")]
    assert [(code.text, code.method, code.id) for code in origin.codes] == [("JANE10", "coupon", "promo_A1")]


def test_renewal_is_the_next_invoice_of_the_same_customer(stage):
    renewal = {"id": "in_A2", "billing_reason": "subscription_cycle", "amount_paid": 12_100, "total": 12_100}
    invoice = {name: INVOICE[name] for name in ("object", "currency", "customer", "parent")} | renewal
    payment = _read_event(stage, "invoice.paid", {**invoice, "discounts": []}, created=1_770_001_200)
    assert (payment.external_id, payment.amount_cents, payment.net_cents) == ("in_A2", 12_100, None)
    assert (payment.paid_at, payment.origin.customer_id, payment.origin.codes) == (
        _time_of(1_770_001_200),
        "cus_A1",
        (),
    )
    assert _slugs(payment) == [("jane", "metadata_or_customer")]


def test_invoice_of_an_older_api_version_is_read(stage):
    newer_fields = ("parent", "total_excluding_tax", "total_taxes")
    older = {name: value for name, value in INVOICE.items() if name not in newer_fields}
    older |= {"subscription": "sub_A1", "subscription_details": {"metadata": {"affiliate_slug": "jane"}}, "tax": 1_890}
    older |= {"charge": "ch_A1", "payment_intent": "pi_A1", "discounts": []}
    payment = _read_event(stage, "invoice.paid", older)
    assert (payment.net_cents, payment.origin.subscription_id, payment.aliases) == (9_000, "sub_A1", ("pi_A1", "ch_A1"))
    assert _slugs(payment) == [("jane", "metadata_or_customer")]


def test_session_without_an_invoice_is_a_payment(stage):
    payment = _read_event(stage, "checkout.session.completed", SESSION, created=1_767_322_900)
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("pi_A3", 5_000, "USD")
    assert (payment.paid_at, payment.origin.email) == (_time_of(1_767_322_900), "bob@example.com")
    assert _slugs(payment) == [("jane", "metadata_or_customer"), ("jane", "stripe_reference_id")]
    assert [code.text for code in payment.origin.codes] == ["JANE10"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"mode": "subscription", "subscription": "sub_A1", "invoice": "in_A1"}, ReferralFact),
        ({"invoice": "in_A1"}, ReferralFact),
        ({"payment_status": "unpaid"}, IgnoredFact),
        ({"mode": "setup"}, IgnoredFact),
        ({"payment_status": "no_payment_required", "payment_intent": None, "amount_total": 0}, StartFact),
    ],
)
def test_session_is_classified_by_mode_and_payment_status(stage, changes, expected):
    assert type(_read_event(stage, "checkout.session.completed", {**SESSION, **changes})) is expected


def test_async_session_payment_is_a_payment(stage):
    assert _read_event(stage, "checkout.session.async_payment_succeeded", SESSION).external_id == "pi_A3"


def test_invoice_payment_gives_aliases(stage):
    intent = {"type": "payment_intent", "payment_intent": "pi_A1"}
    invoice_payment = {
        "id": "inpay_A1",
        "object": "invoice_payment",
        "invoice": "in_A1",
        "payment": intent,
        "status": "paid",
    }
    assert _read_event(stage, "invoice_payment.paid", invoice_payment) == AliasFact(ids=("in_A1", "pi_A1"))


def test_refunded_amount_of_a_charge_is_cumulative(stage):
    assert _read_event(stage, "charge.refunded", CHARGE, created=1_767_409_200) == RefundFact(
        refund_id="ch_A1",
        sale_ids=("pi_A1", "ch_A1"),
        amount_cents=4_356,
        currency="EUR",
        refunded_at=_time_of(1_767_409_200),
        is_cumulative=True,
    )


@pytest.mark.parametrize(
    ("kind", "status", "state"),
    [
        ("charge.dispute.funds_withdrawn", "needs_response", "opened"),
        ("charge.dispute.funds_reinstated", "under_review", "won"),
        ("charge.dispute.closed", "lost", "lost"),
        ("charge.dispute.closed", "won", "won"),
        ("charge.dispute.closed", "warning_closed", None),
        ("charge.dispute.funds_withdrawn", "warning_needs_response", None),
    ],
)
def test_dispute_state_follows_its_event_and_warnings_are_ignored(stage, kind, status, state):
    fact = _read_event(stage, kind, {**DISPUTE, "status": status}, created=1_767_500_000)
    if state is None:
        assert fact == IgnoredFact("no_money_moved")
    else:
        assert isinstance(fact, DisputeFact)
        assert (fact.dispute_id, fact.sale_ids) == ("du_A1", ("pi_A1", "ch_A1"))
        assert (fact.state, fact.at) == (DisputeState(state), _time_of(1_767_500_000))
        assert (fact.amount_cents, fact.currency) == (10_890, "EUR")


def test_trial_is_a_start_with_its_code(stage):
    start = _read_event(stage, "customer.subscription.created", TRIAL, created=1_767_322_700)
    assert isinstance(start, StartFact)
    assert (start.external_id, start.started_at, start.origin.customer_id) == (
        "sub_A7",
        _time_of(1_767_322_700),
        "cus_A7",
    )
    assert (_slugs(start), start.origin.codes[0].text) == ([("jane", "metadata_or_customer")], "JANE10")


@pytest.mark.parametrize(
    ("currency", "amount", "cents"),
    [
        ("jpy", 500, 500),
        ("kwd", 12_340, 12_340),
        ("huf", 50_000, 50_000),
        ("isk", 50_000, 500),
        ("ugx", 50_000, 500),
        ("mga", 500, 50_000),
    ],
)
def test_amount_is_converted_to_our_minor_units(stage, currency, amount, cents):
    invoice = {**INVOICE, "currency": currency, "amount_paid": amount, "total": amount, "total_excluding_tax": None}
    assert _read_event(stage, "invoice.paid", invoice).amount_cents == cents


@pytest.mark.parametrize("currency", ["isk", "ugx"])
@pytest.mark.parametrize(("amount", "units"), [(50_001, 500), (50_050, 500), (50_150, 502)])
def test_excess_decimals_are_rounded_half_even(stage, currency, amount, units):
    invoice = {**INVOICE, "currency": currency, "amount_paid": amount}
    assert _read_event(stage, "invoice.paid", invoice).amount_cents == units


def test_customer_metadata_is_looked_up(stage):
    sale = stage.pay(Purchase(slug=None))
    customer = {"id": "cus_1", "email": "ann@example.com", "metadata": {"affiliate_slug": "anna"}}
    stage.objects["/v1/customers/cus_1"] = customer
    (payment,) = [fact for fact in facts(stage, *sale.notifications) if isinstance(fact, PaymentFact)]
    detailed_origin = GATEWAY.look_closer(build_account(stage), payment.origin)
    assert [claim.slug for claim in list_claims(detailed_origin.carriers, ["via"])] == ["anna"]


def test_event_id_is_the_delivery_key(stage):
    body = json.dumps({"id": "evt_A4", "type": "invoice.paid", "data": {"object": INVOICE}}).encode()
    (delivery,) = GATEWAY.prove(build_account(stage), build_inbound(sign(body))).deliveries
    assert (delivery.key, delivery.id, delivery.type) == ("evt_A4", "evt_A4", "invoice.paid")
