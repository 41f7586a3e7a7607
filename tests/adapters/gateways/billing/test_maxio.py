"""maxio: signed forms, refunds that name no payment, times in US Eastern, chargebacks that only lists tell."""

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
from tests.support.gateways.deliveries import account, facts, inbound, list_deliveries, list_facts
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
PLACED = {"transaction_id": 7104, "payment_id": 7001, "original_amount": "16.0", "applied_amount": "16.0"}


def _paid(stage, transaction=None, subscription=None):
    payload = {
        "site": {"subdomain": "acme"},
        "subscription": {**SUBSCRIPTION, **(subscription or {})},
        "transaction": {**TRANSACTION, **(transaction or {})},
    }
    (fact,) = facts(stage, stage.webhook("payment_success", payload))
    return fact


def _refunds(stage, *placed, payload=None, **invoice):
    stage.add_invoice({**INVOICE, "refunds": list(placed), **invoice})
    return facts(stage, stage.webhook("refund_success", {**REFUND, **(payload or {})}))


def test_the_test_vector_holds_and_is_a_ping(stage):
    header = "e44a03445368e84abc4f064181374eee36460a1b348e29ab8adf5e4ffc314210"
    sent = Notification(b"id=1&event=test&payload[chargify]=testing", {SIGNATURE: header})
    assert facts(stage, sent) == [IgnoredFact("ping")]
    assert [delivery.key for delivery in list_deliveries(stage, sent)] == ["1"]


def test_the_older_signature_is_never_taken(stage):
    body = b"id=1&event=test"
    digest = hashlib.md5(SHARED.encode() + body).hexdigest()
    for headers in ({"X-Chargify-Webhook-Signature": digest}, {SIGNATURE: digest}, {SIGNATURE: ""}, {}):
        with pytest.raises(NotProved):
            GATEWAY.prove(account(stage), inbound(Notification(body, headers)))


def test_a_first_payment_as_it_is_sent(stage):
    paid = _paid(stage)

    assert (paid.external_id, paid.amount_cents, paid.currency, paid.net_cents) == ("7001", 6400, "USD", None)
    assert paid.paid_at == datetime(2026, 1, 2, 3, tzinfo=UTC)
    assert (paid.origin.customer_id, paid.origin.subscription_id, paid.origin.email) == (
        "301",
        "501",
        "ann@example.com",
    )
    assert paid.origin.carriers == (Carrier("maxio_reference_id", {"affiliate_slug": "jane"}),)
    assert paid.origin.codes == (RedeemedCode("JANE10", "maxio_coupon_code"),)


def test_an_invoice_tells_the_tax_and_whether_a_code_still_reduces(stage):
    stage.add_invoice({**INVOICE})
    paid = _paid(stage)
    assert (paid.net_cents, [code.text for code in paid.origin.codes]) == (5000, ["OTHER", "JANE10"])
    stage.invoices[0]["discounts"] = []
    assert _paid(stage).origin.codes == ()


def test_metadata_counts_before_the_reference(stage):
    for path, slug in (("subscriptions/501", "bob"), ("customers/301", "carl")):
        stage.objects[f"/{path}/metadata.json"] = {
            "metadata": [{"name": "affiliate_slug", "value": slug}, {"name": "x"}]
        }
    paid = _paid(stage)
    assert [carrier.method for carrier in paid.origin.carriers] == ["maxio_metadata"] * 2 + ["maxio_reference_id"]
    assert [carrier.fields["affiliate_slug"] for carrier in paid.origin.carriers] == ["bob", "carl", "jane"]


@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("2026-01-01 22:00:00 -0500", datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("2026-01-01 22:00:00", datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("2026-07-01 22:00:00", datetime(2026, 7, 2, 2, tzinfo=UTC)),
        ("2026-01-01T22:00:00-05:00", datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("2026-01-02T03:00:00Z", datetime(2026, 1, 2, 3, tzinfo=UTC)),
    ],
)
def test_times_are_us_eastern_unless_they_say_more(stage, told, at):
    assert _paid(stage, {"created_at": told}).paid_at == at


@pytest.mark.parametrize(
    "change",
    [
        *({"amount_in_cents": value} for value in ("", "-1", "1.5", "64e2", "9" * 500, "10000000000000")),
        *({"created_at": "soon"}, {"created_at": None}, {"id": ""}, {"id": "9" * 500}),
    ],
)
def test_what_cannot_be_read_is_no_money(stage, change):
    with pytest.raises(UnreadableEvent):
        _paid(stage, change)


@pytest.mark.parametrize("change", [{"success": "false"}, {"type": "Adjustment"}])
def test_other_transactions_are_no_payments(stage, change):
    assert _paid(stage, change) == IgnoredFact("no_money_moved")


def test_how_yen_are_counted_is_said_by_an_invoice_or_by_nobody(stage):
    with pytest.raises(UnreadableEvent):
        _paid(stage, subscription={"currency": "JPY"})
    yen = {"original_amount": "6400.0", "applied_amount": "6400.0"}
    stage.add_invoice({**INVOICE, "currency": "JPY", "payments": [{**PAYMENT, **yen}], "tax_amount": "0.0"})
    assert _paid(stage, {"amount_in_cents": "640000"}, {"currency": "JPY"}).amount_cents == 6400


def test_coupon_of_an_invoice_has_its_id_and_the_typed_subcode(stage):
    coupon = {"code": "JANE", "source_type": "Coupon", "source_id": 62}
    ad_hoc = {"code": "SORRY", "source_type": "Ad Hoc Coupon", "source_id": 9}
    stage.add_invoice({**INVOICE, "discounts": [coupon, ad_hoc]})
    codes = _paid(stage).origin.codes
    assert [(code.text, code.id) for code in codes] == [("JANE", "62"), ("JANE10", "62")]

    stage.invoices[0]["discounts"] = [coupon, {"code": "BEN", "source_type": "Coupon", "source_id": 63}]
    codes = _paid(stage).origin.codes
    assert [(code.text, code.id) for code in codes] == [("JANE", "62"), ("BEN", "63")]


def test_a_currency_that_the_event_leaves_out_is_the_sites(stage):
    assert _paid(stage, subscription={"currency": ""}).currency == "USD"


def test_codes_of_a_list_are_read(stage):
    several = {"coupon_code": "A", "coupon_codes": {"0": "A", "1": "B"}}
    assert [code.text for code in _paid(stage, subscription=several).origin.codes] == ["A", "B"]


def test_a_trial_as_it_is_sent_is_a_start(stage):
    trial = {
        "id": "505",
        "state": "trialing",
        "signup_revenue": "0.00",
        "coupon_code": "JANE10",
        "customer": {"id": "305", "email": "eve@example.com"},
    }
    stage.objects["/subscriptions/505.json"] = {"subscription": {**trial, "created_at": "2026-01-01T22:00:00-05:00"}}
    (start,) = facts(stage, stage.webhook("signup_success", {"subscription": trial}))
    assert isinstance(start, StartFact)
    assert (start.external_id, start.started_at) == ("505", datetime(2026, 1, 2, 3, tzinfo=UTC))
    assert [code.text for code in start.origin.codes] == ["JANE10"]
    paid = {**trial, "state": "active", "signup_revenue": "64.00"}
    sent = stage.webhook("signup_success", {"subscription": paid})
    assert facts(stage, sent) == [IgnoredFact("duplicate_of_another_event")]


def test_a_refund_is_placed_by_the_invoice_that_has_its_id(stage):
    other = {"transaction_id": 7103, "payment_id": 6001, "original_amount": "16.0"}
    (refund,) = _refunds(stage, other, PLACED)
    assert (refund.refund_id, refund.sale_ids, refund.amount_cents, refund.currency) == ("7104", ("7001",), 1600, "USD")
    assert refund.refunded_at == datetime(2026, 1, 3, tzinfo=UTC)


def test_a_refund_under_another_id_is_placed_by_its_amount_and_goes_by_the_invoices_id(stage):
    (refund,) = _refunds(
        stage, {**PLACED, "transaction_id": 88}, {**PLACED, "transaction_id": 89, "original_amount": "1.0"}
    )
    assert (refund.refund_id, refund.sale_ids, refund.amount_cents) == ("88", ("7001",), 1600)


@pytest.mark.parametrize(
    "placed",
    [
        [],
        [{**PLACED, "transaction_id": 88}, {**PLACED, "transaction_id": 89, "payment_id": 7002}],
        [{**PLACED, "transaction_id": 88, "original_amount": "15.99"}],
        [{**PLACED, "original_amount": "15.99"}],
        [{**PLACED, "payment_id": None}],
        [{**PLACED, "transaction_id": None}],
    ],
    ids=["none", "two payments", "another amount", "contradicted", "no payment", "no id"],
)
def test_a_refund_that_the_invoices_do_not_confirm_waits(stage, placed):
    assert _refunds(stage, *placed) == [UnclearFact("not_confirmed")]


def test_unreadable_refund_of_another_payment_does_not_keep_a_refund_from_its_own(stage):
    other = {**PLACED, "transaction_id": 7105, "original_amount": "a lot"}
    (refund,) = _refunds(stage, other, PLACED)
    assert (refund.refund_id, refund.amount_cents) == ("7104", 1600)


def test_refund_whose_own_amount_is_unreadable_waits(stage):
    assert _refunds(stage, {**PLACED, "original_amount": "a lot"}) == [UnclearFact("not_confirmed")]


def test_a_refund_in_yen_is_placed_only_by_its_id(stage):
    yen = {**PLACED, "original_amount": "1600.0"}
    (refund,) = _refunds(stage, yen, currency="JPY")
    assert refund.amount_cents == 1600
    waits = _refunds(stage, yen, payload={"refund_id": "9", "amount_in_cents": "160000"}, currency="JPY")
    assert waits == [UnclearFact("not_confirmed")]


def test_a_site_without_invoices_cannot_place_a_refund(stage):
    sent = stage.webhook("refund_success", REFUND)
    stage.answer = lambda asked: (404, {"errors": ["Not found"]})
    assert facts(stage, sent) == [UnclearFact("not_confirmed")]


def test_what_was_missed_is_listed_once_and_without_what_is_older(stage):
    new = {**PAYMENT, "transaction_id": 7002, "transaction_time": stage.now.isoformat()}
    kept = {**new, "transaction_id": 7003, "prepayment": True}
    stage.objects["/subscriptions/501.json"] = {"subscription": SUBSCRIPTION}
    stage.add_invoice({**INVOICE, "payments": [PAYMENT, new, kept], "refunds": [PLACED]})
    stage.webhook("refund_success", REFUND)
    for _ in range(210):
        stage.webhook("statement_settled", {})

    found = list_facts(stage, stage.now - timedelta(hours=1))
    assert set(found) == {"reconcile:7002", "reconcile:7104"}
    assert found["reconcile:7002"][0].amount_cents == 6400
    assert found["reconcile:7104"][0].sale_ids == ("7001",)


@pytest.mark.parametrize(("status", "state"), [("open", "opened"), ("lost", "lost"), ("won", "won"), ("closed", None)])
def test_chargebacks_are_found_in_the_list_of_invoice_events(stage, status, state):
    stage.add_invoice({**INVOICE})
    told = {"event_data": {"chargeback_status": status}, "timestamp": "2026-01-05T00:00:00Z"}
    stage.chargebacks.append({"id": 83, "invoice": {"uid": "inv_1"}, **told})
    (fact,) = list_facts(stage, datetime(2026, 1, 1, tzinfo=UTC))["reconcile:chargeback:83"]
    if state is None:
        assert fact == IgnoredFact("no_money_moved")
    else:
        at = datetime(2026, 1, 5, tzinfo=UTC)
        assert fact == DisputeFact(dispute_id="inv_1", sale_ids=("7001",), state=DisputeState(state), at=at)
        stage.invoices[0]["payments"] = [PAYMENT, {**PAYMENT, "transaction_id": 7002}]
        found = list_facts(stage, datetime(2026, 1, 1, tzinfo=UTC))
        assert found["reconcile:chargeback:83"] == [UnclearFact("not_confirmed")]


def test_the_endpoint_is_made_and_silenced(stage):
    own = account(stage)
    made = GATEWAY.subscribe(own, ADDRESS)
    place = f"/endpoints/{made.made['endpoint']}.json"
    wanted = ["payment_success", "refund_success", "signup_success"]
    assert stage.objects[place] == {"endpoint": {"url": ADDRESS, "webhook_subscriptions": wanted}}
    assert made.setup.steps == ()
    connected = GatewayAccount("live", own.credentials, made.made)
    GATEWAY.unsubscribe(connected)
    assert stage.objects[place]["endpoint"]["webhook_subscriptions"] == []
    del stage.objects[place]
    GATEWAY.unsubscribe(connected)


@pytest.mark.parametrize(("faults", "is_made", "steps"), [(["forbid"], False, 2), (["", "forbid"], True, 1)])
def test_what_the_key_may_not_do_is_left_to_the_brand(stage, faults, is_made, steps):
    stage.faults.extend(faults)
    subscribed = GATEWAY.subscribe(account(stage), ADDRESS)
    assert (bool(subscribed.made), len(subscribed.setup.steps)) == (is_made, steps)


def test_an_endpoint_that_could_not_be_switched_on_is_taken_back(stage):
    stage.faults.extend(["", "fail"])
    with pytest.raises(GatewayUnreachable):
        GATEWAY.subscribe(account(stage), ADDRESS)
    assert stage.objects["/endpoints/1.json"]["endpoint"]["webhook_subscriptions"] == []


@pytest.mark.parametrize(
    "typed", [{"subdomain": "acme.example.com"}, {"subdomain": "a/b"}, {"subdomain": ""}, {"region": "mars"}]
)
def test_a_place_that_is_none_is_never_called(stage, typed):
    with pytest.raises(CredentialsRefused):
        GATEWAY.check(account(stage, **typed))
    assert stage.calls == []
    assert GATEWAY.check(account(stage, subdomain="https://Acme.chargify.com/", region="EU")).account == "acme"


def test_a_form_that_is_none_is_kept_as_it_came(stage):
    for body in (b"id=1&event", b"event=payment_success&payload[transaction][id]=1" + b"&a[b]=1" * 2000, b"\xff=1"):
        (delivery,) = list_deliveries(stage, sign(body))
        assert delivery.raw == body
        with pytest.raises(UnreadableEvent):
            GATEWAY.facts(account(stage), delivery)
