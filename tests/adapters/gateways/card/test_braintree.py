"""Braintree: signed XML forms, the challenge, samples, and objects that only a search finds."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from adapters.gateways.base import GatewayAccount, GatewayUnreachable, NotProved
from adapters.gateways.card import braintree_xml
from adapters.gateways.card.braintree import GATEWAY
from domain.gateways.facts import (
    CancelledFact,
    DisputeFact,
    DisputeState,
    IgnoredFact,
    PaymentFact,
    RefundFact,
    RestoredFact,
    UnreadableEvent,
)
from domain.gateways.referrals import list_claims
from tests.support.gateways.card.braintree import sign
from tests.support.gateways.deliveries import build_account, build_inbound, list_deliveries, list_facts, read_facts
from tests.support.gateways.stage import Notification, Purchase

CHARGED = (
    b"<notification><kind>subscription_charged_successfully</kind>"
    b'<timestamp type="datetime">2026-01-02T03:00:01Z</timestamp><subject><subscription><id>bt_sub1</id>'
    b'<plan-id>pro</plan-id><current-billing-cycle type="integer">1</current-billing-cycle><add-ons type="array"/>'
    b'<discounts type="array"/><transactions type="array"><transaction><id>bt_tx1</id><type>sale</type>'
    b'<status>submitted_for_settlement</status><amount>49.99</amount><tax-amount nil="true"/>'
    b"<currency-iso-code>USD</currency-iso-code><subscription-id>bt_sub1</subscription-id>"
    b"<custom-fields><affiliate-slug>jane</affiliate-slug></custom-fields><customer><id>bt_c1</id>"
    b"<email>ann@example.com</email><first-name>Ann</first-name></customer>"
    b'<created-at type="datetime">2026-01-02T03:00:00Z</created-at></transaction></transactions></subscription>'
    b"</subject></notification>"
)
CHARGEBACK = (
    b"<notification><kind>dispute_opened</kind>"
    b'<timestamp type="datetime">2026-02-02T00:00:00Z</timestamp><subject><dispute><id>bt_d1</id>'
    b"<kind>chargeback</kind><status>open</status><amount>49.99</amount><amount-disputed>49.99</amount-disputed>"
    b"<amount-won>0.00</amount-won><currency-iso-code>USD</currency-iso-code>"
    b"<transaction><id>bt_tx1</id><amount>49.99</amount></transaction></dispute></subject></notification>"
)
PING = (
    b'<notification><kind>check</kind><timestamp type="datetime">2026-01-02T03:04:05Z</timestamp>'
    b'<subject><check type="boolean">true</check></subject></notification>'
)
_KEYS = {"merchantId": "m", "publicKey": "pub", "privateKey": "priv"}


def _signed_with(old: bytes, new: bytes, document: bytes = CHARGED) -> Notification:
    assert old in document
    return sign(document.replace(old, new))


def _credit(**other: str) -> dict[str, str]:
    credit = {"id": "bt_tx4", "type": "credit", "amount": "20.00", "currency-iso-code": "USD"}
    return {**credit, "refunded-transaction-id": "bt_tx1", **other}


def test_known_challenge_is_answered():
    request = Notification(b"", method="GET", query={"bt_challenge": "20f9f8ed05f77439fe955c977e4c8a53"})
    proved = GATEWAY.prove(GatewayAccount("live", _KEYS), build_inbound(request))
    assert proved.body == b"pub|5d50acea216b983cf6c6d424dbaa95d601aed729"
    assert (proved.deliveries, proved.status) == ((), 200)


@pytest.mark.parametrize("challenge", ["", "20f9", "20F9F8ED05F77439FE955C977E4C8A53", "a" * 33, "g" * 20])
def test_malformed_challenge_is_rejected(challenge):
    request = Notification(b"", method="GET", query={"bt_challenge": challenge})
    with pytest.raises(NotProved):
        GATEWAY.prove(GatewayAccount("live", _KEYS), build_inbound(request))


def test_subscription_charge_is_a_payment(stage):
    (payment,) = read_facts(stage, sign(CHARGED))
    assert isinstance(payment, PaymentFact)
    assert (payment.external_id, payment.amount_cents, payment.currency) == ("bt_tx1", 4999, "USD")
    assert payment.paid_at == datetime(2026, 1, 2, 3, tzinfo=UTC)
    assert (payment.origin.subscription_id, payment.origin.customer_id) == ("bt_sub1", "bt_c1")
    assert (payment.origin.email, payment.origin.name, payment.net_cents) == ("ann@example.com", "Ann", None)
    assert [(claim.slug, claim.method) for claim in list_claims(payment.origin.carriers, [])] == [
        ("jane", "braintree_custom_field")
    ]


def test_later_cycle_is_another_payment_of_the_same_customer(stage):
    cycle = CHARGED.replace(b'"integer">1<', b'"integer">2<')
    (payment,) = read_facts(stage, _signed_with(b"<id>bt_tx1</id>", b"<id>bt_tx2</id>", cycle))
    assert (payment.external_id, payment.amount_cents, payment.origin.customer_id) == ("bt_tx2", 4999, "bt_c1")


def test_newest_transaction_of_a_subscription_is_the_payment(stage):
    older = (
        b"<transaction><id>bt_tx0</id><amount>1.00</amount><currency-iso-code>USD</currency-iso-code>"
        b'<created-at type="datetime">2025-12-02T03:00:00Z</created-at></transaction></transactions>'
    )
    (payment,) = read_facts(stage, _signed_with(b"</transactions>", older))
    assert payment.external_id == "bt_tx1"


def test_charge_without_a_currency_is_read_again(stage):
    stage.store({"id": "bt_tx1", "type": "sale", "amount": "49.99", "currency-iso-code": "EUR"})
    (payment,) = read_facts(stage, _signed_with(b"<currency-iso-code>USD</currency-iso-code>", b""))
    assert payment.currency == "EUR"


def test_tax_is_included_in_the_amount(stage):
    (payment,) = read_facts(stage, _signed_with(b'<tax-amount nil="true"/>', b"<tax-amount>7.99</tax-amount>"))
    assert (payment.amount_cents, payment.net_cents) == (4999, 4200)


@pytest.mark.parametrize(
    ("order", "slugs"), [(b"1042", []), (b"jane", []), (b"affiliate_slug=jane", ["jane"]), (b"/?via=jane", ["jane"])]
)
def test_order_id_gives_a_slug_only_as_a_query(stage, order, slugs):
    fields = b"<custom-fields><affiliate-slug>jane</affiliate-slug></custom-fields>"
    (payment,) = read_facts(stage, _signed_with(fields, b"<order-id>%b</order-id>" % order))
    assert [claim.slug for claim in list_claims(payment.origin.carriers, ["via"])] == slugs


def test_customer_fields_are_looked_up(stage):
    sale = stage.pay(Purchase(slug=None, email=None))
    stage.customers["bt_c1"] |= {"email": "ann@example.com", "custom-fields": {"affiliate-slug": "jane"}}
    (payment,) = read_facts(stage, *sale.notifications)
    detailed_origin = GATEWAY.look_closer(build_account(stage), payment.origin)
    assert (detailed_origin.email, [claim.slug for claim in list_claims(detailed_origin.carriers, [])]) == (
        "ann@example.com",
        ["jane"],
    )


def test_chargeback_is_a_dispute_and_retrieval_is_ignored(stage):
    (dispute,) = read_facts(stage, sign(CHARGEBACK))
    assert isinstance(dispute, DisputeFact)
    assert (dispute.dispute_id, dispute.sale_ids, dispute.state) == ("bt_d1", ("bt_tx1",), DisputeState.Opened)
    request = _signed_with(b"<kind>chargeback<", b"<kind>retrieval<", CHARGEBACK)
    assert read_facts(stage, request) == [IgnoredFact("no_money_moved")]
    (accepted,) = read_facts(stage, _signed_with(b"dispute_opened", b"dispute_auto_accepted", CHARGEBACK))
    assert accepted.state == DisputeState.Lost


def test_ping_is_ignored(stage):
    assert read_facts(stage, sign(PING)) == [IgnoredFact("ping")]


@pytest.mark.parametrize("amount", [b"-49.99", b"x", b"", b"1e30", b"9" * 30])
def test_malformed_amount_is_unreadable(stage, amount):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _signed_with(b"<amount>49.99</amount>", b"<amount>%b</amount>" % amount))


def test_oversized_id_is_unreadable(stage):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _signed_with(b"<id>bt_tx1</id>", b"<id>%b</id>" % (b"x" * 500)))


@pytest.mark.parametrize("status", [b"processor_declined", b"voided", b"settlement_declined", b"failed"])
def test_declined_charge_is_ignored(stage, status):
    assert read_facts(stage, _signed_with(b"submitted_for_settlement", status)) == [IgnoredFact("not_paid")]


def test_key_is_the_hash_of_the_payload(stage):
    (first,), (second,) = list_deliveries(stage, sign(CHARGED)), list_deliveries(stage, sign(CHARGED))
    (other,) = list_deliveries(stage, sign(CHARGEBACK))
    assert first.key == second.key != other.key
    assert first.key.startswith("sha256:")
    assert first.raw == CHARGED


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"bt_payload": "QUJD"},
        {"bt_signature": "public_fake|" + "0" * 40},
        {"bt_signature": "public_fake|", "bt_payload": "QUJD"},
        {"bt_signature": "public_fake|" + "0" * 40, "bt_payload": "QUJD"},
        {"bt_signature": "public_fake|" + "0" * 40, "bt_payload": "<xml/>"},
        {"bt_signature": "|" + "0" * 40, "bt_payload": "QUJD"},
    ],
)
def test_form_without_a_signature_is_rejected(stage, form):
    with pytest.raises(NotProved):
        list_deliveries(stage, Notification(urlencode(form).encode()))


def test_signature_of_another_key_pair_is_rejected(stage):
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(CHARGED, public="another"))
    with pytest.raises(NotProved):
        list_deliveries(stage, sign(CHARGED, private="another"))


def test_former_key_pair_is_valid_as_a_pair(stage):
    former = {**stage.credentials, "publicKey": "old", "privateKey": "old private"}
    rotated = GatewayAccount("live", stage.credentials, former=(former,))
    for public, private in (("public_fake", "private_fake"), ("old", "old private")):
        assert GATEWAY.prove(rotated, build_inbound(sign(CHARGED, public, private))).deliveries


_ENTITY = b'<!DOCTYPE x [<!ENTITY a "49.99">]>'


@pytest.mark.parametrize(
    "document",
    [
        _ENTITY + CHARGED.replace(b"49.99", b"&a;"),
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd">' + CHARGED,
        b"<a>" * 100_000,
        b'<?xml version="1.0" encoding="nobodys"?>' + CHARGED,
        CHARGED[:-1],
        CHARGED + CHARGED,
        b"<html>Please wait</html>",
        b"<notification/>",
    ],
)
def test_malformed_or_declaring_document_is_unreadable(stage, document):
    (delivery,) = list_deliveries(stage, sign(document))
    with pytest.raises(UnreadableEvent):
        GATEWAY.facts(build_account(stage), delivery)


def test_xml_is_parsed_like_json():
    document = (
        b'<a><b-c type="array"><d>1</d><d nil="true"/></b-c><e type="boolean">false</e><f/><g> x &amp; y </g></a>'
    )
    assert braintree_xml.parse(document) == {"a": {"b_c": ["1", None], "e": False, "f": "", "g": "x & y"}}


def test_failed_refund_is_restored(stage):
    notification = stage.notify("refund_failed", {"transaction": _credit(status="settlement_declined")})
    (restored,) = read_facts(stage, notification)
    assert isinstance(restored, RestoredFact)
    assert (restored.refund_id, restored.sale_ids) == ("bt_tx4", ("bt_tx1",))


def test_failed_subscription_debit_is_cancelled(stage):
    sale = {"id": "bt_tx1", "type": "sale", "status": "settlement_declined"}
    assert read_facts(stage, stage.notify("transaction_settlement_declined", {"transaction": sale})) == [
        IgnoredFact("not_paid")
    ]
    charge = {**sale, "subscription-id": "bt_sub1"}
    charge_facts = read_facts(stage, stage.notify("transaction_settlement_declined", {"transaction": charge}))
    assert charge_facts == [CancelledFact(sale_ids=("bt_tx1",), told_at=stage.now.replace(microsecond=0))]


def test_sales_refunds_and_voids_are_listed_over_all_pages(stage):
    for number in range(120):
        stage.store({"id": f"sale{number}", "type": "sale", "amount": "1.00", "currency-iso-code": "USD"})
    stage.store(_credit())
    stage.store(_credit(**{"id": "to-nobody", "refunded-transaction-id": ""}))
    long_ago = "2020-01-01T00:00:00Z"
    stage.store({"id": "old", "type": "sale", "amount": "1.00", "currency-iso-code": "USD"}, **{"settled-at": long_ago})
    voided = {"type": "sale", "amount": "1.00", "currency-iso-code": "USD", "status": "voided"}
    stage.store({**voided, "id": "void"}, **{"voided-at": stage.time()})
    stage.store({**voided, "id": "charge", "subscription-id": "bt_sub1"}, **{"voided-at": stage.time()})

    listed_facts = list_facts(stage, stage.now - timedelta(hours=1))
    kinds = [type(fact) for page_facts in listed_facts.values() for fact in page_facts]
    assert (kinds.count(PaymentFact), kinds.count(RefundFact), kinds.count(IgnoredFact)) == (120, 1, 1)
    (refund,), (cancelled,) = listed_facts["reconcile:bt_tx4"], listed_facts["reconcile:charge:voided"]
    assert (refund.amount_cents, refund.sale_ids) == (2000, ("bt_tx1",))
    assert isinstance(cancelled, CancelledFact)
    assert cancelled.sale_ids == ("charge",)


def _order_id_of_part(stage, number, **other):
    sale = {"type": "sale", "amount": "1.00", "currency-iso-code": "USD", "customer": {"id": "c1", "email": "a@x.test"}}
    part = stage.store({"id": f"p{number}", **sale, **other})
    (payment,) = read_facts(stage, stage.notify("transaction_settled", {"transaction": part}))
    return payment.order_id


def test_parts_of_one_authorization_or_order_share_an_order_id(stage):
    assert {_order_id_of_part(stage, number, **{"authorized-transaction-id": "auth1"}) for number in range(2)} == {
        "auth1"
    }
    assert {_order_id_of_part(stage, number, **{"order-id": "1001"}) for number in range(2)} == {"order:1001:c1"}


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"order-id": "affiliate_slug=jane"},
        {"order-id": "1001", "customer": {"id": "", "email": ""}},
        {"order-id": "1001", "subscription-id": "bt_sub1"},
    ],
)
def test_ambiguous_order_number_gives_no_order_id(stage, other):
    assert _order_id_of_part(stage, 1, **other) is None


def test_malformed_page_raises_gateway_unreachable(stage):
    for fault in ("html", "cut"):
        stage.faults.append(fault)
        with pytest.raises(GatewayUnreachable):
            GATEWAY.check(build_account(stage))
        stage.faults.append(fault)
        with pytest.raises(GatewayUnreachable):
            list_facts(stage, stage.now)
