"""What every gateway's adapter promises, played by each gateway of the tests over HTTP."""

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
from tests.support.gateways.deliveries import account, facts, inbound, list_facts
from tests.support.gateways.stage import Notification, Purchase, Sale, Stage
from tests.support.gateways.stages import STAGES, all_gateways, gateways_with

_CONNECTIONS = Path(__file__).resolve().parents[3] / "docs" / "connections.md"
#: The names by which the page calls gateways in a list.
_BRIEF = {"paddle": "Paddle", "maxio": "Maxio"}
_DISPUTES = [
    (name, state) for name, stage in STAGES.items() for state in DisputeState if f"dispute_{state}" not in stage.cannot
]


def _of(kind: type[Fact], facts: list[Fact]) -> list[Fact]:
    return [fact for fact in facts if isinstance(fact, kind)]


def _email(stage: Stage, told: PaymentFact | StartFact) -> str | None:
    return told.origin.email or stage.gateway.look_closer(account(stage), told.origin).email


def test_every_gateway_is_played():
    assert set(STAGES) == set(Gateway)


@pytest.mark.parametrize("name", STAGES)
def test_what_a_gateway_does_not_have_is_what_its_row_of_the_table_says(name):
    cannot, can = STAGES[name].cannot, STAGES[name].gateway.capabilities
    assert set(cannot) <= set(missing_acts.ACTS)
    assert all(cannot.values())
    assert {state for state in DisputeState if f"dispute_{state}" not in cannot} == set(can.disputes)
    assert ("uninstall" not in cannot) == can.leaves
    of_the_brand = [cannot[act] for act in ("trial", "code") if act in cannot]
    of_the_brand += [cannot["dispute_lost"]] if "dispute_lost" in cannot else []
    assert [reason for reason in of_the_brand if reason not in " ".join(can.lacks)] == []


def _documented(second: str) -> dict[str, list[str]]:
    """Return the cells of the table of docs/connections.md whose second column is called so, by gateway."""
    lines = _CONNECTIONS.read_text().partition(f"| Gateway | {second} |")[2].splitlines()[2:]
    rows = [line.strip("|").split("|") for line in itertools.takewhile(lambda line: line.startswith("|"), lines)]
    return {name.strip(): [cell.strip() for cell in cells] for names, *cells in rows for name in names.split(",")}


def test_page_says_of_each_gateway_what_it_reports_of_orders_that_change():
    rows = _documented("No money")
    stages = {_BRIEF.get(name, stage.gateway.label): stage for name, stage in STAGES.items()}
    assert set(rows) == set(stages)
    for label, stage in stages.items():
        no_money, total = rows[label]
        assert ("cancel" in stage.cannot) == no_money.startswith("–"), stage
        assert ("change_total" in stage.cannot) == (total == "–"), stage


@all_gateways
def test_good_credentials_are_proved_by_a_call(stage):
    assert stage.gateway.check(account(stage)).account
    assert stage.calls


@all_gateways
def test_credentials_that_the_gateway_refuses_are_told_apart_from_a_gateway_that_is_away(stage):
    stage.faults.extend(["refuse"])
    with pytest.raises(CredentialsRefused):
        stage.gateway.check(account(stage))
    for fault in ("fail", "busy", "html", "cut"):
        stage.faults.extend([fault] * 3)
        with pytest.raises(GatewayUnreachable):
            stage.gateway.check(account(stage))
        stage.faults.clear()


@all_gateways
def test_a_first_payment_is_told_with_its_money_its_buyer_and_its_referral(stage):
    sale = stage.pay(Purchase(cents=10_890, currency="USD", slug="jane", email="ann@example.com"))
    (payment,) = _of(PaymentFact, facts(stage, *sale.notifications))

    assert (payment.external_id, payment.amount_cents, payment.currency) == (sale.id, 10_890, "USD")
    assert payment.origin.is_test is False
    assert abs(payment.paid_at - stage.now) < timedelta(seconds=2)
    assert _email(stage, payment) == "ann@example.com"
    assert [claim.slug for claim in list_claims(payment.origin.carriers, ["via"])][:1] == ["jane"]


@all_gateways
def test_a_payment_without_a_referral_claims_nothing(stage):
    (payment,) = _of(PaymentFact, facts(stage, *stage.pay(Purchase(slug=None)).notifications))
    closer = stage.gateway.look_closer(account(stage), payment.origin)
    assert list(list_claims(closer.carriers, ["via"])) == []


@all_gateways
def test_a_renewal_is_another_payment_of_the_same_customer(stage):
    first = stage.pay(Purchase())
    again = stage.pay(Purchase(renews=first, cents=9_900))
    one, other = _of(PaymentFact, facts(stage, *first.notifications, *again.notifications))

    assert (other.external_id, other.amount_cents) == (again.id, 9_900)
    assert one.external_id != other.external_id
    assert one.origin.customer_id == other.origin.customer_id is not None


@all_gateways
def test_the_same_event_again_has_the_same_key_and_tells_the_same(stage):
    sale = stage.pay(Purchase())
    own = account(stage)
    first, second = ([stage.gateway.prove(own, inbound(sent)) for sent in sale.notifications] for _ in range(2))

    assert [[each.key for each in proved.deliveries] for proved in first] == [
        [each.key for each in proved.deliveries] for proved in second
    ]
    assert facts(stage, *sale.notifications) == facts(stage, *sale.notifications)


@all_gateways
def test_a_partial_refund_and_the_completing_one_name_the_payment_and_add_up(stage):
    sale = stage.pay(Purchase(cents=10_890))
    booked: dict[str, int] = {}
    for cents in (4_356, 6_534):
        told = _of(RefundFact, facts(stage, *stage.refund(sale, cents)))
        assert told
        for refund in told:  # earlier ones may be told again; each id is booked once
            assert sale.id in refund.sale_ids or _names(stage, sale, refund)
            booked[refund.refund_id] = 10_890 if refund.amount_cents is None else refund.amount_cents
    assert sum(booked.values()) == 10_890


def _since(stage: Stage) -> datetime:
    return stage.now - timedelta(hours=1)


def _names(stage: Stage, sale: Sale, refund: RefundFact | DisputeFact) -> bool:
    told = facts(stage, *sale.notifications)
    ids = {alias for fact in told for alias in (getattr(fact, "aliases", ()) or getattr(fact, "ids", ()))}
    return bool(ids & set(refund.sale_ids))


@all_gateways
def test_a_payment_of_nothing_is_told_as_nothing(stage):
    told = facts(stage, *stage.pay(Purchase(cents=0)).notifications)
    assert all(payment.amount_cents == 0 for payment in _of(PaymentFact, told))
    assert any(_of(kind, told) for kind in (PaymentFact, StartFact, ReferralFact))


@gateways_with("trial")
def test_a_trial_is_a_start_without_money(stage):
    told = facts(stage, *stage.start_trial(Purchase(cents=0)))
    (started,) = _of(StartFact, told) or _of(PaymentFact, told)
    assert all(payment.amount_cents == 0 for payment in _of(PaymentFact, told))
    assert _email(stage, started) == "ann@example.com"


@gateways_with("code")
def test_a_code_is_told_with_the_payment(stage):
    (payment,) = _of(PaymentFact, facts(stage, *stage.pay(Purchase(code="JANE10")).notifications))
    assert [code.text.upper() for code in payment.origin.codes] == ["JANE10"]


@gateways_with("test_flag")
def test_a_rehearsal_of_a_live_account_says_so_or_means_nothing(stage):
    told = facts(stage, *stage.pay(Purchase(is_test=True)).notifications)
    paid = [payment.origin.is_test for payment in _of(PaymentFact, told)]
    assert paid == [True] or told == [IgnoredFact("test_event")]


@pytest.mark.parametrize(("stage", "state"), _DISPUTES, indirect=["stage"])
def test_a_dispute_is_told_or_found_with_its_payment(stage, state):
    sale = stage.pay(Purchase())
    sent = stage.dispute(sale, state)
    told = (
        facts(stage, *sent) if sent else [fact for each in list_facts(stage, _since(stage)).values() for fact in each]
    )
    (dispute,) = _of(DisputeFact, told)
    assert dispute.state == state
    assert sale.id in dispute.sale_ids or _names(stage, sale, dispute)


@gateways_with("uninstall")
def test_access_that_was_taken_back_is_told(stage):
    assert _of(DisconnectedFact, facts(stage, *stage.uninstall()))


@all_gateways
def test_an_event_of_another_kind_means_nothing(stage):
    assert [type(fact) for fact in facts(stage, stage.create_unknown_event())] in ([IgnoredFact], [])


@gateways_with("proof")
def test_a_proof_over_other_bytes_is_refused(stage):
    sale = stage.pay(Purchase())
    with pytest.raises(NotProved):
        stage.gateway.prove(account(stage), inbound(stage.forge_signature(sale.notifications[0])))


@all_gateways
def test_a_proof_by_a_secret_that_is_not_there_is_refused(stage):
    sale = stage.pay(Purchase())
    nobody = GatewayAccount(stage.mode, dict.fromkeys(stage.credentials, ""))
    with pytest.raises(NotProved):
        stage.gateway.prove(nobody, inbound(sale.notifications[0]))


@gateways_with("time")
def test_a_proof_from_long_ago_is_refused(stage):
    sale = stage.pay(Purchase())
    with pytest.raises(NotProved):
        stage.gateway.prove(account(stage), inbound(stage.sign_in_the_past(sale.notifications[0])))


@all_gateways
def test_a_proof_by_the_former_secret_counts_for_its_hour(stage):
    sale = stage.pay(Purchase())
    replaced = {name: f"{value}-new" for name, value in {**stage.credentials, **stage.subscription}.items()}
    rotated = GatewayAccount(stage.mode, replaced, former=({**stage.credentials, **stage.subscription},))
    assert stage.gateway.prove(rotated, inbound(sale.notifications[0])).deliveries


@all_gateways
def test_what_cannot_be_read_is_kept_and_said(stage):
    own = account(stage)
    (delivery,) = stage.gateway.prove(own, inbound(stage.create_malformed_event())).deliveries
    assert delivery.key
    with pytest.raises((UnreadableEvent, UnsupportedCurrency)):
        stage.gateway.facts(own, delivery)


@gateways_with("currency")
def test_an_unsupported_currency_is_never_money(stage):
    with pytest.raises(UnsupportedCurrency):
        facts(stage, *stage.pay(Purchase(currency="XTS")).notifications)


_NOT_EVENTS = [b"", b"{", b"[]", b"null", b'"x"', b"{}" * 3, b"{}", b"\x00\xff", b"[" * 100_000, b"a=1&b=2"]


@pytest.mark.parametrize("body", _NOT_EVENTS, ids=range(len(_NOT_EVENTS)))
@all_gateways
def test_a_body_that_is_no_event_is_refused_or_unreadable_and_never_an_error(stage, body):
    own = account(stage)
    sent = [Notification(body), Notification(body, stage.pay(Purchase()).notifications[0].headers)]
    if "any_body" not in stage.cannot:
        sent.append(stage.sign_body(body))
    for one in sent:
        try:
            deliveries = stage.gateway.prove(own, inbound(one)).deliveries
        except NotProved:
            continue
        for delivery in deliveries:
            assert delivery.key
            with pytest.raises(UnreadableEvent):
                stage.gateway.facts(own, delivery)


@all_gateways
def test_what_was_missed_is_listed_as_the_same_money(stage):
    sale = stage.pay(Purchase(cents=10_890))
    stage.refund(sale, 10_890)
    own = account(stage)
    deliveries = [delivery for page in stage.gateway.list_payments(own, _since(stage)) for delivery in page]
    told = [fact for delivery in deliveries for fact in stage.gateway.facts(own, delivery)]

    assert len({delivery.key for delivery in deliveries}) == len(deliveries)
    assert all(delivery.key.startswith("reconcile:") for delivery in deliveries)
    assert {(payment.external_id, payment.amount_cents) for payment in _of(PaymentFact, told)} == {(sale.id, 10_890)}
    assert _of(RefundFact, told)
