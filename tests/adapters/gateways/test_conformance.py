"""What every gateway's adapter promises, played by each gateway of the tests over HTTP."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

import settings
from adapters.gateways.base import (
    CredentialsRefused,
    GatewayAccount,
    GatewayUnreachable,
    Inbound,
    NotProved,
)
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
from domain.gateways.referrals import claims
from tests.support.gateways.stage import Purchase, Sent, Stage
from tests.support.gateways.stages import STAGES


@pytest.fixture(params=STAGES)
def stage(request, monkeypatch):
    playing = STAGES[request.param]()
    urls = dict.fromkeys(Gateway) | {request.param: playing.url}
    known = settings.current()
    chosen = dataclasses.replace(known, gateways=dataclasses.replace(known.gateways, urls=urls))
    monkeypatch.setattr(settings, "current", lambda: chosen)
    yield playing
    playing.stop()


def _needs(stage: Stage, *acts: str) -> None:
    if missing := stage.cannot & set(acts):
        pytest.skip(f"{stage.gateway.name} has no {', '.join(missing)}")


def _account(stage: Stage, **other: str) -> GatewayAccount:
    return GatewayAccount(stage.mode, {**stage.credentials, **other}, stage.made)


def _inbound(sent: Sent, at: datetime | None = None) -> Inbound:
    return Inbound(sent.method, sent.headers, sent.query, sent.body, at or datetime.now(UTC))


def _facts(stage: Stage, *sent: Sent) -> list[Fact]:
    account = _account(stage)
    delivered = [delivery for one in sent for delivery in stage.gateway.prove(account, _inbound(one)).deliveries]
    return [fact for delivery in delivered for fact in stage.gateway.facts(account, delivery)]


def _of(kind: type[Fact], facts: list[Fact]) -> list[Fact]:
    return [fact for fact in facts if isinstance(fact, kind)]


def _slugs(payment: PaymentFact | StartFact) -> list[str]:
    return [claim.slug for claim in claims(payment.origin.carriers, ["via"])]


def _email(stage: Stage, told: PaymentFact | StartFact) -> str | None:
    return told.origin.email or stage.gateway.look_closer(_account(stage), told.origin).email


def test_every_gateway_is_played():
    assert set(STAGES) == set(Gateway)


def test_good_credentials_are_proved_by_a_call(stage):
    assert stage.gateway.check(_account(stage)).account
    assert stage.asked


def test_credentials_that_the_gateway_refuses_are_told_apart_from_a_gateway_that_is_away(stage):
    stage.faults.extend(["refuse"])
    with pytest.raises(CredentialsRefused):
        stage.gateway.check(_account(stage))
    for fault in ("fail", "busy", "html", "cut"):
        stage.faults.extend([fault] * 3)
        with pytest.raises(GatewayUnreachable):
            stage.gateway.check(_account(stage))
        stage.faults.clear()


def test_subscribing_makes_what_can_be_made_and_says_what_is_left(stage):
    made = stage.gateway.subscribe(_account(stage), "https://finderfee.example/api/gateways/x/token")
    assert made.made or made.setup.steps
    stage.gateway.unsubscribe(dataclasses.replace(_account(stage), made=made.made))


def test_a_first_payment_is_told_with_its_money_its_buyer_and_its_referral(stage):
    sale = stage.pay(Purchase(cents=10_890, currency="USD", slug="jane", email="ann@example.com"))
    (payment,) = _of(PaymentFact, _facts(stage, *sale.sent))

    assert (payment.external_id, payment.amount_cents, payment.currency) == (sale.id, 10_890, "USD")
    assert payment.origin.is_test is False
    assert abs(payment.paid_at - stage.now) < timedelta(seconds=2)
    assert (
        payment.origin.email or stage.gateway.look_closer(_account(stage), payment.origin).email
    ) == "ann@example.com"
    if "referral" not in stage.cannot:
        assert _slugs(payment)[:1] == ["jane"]


def test_a_payment_without_a_referral_claims_nothing(stage):
    (payment,) = _of(PaymentFact, _facts(stage, *stage.pay(Purchase(slug=None)).sent))
    closer = stage.gateway.look_closer(_account(stage), payment.origin)
    assert list(claims(closer.carriers, ["via"])) == []


def test_a_renewal_is_another_payment_of_the_same_customer(stage):
    _needs(stage, "renewal")
    first = stage.pay(Purchase())
    again = stage.pay(Purchase(renews=first, cents=9_900))
    one, other = _of(PaymentFact, _facts(stage, *first.sent, *again.sent))

    assert (other.external_id, other.amount_cents) == (again.id, 9_900)
    assert one.external_id != other.external_id
    assert one.origin.customer_id == other.origin.customer_id is not None


def test_the_same_event_again_has_the_same_key_and_tells_the_same(stage):
    sale = stage.pay(Purchase())
    account = _account(stage)
    first, second = ([stage.gateway.prove(account, _inbound(sent)) for sent in sale.sent] for _ in range(2))

    assert [[each.key for each in proved.deliveries] for proved in first] == [
        [each.key for each in proved.deliveries] for proved in second
    ]
    assert _facts(stage, *sale.sent) == _facts(stage, *sale.sent)


def test_a_partial_refund_and_the_completing_one_name_the_payment_and_add_up(stage):
    _needs(stage, "refund")
    sale = stage.pay(Purchase(cents=10_890))
    parts = [10_890] if "partial_refund" in stage.cannot else [4_356, 6_534]
    booked: dict[str, int] = {}
    for cents in parts:
        told = _of(RefundFact, _facts(stage, *stage.refund(sale, cents)))
        assert told
        for refund in told:  # earlier ones may be told again; each id is booked once
            assert sale.id in refund.sale_ids or _names(stage, sale, refund)
            booked[refund.refund_id] = 10_890 if refund.amount_cents is None else refund.amount_cents
    assert sum(booked.values()) == 10_890


def _names(stage: Stage, sale, refund: RefundFact) -> bool:
    told = _facts(stage, *sale.sent)
    ids = {alias for fact in told for alias in (getattr(fact, "aliases", ()) or getattr(fact, "ids", ()))}
    return bool(ids & set(refund.sale_ids))


def test_a_payment_of_nothing_is_told_as_nothing(stage):
    _needs(stage, "zero")
    facts = _facts(stage, *stage.pay(Purchase(cents=0)).sent)
    assert all(payment.amount_cents == 0 for payment in _of(PaymentFact, facts))
    assert any(_of(kind, facts) for kind in (PaymentFact, StartFact, ReferralFact))


def test_a_trial_is_a_start_without_money(stage):
    _needs(stage, "trial")
    facts = _facts(stage, *stage.start_trial(Purchase(cents=0)))
    (started,) = _of(StartFact, facts)
    assert _of(PaymentFact, facts) == []
    assert _email(stage, started) == "ann@example.com"


def test_a_code_is_told_with_the_payment(stage):
    _needs(stage, "code")
    (payment,) = _of(PaymentFact, _facts(stage, *stage.pay(Purchase(code="JANE10")).sent))
    assert [code.text.upper() for code in payment.origin.codes] == ["JANE10"]


def test_what_was_paid_in_test_mode_says_so(stage):
    _needs(stage, "test_mode")
    facts = _facts(stage, *stage.pay(Purchase(is_test=True)).sent)
    assert [payment.origin.is_test for payment in _of(PaymentFact, facts)] in ([True], [])


@pytest.mark.parametrize("state", ["opened", "lost", "won"])
def test_a_dispute_is_told_with_its_payment(stage, state):
    _needs(stage, "dispute", f"dispute_{state}")
    sale = stage.pay(Purchase())
    (dispute,) = _of(DisputeFact, _facts(stage, *stage.dispute(sale, state)))
    assert dispute.state == DisputeState(state)
    assert sale.id in dispute.sale_ids or _names(stage, sale, dispute)


def test_access_that_was_taken_back_is_told(stage):
    _needs(stage, "uninstall")
    assert _of(DisconnectedFact, _facts(stage, *stage.uninstall()))


def test_an_event_of_another_kind_means_nothing(stage):
    assert [type(fact) for fact in _facts(stage, stage.unknown())] in ([IgnoredFact], [])


def test_a_proof_over_other_bytes_is_refused(stage):
    _needs(stage, "proof")
    sale = stage.pay(Purchase())
    with pytest.raises(NotProved):
        stage.gateway.prove(_account(stage), _inbound(stage.forged(sale.sent[0])))


def test_a_proof_by_a_secret_that_is_not_there_is_refused(stage):
    sale = stage.pay(Purchase())
    nobody = GatewayAccount(stage.mode, dict.fromkeys(stage.credentials, ""))
    with pytest.raises(NotProved):
        stage.gateway.prove(nobody, _inbound(sale.sent[0]))


def test_a_proof_from_long_ago_is_refused(stage):
    _needs(stage, "time")
    sale = stage.pay(Purchase())
    with pytest.raises(NotProved):
        stage.gateway.prove(_account(stage), _inbound(stage.late(sale.sent[0])))


def test_a_proof_by_the_former_secret_counts_for_its_hour(stage):
    sale = stage.pay(Purchase())
    replaced = {name: f"{value}-new" for name, value in {**stage.credentials, **stage.made}.items()}
    rotated = GatewayAccount(stage.mode, replaced, former=({**stage.credentials, **stage.made},))
    _needs(stage, "rotation")
    assert stage.gateway.prove(rotated, _inbound(sale.sent[0])).deliveries


def test_what_cannot_be_read_is_kept_and_said(stage):
    account = _account(stage)
    (delivery,) = stage.gateway.prove(account, _inbound(stage.malformed())).deliveries
    assert delivery.key
    with pytest.raises((UnreadableEvent, UnsupportedCurrency)):
        stage.gateway.facts(account, delivery)


def test_an_unsupported_currency_is_never_money(stage):
    _needs(stage, "currency")
    with pytest.raises(UnsupportedCurrency):
        _facts(stage, *stage.pay(Purchase(currency="XTS")).sent)


_NOT_EVENTS = [b"", b"{", b"[]", b"null", b'"x"', b"{}" * 3, b"{}", b"\x00\xff", b"[" * 100_000, b"a=1&b=2"]


@pytest.mark.parametrize("body", _NOT_EVENTS, ids=range(len(_NOT_EVENTS)))
def test_a_body_that_is_no_event_is_refused_or_unreadable_and_never_an_error(stage, body):
    account = _account(stage)
    sent = [Sent(body), Sent(body, stage.pay(Purchase()).sent[0].headers)]
    if "any_body" not in stage.cannot:
        sent.append(stage.proved(body))
    for one in sent:
        try:
            deliveries = stage.gateway.prove(account, _inbound(one)).deliveries
        except NotProved:
            continue
        for delivery in deliveries:
            assert delivery.key
            with pytest.raises(UnreadableEvent):
                stage.gateway.facts(account, delivery)


def test_what_was_missed_is_listed_as_the_same_money(stage):
    sale = stage.pay(Purchase(cents=10_890))
    refunded = "refund" not in stage.cannot
    if refunded:
        stage.refund(sale, 10_890)
    account = _account(stage)
    since = stage.now - timedelta(hours=1)
    pages = list(stage.gateway.listed(account, since))
    facts = [fact for page in pages for delivery in page for fact in stage.gateway.facts(account, delivery)]

    keys = [delivery.key for page in pages for delivery in page]
    assert len(set(keys)) == len(keys)
    assert all(key.startswith("reconcile:") for key in keys)
    assert {(payment.external_id, payment.amount_cents) for payment in _of(PaymentFact, facts)} == {(sale.id, 10_890)}
    assert bool(_of(RefundFact, facts)) == refunded
