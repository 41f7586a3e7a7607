"""Maxio: signed forms, refunds without a payment id, times in US Eastern, chargebacks that appear only in lists."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayUnreachable, NotProved
from adapters.gateways.billing.maxio import GATEWAY
from domain.gateways.facts import (
    Carrier,
    DisputeFact,
    DisputeState,
    IgnoredFact,
    RedeemedCode,
    StartFact,
    UnclearFact,
    UnreadableEvent,
)
from tests.support.gateways.billing.maxio import SHARED, SIGNATURE, sign
from tests.support.gateways.deliveries import build_account, build_inbound, list_deliveries, list_facts, read_facts
from tests.support.gateways.stage import Notification

ADDRESS = "https://finderfee.example/api/gateways/maxio/token"
SUBSCRIPTION = {
    "id": "501",
    "state": "active",
    "currency": "USD",
    "coupon_code": "JANE10",
    "reference": "jane",
    "signup_payment_id": "7001",
    "customer": {"id": "301", "email": "ann@example.com"},
}
TRANSACTION = {
    "id": "7001",
    "type": "Payment",
    "success": "true",
    "amount_in_cents": "6400",
    "created_at": "2026-01-01 22:00:00 -0500",
}
PAYMENT = {
    "transaction_id": 7001,
    "transaction_time": "2025-12-31T00:00:00Z",
    "original_amount": "64.0",
    "applied_amount": "64.0",
}
INVOICE = {
    "uid": "inv_1",
    "subscription_id": 501,
    "currency": "USD",
    "total_amount": "64.0",
    "tax_amount": "14.0",
    "updated_at": "2026-01-03T00:00:00Z",
    "discounts": [{"code": "OTHER"}],
    "payments": [PAYMENT],
    "refunds": [],
}
REFUND = {"refund_id": "7104", "amount_in_cents": "1600", "subscription_id": "501", "currency": "USD", "memo": "Refund"}
INVOICE_REFUND = {"transaction_id": 7104, "payment_id": 7001, "original_amount": "16.0", "applied_amount": "16.0"}


def _read_payment(stage, transaction=None, subscription=None):
    payload = {
        "site": {"subdomain": "acme"},
        "subscription": {**SUBSCRIPTION, **(subscription or {})},
        "transaction": {**TRANSACTION, **(transaction or {})},
    }
    (fact,) = read_facts(stage, stage.webhook("payment_success", payload))
    return fact


def _read_refunds(stage, *invoice_refunds, payload=None, **invoice):
    stage.add_invoice({**INVOICE, "refunds": list(invoice_refunds), **invoice})
    return read_facts(stage, stage.webhook("refund_success", {**REFUND, **(payload or {})}))


def test_signature_of_the_test_vector_is_valid_and_is_a_ping(stage):
    header = "e44a03445368e84abc4f064181374eee36460a1b348e29ab8adf5e4ffc314210"
    notification = Notification(b"id=1&event=test&payload[chargify]=testing", {SIGNATURE: header})
    assert read_facts(stage, notification) == [IgnoredFact("ping")]
    assert [delivery.key for delivery in list_deliveries(stage, notification)] == ["1"]


def test_md5_signature_is_rejected(stage):
    body = b"id=1&event=test"
    digest = hashlib.md5(SHARED.encode() + body).hexdigest()
    for headers in ({"X-Chargify-Webhook-Signature": digest}, {SIGNATURE: digest}, {SIGNATURE: ""}, {}):
        with pytest.raises(NotProved):
            GATEWAY.prove(build_account(stage), build_inbound(Notification(body, headers)))


def test_first_payment_is_read(stage):
    payment = _read_payment(stage)

    assert (payment.external_id, payment.amount_cents, payment.currency, payment.net_cents) == (
        "7001",
        6400,
        "USD",
        None,
    )
    assert payment.paid_at == datetime(2026, 1, 2, 3, tzinfo=UTC)
    assert (payment.origin.customer_id, payment.origin.subscription_id, payment.origin.email) == (
        "301",
        "501",
        "ann@example.com",
    )
    assert payment.origin.carriers == (Carrier("maxio_reference_id", {"affiliate_slug": "jane"}),)
    assert payment.origin.codes == (RedeemedCode("JANE10", "maxio_coupon_code"),)


def test_invoice_gives_tax_and_applied_codes(stage):
    stage.add_invoice({**INVOICE})
    payment = _read_payment(stage)
    assert (payment.net_cents, [code.text for code in payment.origin.codes]) == (5000, ["OTHER", "JANE10"])
    stage.invoices[0]["discounts"] = []
    assert _read_payment(stage).origin.codes == ()


def test_metadata_precedes_the_reference(stage):
    for path, slug in (("subscriptions/501", "bob"), ("customers/301", "carl")):
        stage.objects[f"/{path}/metadata.json"] = {
            "metadata": [{"name": "affiliate_slug", "value": slug}, {"name": "x"}]
        }
    payment = _read_payment(stage)
    assert [carrier.method for carrier in payment.origin.carriers] == ["maxio_metadata"] * 2 + ["maxio_reference_id"]
    assert [carrier.fields["affiliate_slug"] for carrier in payment.origin.carriers] == ["bob", "carl", "jane"]


@pytest.mark.parametrize(
    ("time_text", "at"),
    [
        ("2026-01-01 22:00:00 -0500", datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("2026-01-01 22:00:00", datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("2026-07-01 22:00:00", datetime(2026, 7, 2, 2, tzinfo=UTC)),
        ("2026-01-01T22:00:00-05:00", datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("2026-01-02T03:00:00Z", datetime(2026, 1, 2, 3, tzinfo=UTC)),
    ],
)
def test_time_without_a_zone_is_us_eastern(stage, time_text, at):
    assert _read_payment(stage, {"created_at": time_text}).paid_at == at


@pytest.mark.parametrize(
    "change",
    [
        *({"amount_in_cents": value} for value in ("", "-1", "1.5", "64e2", "9" * 500, "10000000000000")),
        *({"created_at": "soon"}, {"created_at": None}, {"id": ""}, {"id": "9" * 500}),
    ],
)
def test_malformed_payment_is_unreadable(stage, change):
    with pytest.raises(UnreadableEvent):
        _read_payment(stage, change)


@pytest.mark.parametrize("change", [{"success": "false"}, {"type": "Adjustment"}])
def test_other_transactions_move_no_money(stage, change):
    assert _read_payment(stage, change) == IgnoredFact("no_money_moved")


def test_yen_amount_requires_an_invoice(stage):
    with pytest.raises(UnreadableEvent):
        _read_payment(stage, subscription={"currency": "JPY"})
    yen = {"original_amount": "6400.0", "applied_amount": "6400.0"}
    stage.add_invoice({**INVOICE, "currency": "JPY", "payments": [{**PAYMENT, **yen}], "tax_amount": "0.0"})
    assert _read_payment(stage, {"amount_in_cents": "640000"}, {"currency": "JPY"}).amount_cents == 6400


def test_coupon_has_its_id_and_the_entered_subcode(stage):
    coupon = {"code": "JANE", "source_type": "Coupon", "source_id": 62}
    ad_hoc = {"code": "SORRY", "source_type": "Ad Hoc Coupon", "source_id": 9}
    stage.add_invoice({**INVOICE, "discounts": [coupon, ad_hoc]})
    codes = _read_payment(stage).origin.codes
    assert [(code.text, code.id) for code in codes] == [("JANE", "62"), ("JANE10", "62")]

    stage.invoices[0]["discounts"] = [coupon, {"code": "BEN", "source_type": "Coupon", "source_id": 63}]
    codes = _read_payment(stage).origin.codes
    assert [(code.text, code.id) for code in codes] == [("JANE", "62"), ("BEN", "63")]


def test_missing_currency_defaults_to_the_currency_of_the_site(stage):
    assert _read_payment(stage, subscription={"currency": ""}).currency == "USD"


def test_several_coupon_codes_are_read(stage):
    subscription = {"coupon_code": "A", "coupon_codes": {"0": "A", "1": "B"}}
    assert [code.text for code in _read_payment(stage, subscription=subscription).origin.codes] == ["A", "B"]


def test_trial_is_a_start(stage):
    trial = {
        "id": "505",
        "state": "trialing",
        "signup_revenue": "0.00",
        "coupon_code": "JANE10",
        "customer": {"id": "305", "email": "eve@example.com"},
    }
    stage.objects["/subscriptions/505.json"] = {"subscription": {**trial, "created_at": "2026-01-01T22:00:00-05:00"}}
    (start,) = read_facts(stage, stage.webhook("signup_success", {"subscription": trial}))
    assert isinstance(start, StartFact)
    assert (start.external_id, start.started_at) == ("505", datetime(2026, 1, 2, 3, tzinfo=UTC))
    assert [code.text for code in start.origin.codes] == ["JANE10"]
    payment = {**trial, "state": "active", "signup_revenue": "64.00"}
    notification = stage.webhook("signup_success", {"subscription": payment})
    assert read_facts(stage, notification) == [IgnoredFact("duplicate_of_another_event")]


def test_refund_is_matched_by_its_id_on_the_invoice(stage):
    other = {"transaction_id": 7103, "payment_id": 6001, "original_amount": "16.0"}
    (refund,) = _read_refunds(stage, other, INVOICE_REFUND)
    assert (refund.refund_id, refund.sale_ids, refund.amount_cents, refund.currency) == ("7104", ("7001",), 1600, "USD")
    assert refund.refunded_at == datetime(2026, 1, 3, tzinfo=UTC)


def test_refund_with_another_id_is_matched_by_amount_and_takes_the_invoices_id(stage):
    (refund,) = _read_refunds(
        stage,
        {**INVOICE_REFUND, "transaction_id": 88},
        {**INVOICE_REFUND, "transaction_id": 89, "original_amount": "1.0"},
    )
    assert (refund.refund_id, refund.sale_ids, refund.amount_cents) == ("88", ("7001",), 1600)


@pytest.mark.parametrize(
    "invoice_refunds",
    [
        [],
        [{**INVOICE_REFUND, "transaction_id": 88}, {**INVOICE_REFUND, "transaction_id": 89, "payment_id": 7002}],
        [{**INVOICE_REFUND, "transaction_id": 88, "original_amount": "15.99"}],
        [{**INVOICE_REFUND, "original_amount": "15.99"}],
        [{**INVOICE_REFUND, "payment_id": None}],
        [{**INVOICE_REFUND, "transaction_id": None}],
    ],
    ids=["none", "two payments", "another amount", "contradicted", "no payment", "no id"],
)
def test_refund_without_a_matching_invoice_is_unclear(stage, invoice_refunds):
    assert _read_refunds(stage, *invoice_refunds) == [UnclearFact("not_confirmed")]


def test_unreadable_other_refund_is_ignored(stage):
    other = {**INVOICE_REFUND, "transaction_id": 7105, "original_amount": "a lot"}
    (refund,) = _read_refunds(stage, other, INVOICE_REFUND)
    assert (refund.refund_id, refund.amount_cents) == ("7104", 1600)


def test_refund_with_an_unreadable_amount_is_unclear(stage):
    assert _read_refunds(stage, {**INVOICE_REFUND, "original_amount": "a lot"}) == [UnclearFact("not_confirmed")]


def test_yen_refund_is_matched_only_by_id(stage):
    yen = {**INVOICE_REFUND, "original_amount": "1600.0"}
    (refund,) = _read_refunds(stage, yen, currency="JPY")
    assert refund.amount_cents == 1600
    result = _read_refunds(stage, yen, payload={"refund_id": "9", "amount_in_cents": "160000"}, currency="JPY")
    assert result == [UnclearFact("not_confirmed")]


def test_refund_at_a_site_without_invoices_is_unclear(stage):
    notification = stage.webhook("refund_success", REFUND)
    stage.answer = lambda request: (404, {"errors": ["Not found"]})
    assert read_facts(stage, notification) == [UnclearFact("not_confirmed")]


def test_missed_payments_and_refunds_are_listed_once(stage):
    new_payment = {**PAYMENT, "transaction_id": 7002, "transaction_time": stage.now.isoformat()}
    prepayment = {**new_payment, "transaction_id": 7003, "prepayment": True}
    stage.objects["/subscriptions/501.json"] = {"subscription": SUBSCRIPTION}
    stage.add_invoice({**INVOICE, "payments": [PAYMENT, new_payment, prepayment], "refunds": [INVOICE_REFUND]})
    stage.webhook("refund_success", REFUND)
    for _ in range(210):
        stage.webhook("statement_settled", {})

    listed_facts = list_facts(stage, stage.now - timedelta(hours=1))
    assert set(listed_facts) == {"reconcile:7002", "reconcile:7104"}
    assert listed_facts["reconcile:7002"][0].amount_cents == 6400
    assert listed_facts["reconcile:7104"][0].sale_ids == ("7001",)


@pytest.mark.parametrize(("status", "state"), [("open", "opened"), ("lost", "lost"), ("won", "won"), ("closed", None)])
def test_chargebacks_are_found_in_invoice_events(stage, status, state):
    stage.add_invoice({**INVOICE})
    event = {"event_data": {"chargeback_status": status}, "timestamp": "2026-01-05T00:00:00Z"}
    stage.chargebacks.append({"id": 83, "invoice": {"uid": "inv_1"}, **event})
    (fact,) = list_facts(stage, datetime(2026, 1, 1, tzinfo=UTC))["reconcile:chargeback:83"]
    if state is None:
        assert fact == IgnoredFact("no_money_moved")
    else:
        at = datetime(2026, 1, 5, tzinfo=UTC)
        assert fact == DisputeFact(dispute_id="inv_1", sale_ids=("7001",), state=DisputeState(state), at=at)
        stage.invoices[0]["payments"] = [PAYMENT, {**PAYMENT, "transaction_id": 7002}]
        listed_facts = list_facts(stage, datetime(2026, 1, 1, tzinfo=UTC))
        assert listed_facts["reconcile:chargeback:83"] == [UnclearFact("not_confirmed")]


def test_endpoint_is_created_and_disabled(stage):
    own_account = build_account(stage)
    subscribed = GATEWAY.subscribe(own_account, ADDRESS)
    path = f"/endpoints/{subscribed.made['endpoint']}.json"
    expected_events = ["payment_success", "refund_success", "signup_success"]
    assert stage.objects[path] == {"endpoint": {"url": ADDRESS, "webhook_subscriptions": expected_events}}
    assert subscribed.setup.steps == ()
    connected = GatewayAccount("live", own_account.credentials, subscribed.made)
    GATEWAY.unsubscribe(connected)
    assert stage.objects[path]["endpoint"]["webhook_subscriptions"] == []
    del stage.objects[path]
    GATEWAY.unsubscribe(connected)


@pytest.mark.parametrize(("faults", "is_made", "steps"), [(["forbid"], False, 2), (["", "forbid"], True, 1)])
def test_actions_forbidden_to_the_key_become_setup_steps(stage, faults, is_made, steps):
    stage.faults.extend(faults)
    subscribed = GATEWAY.subscribe(build_account(stage), ADDRESS)
    assert (bool(subscribed.made), len(subscribed.setup.steps)) == (is_made, steps)


def test_endpoint_is_disabled_when_enabling_fails(stage):
    stage.faults.extend(["", "fail"])
    with pytest.raises(GatewayUnreachable):
        GATEWAY.subscribe(build_account(stage), ADDRESS)
    assert stage.objects["/endpoints/1.json"]["endpoint"]["webhook_subscriptions"] == []


@pytest.mark.parametrize(
    "credentials", [{"subdomain": "acme.example.com"}, {"subdomain": "a/b"}, {"subdomain": ""}, {"region": "mars"}]
)
def test_malformed_site_or_region_is_never_called(stage, credentials):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(build_account(stage, **credentials))
    assert stage.calls == []
    assert GATEWAY.check(build_account(stage, subdomain="https://Acme.chargify.com/", region="EU")).account == "acme"


def test_malformed_form_is_stored_unchanged(stage):
    for body in (b"id=1&event", b"event=payment_success&payload[transaction][id]=1" + b"&a[b]=1" * 2000, b"\xff=1"):
        (delivery,) = list_deliveries(stage, sign(body))
        assert delivery.raw == body
        with pytest.raises(UnreadableEvent):
            GATEWAY.facts(build_account(stage), delivery)
