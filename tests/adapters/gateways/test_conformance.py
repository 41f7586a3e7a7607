"""Guarantees of every gateway adapter, tested over HTTP against each simulated gateway."""

import itertools
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayUnreachable, NotProved
from domain.gateways.facts import (
    DisconnectedFact,
    DisputeFact,
    DisputeState,
    Fact,
    IgnoredFact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
    UnsupportedCurrency,
)
from domain.gateways.names import Gateway
from domain.gateways.referrals import list_claims
from tests.support.gateways import missing_acts
from tests.support.gateways.deliveries import build_account, build_inbound, list_facts, read_facts
from tests.support.gateways.stage import Notification, Purchase, Sale, Stage
from tests.support.gateways.stages import STAGES, all_gateways, gateways_with

_CONNECTIONS = Path(__file__).resolve().parents[3] / "docs" / "connections.md"
#: Short names of gateways in the tables of the page.
_SHORT_NAMES = {"paddle": "Paddle", "maxio": "Maxio"}
_DISPUTES = [
    (name, state)
    for name, stage in STAGES.items()
    for state in DisputeState
    if f"dispute_{state}" not in stage.unsupported
]


def _select(kind: type[Fact], facts: list[Fact]) -> list[Fact]:
    return [fact for fact in facts if isinstance(fact, kind)]


def _email(stage: Stage, fact: PaymentFact | StartFact) -> str | None:
    return fact.origin.email or stage.gateway.look_closer(build_account(stage), fact.origin).email


def test_every_gateway_has_a_simulation():
    assert set(STAGES) == set(Gateway)


@pytest.mark.parametrize("name", STAGES)
def test_missing_capabilities_match_the_table(name):
    unsupported, can = STAGES[name].unsupported, STAGES[name].gateway.capabilities
    assert set(unsupported) <= set(missing_acts.ACTS)
    assert all(unsupported.values())
    assert {state for state in DisputeState if f"dispute_{state}" not in unsupported} == set(can.disputes)
    assert ("uninstall" not in unsupported) == can.reports_removal
    brand_reasons = [unsupported[act] for act in ("trial", "code") if act in unsupported]
    brand_reasons += [unsupported["dispute_lost"]] if "dispute_lost" in unsupported else []
    assert [reason for reason in brand_reasons if reason not in " ".join(can.lacks)] == []


def _read_docs_table(heading: str) -> dict[str, list[str]]:
    """Return the cells of the table of docs/connections.md with this second column heading, by gateway."""
    lines = _CONNECTIONS.read_text().partition(f"| Gateway | {heading} |")[2].splitlines()[2:]
    rows = [line.strip("|").split("|") for line in itertools.takewhile(lambda line: line.startswith("|"), lines)]
    return {name.strip(): [cell.strip() for cell in cells] for names, *cells in rows for name in names.split(",")}


def test_docs_describe_changed_orders_of_each_gateway():
    rows = _read_docs_table("No money")
    stages = {_SHORT_NAMES.get(name, stage.gateway.label): stage for name, stage in STAGES.items()}
    assert set(rows) == set(stages)
    for label, stage in stages.items():
        no_money, total = rows[label]
        assert ("cancel" in stage.unsupported) == no_money.startswith("–"), stage
        assert ("change_total" in stage.unsupported) == (total == "–"), stage


@all_gateways
def test_good_credentials_are_checked_by_a_request(stage):
    assert stage.gateway.check(build_account(stage)).account
    assert stage.calls


@all_gateways
def test_rejected_credentials_differ_from_an_unreachable_gateway(stage):
    stage.faults.extend(["refuse"])
    with pytest.raises(CredentialsRefused):
        stage.gateway.check(build_account(stage))
    for fault in ("fail", "busy", "html", "cut"):
        stage.faults.extend([fault] * 3)
        with pytest.raises(GatewayUnreachable):
            stage.gateway.check(build_account(stage))
        stage.faults.clear()


@all_gateways
def test_first_payment_has_money_buyer_and_referral(stage):
    sale = stage.pay(Purchase(cents=10_890, currency="USD", slug="jane", email="ann@example.com"))
    (payment,) = _select(PaymentFact, read_facts(stage, *sale.notifications))

    assert (payment.external_id, payment.amount_cents, payment.currency) == (sale.id, 10_890, "USD")
    assert payment.origin.is_test is False
    assert abs(payment.paid_at - stage.now) < timedelta(seconds=2)
    assert _email(stage, payment) == "ann@example.com"
    assert [claim.slug for claim in list_claims(payment.origin.carriers, ["via"])][:1] == ["jane"]


@all_gateways
def test_payment_without_a_referral_claims_nothing(stage):
    (payment,) = _select(PaymentFact, read_facts(stage, *stage.pay(Purchase(slug=None)).notifications))
    detailed_origin = stage.gateway.look_closer(build_account(stage), payment.origin)
    assert list(list_claims(detailed_origin.carriers, ["via"])) == []


@all_gateways
def test_renewal_is_another_payment_of_the_same_customer(stage):
    first = stage.pay(Purchase())
    renewal = stage.pay(Purchase(renews=first, cents=9_900))
    payment, second_payment = _select(PaymentFact, read_facts(stage, *first.notifications, *renewal.notifications))

    assert (second_payment.external_id, second_payment.amount_cents) == (renewal.id, 9_900)
    assert payment.external_id != second_payment.external_id
    assert payment.origin.customer_id == second_payment.origin.customer_id is not None


@all_gateways
def test_repeated_event_has_the_same_key_and_facts(stage):
    sale = stage.pay(Purchase())
    own_account = build_account(stage)
    first, second = (
        [stage.gateway.prove(own_account, build_inbound(notification)) for notification in sale.notifications]
        for _ in range(2)
    )

    assert [[each.key for each in proved.deliveries] for proved in first] == [
        [each.key for each in proved.deliveries] for proved in second
    ]
    assert read_facts(stage, *sale.notifications) == read_facts(stage, *sale.notifications)


@all_gateways
def test_partial_refunds_name_the_payment_and_add_up(stage):
    sale = stage.pay(Purchase(cents=10_890))
    booked_cents: dict[str, int] = {}
    for cents in (4_356, 6_534):
        refunds = _select(RefundFact, read_facts(stage, *stage.refund(sale, cents)))
        assert refunds
        for refund in refunds:  # earlier refunds may be reported again; each id is booked once
            assert sale.id in refund.sale_ids or _names_payment(stage, sale, refund)
            booked_cents[refund.refund_id] = 10_890 if refund.amount_cents is None else refund.amount_cents
    assert sum(booked_cents.values()) == 10_890


def _start_time(stage: Stage) -> datetime:
    return stage.now - timedelta(hours=1)


def _names_payment(stage: Stage, sale: Sale, refund: RefundFact | DisputeFact) -> bool:
    reported = read_facts(stage, *sale.notifications)
    ids = {alias for fact in reported for alias in (getattr(fact, "aliases", ()) or getattr(fact, "ids", ()))}
    return bool(ids & set(refund.sale_ids))


@all_gateways
def test_zero_payment_is_reported_as_zero(stage):
    reported = read_facts(stage, *stage.pay(Purchase(cents=0)).notifications)
    assert all(payment.amount_cents == 0 for payment in _select(PaymentFact, reported))
    assert any(_select(kind, reported) for kind in (PaymentFact, StartFact, ReferralFact))


@gateways_with("trial")
def test_trial_is_a_start_without_money(stage):
    reported = read_facts(stage, *stage.start_trial(Purchase(cents=0)))
    (start,) = _select(StartFact, reported) or _select(PaymentFact, reported)
    assert all(payment.amount_cents == 0 for payment in _select(PaymentFact, reported))
    assert _email(stage, start) == "ann@example.com"


@gateways_with("code")
def test_code_is_reported_with_the_payment(stage):
    (payment,) = _select(PaymentFact, read_facts(stage, *stage.pay(Purchase(code="JANE10")).notifications))
    assert [code.text.upper() for code in payment.origin.codes] == ["JANE10"]


@gateways_with("test_flag")
def test_test_payment_is_marked_or_ignored(stage):
    reported = read_facts(stage, *stage.pay(Purchase(is_test=True)).notifications)
    test_flags = [payment.origin.is_test for payment in _select(PaymentFact, reported)]
    assert test_flags == [True] or reported == [IgnoredFact("test_event")]


@pytest.mark.parametrize(("stage", "state"), _DISPUTES, indirect=["stage"])
def test_dispute_is_reported_or_listed_with_its_payment(stage, state):
    sale = stage.pay(Purchase())
    notifications = stage.dispute(sale, state)
    reported = (
        read_facts(stage, *notifications)
        if notifications
        else [fact for each in list_facts(stage, _start_time(stage)).values() for fact in each]
    )
    (dispute,) = _select(DisputeFact, reported)
    assert dispute.state == state
    assert sale.id in dispute.sale_ids or _names_payment(stage, sale, dispute)


@gateways_with("uninstall")
def test_uninstall_is_reported_as_disconnected(stage):
    assert _select(DisconnectedFact, read_facts(stage, *stage.uninstall()))


@all_gateways
def test_unknown_event_is_ignored(stage):
    assert [type(fact) for fact in read_facts(stage, stage.create_unknown_event())] in ([IgnoredFact], [])


@gateways_with("proof")
def test_proof_of_another_body_is_rejected(stage):
    sale = stage.pay(Purchase())
    with pytest.raises(NotProved):
        stage.gateway.prove(build_account(stage), build_inbound(stage.forge_signature(sale.notifications[0])))


@all_gateways
def test_proof_without_a_configured_secret_is_rejected(stage):
    sale = stage.pay(Purchase())
    account_without_secrets = GatewayAccount(stage.mode, dict.fromkeys(stage.credentials, ""))
    with pytest.raises(NotProved):
        stage.gateway.prove(account_without_secrets, build_inbound(sale.notifications[0]))


@gateways_with("time")
def test_expired_proof_is_rejected(stage):
    sale = stage.pay(Purchase())
    with pytest.raises(NotProved):
        stage.gateway.prove(build_account(stage), build_inbound(stage.sign_in_the_past(sale.notifications[0])))


@all_gateways
def test_proof_with_the_former_secret_is_valid(stage):
    sale = stage.pay(Purchase())
    new_secrets = {name: f"{value}-new" for name, value in {**stage.credentials, **stage.subscription}.items()}
    rotated = GatewayAccount(stage.mode, new_secrets, former=({**stage.credentials, **stage.subscription},))
    assert stage.gateway.prove(rotated, build_inbound(sale.notifications[0])).deliveries


@all_gateways
def test_malformed_event_is_stored_and_unreadable(stage):
    own_account = build_account(stage)
    (delivery,) = stage.gateway.prove(own_account, build_inbound(stage.create_malformed_event())).deliveries
    assert delivery.key
    with pytest.raises((UnreadableEvent, UnsupportedCurrency)):
        stage.gateway.facts(own_account, delivery)


@gateways_with("currency")
def test_unsupported_currency_raises(stage):
    with pytest.raises(UnsupportedCurrency):
        read_facts(stage, *stage.pay(Purchase(currency="XTS")).notifications)


_NOT_EVENTS = [b"", b"{", b"[]", b"null", b'"x"', b"{}" * 3, b"{}", b"\x00\xff", b"[" * 100_000, b"a=1&b=2"]


@pytest.mark.parametrize("body", _NOT_EVENTS, ids=range(len(_NOT_EVENTS)))
@all_gateways
def test_non_event_body_is_rejected_or_unreadable(stage, body):
    own_account = build_account(stage)
    notifications = [Notification(body), Notification(body, stage.pay(Purchase()).notifications[0].headers)]
    if "any_body" not in stage.unsupported:
        notifications.append(stage.sign_body(body))
    for notification in notifications:
        try:
            deliveries = stage.gateway.prove(own_account, build_inbound(notification)).deliveries
        except NotProved:
            continue
        for delivery in deliveries:
            assert delivery.key
            with pytest.raises(UnreadableEvent):
                stage.gateway.facts(own_account, delivery)


@all_gateways
def test_listed_payments_and_refunds_equal_those_of_missed_events(stage):
    sale = stage.pay(Purchase(cents=10_890))
    stage.refund(sale, 10_890)
    own_account = build_account(stage)
    deliveries = [
        delivery for page in stage.gateway.list_payments(own_account, _start_time(stage)) for delivery in page
    ]
    reported = [fact for delivery in deliveries for fact in stage.gateway.facts(own_account, delivery)]

    assert len({delivery.key for delivery in deliveries}) == len(deliveries)
    assert all(delivery.key.startswith("reconcile:") for delivery in deliveries)
    assert {(payment.external_id, payment.amount_cents) for payment in _select(PaymentFact, reported)} == {
        (sale.id, 10_890)
    }
    assert _select(RefundFact, reported)
