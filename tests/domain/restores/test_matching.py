"""Matching of a rail's transfers with payouts, by the ids sent with a transfer and the stored state."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from domain.payouts.native_sums import NativeSum
from domain.restores.matching import NETTED, KnownPayout, MatchingFacts, MilestoneReadiness, match
from domain.restores.transfers import ADVICE, Problem, RailTransfer, TransferOutcome, TransferState, parse_key

_ORGANIZATION, _PAYOUT, _ANN, _BEN, _MILESTONE = map(UUID, (f"{n:032x}" for n in range(1, 6)))
_AT = datetime(2026, 11, 28, 12, tzinfo=UTC)
_SINCE = _AT - timedelta(hours=1)
_NATIVES = (NativeSum("EUR", 1840, 2000, Decimal("0.92"), date(2026, 11, 27)),)

TRANSFER = RailTransfer(
    method="ProcessorConnect",
    reference="tr_1",
    state=TransferState.paid,
    amount_cents=2000,
    currency="USD",
    made_at=_AT,
    account="acct_ann",
    key=f"payout:{_PAYOUT}:1",
    payout_id=_PAYOUT,
    organization_id=_ORGANIZATION,
    affiliate_id=_ANN,
    natives=_NATIVES,
)
PAYOUT = KnownPayout(
    id=_PAYOUT,
    organization_id=_ORGANIZATION,
    status="Pending",
    attempt=1,
    amount_cents=2000,
    method="ProcessorConnect",
    is_voided=False,
    is_listed=False,
    failure_code=None,
    external_transaction_id=None,
)
LOST_PAYOUT_FACTS = MatchingFacts(
    payout=None,
    has_organization=True,
    has_affiliate=True,
    paid_to_account=(_ANN,),
    milestone=None,
    has_unpaid_milestones=False,
)

_KNOWN, _RESUMED, _OPEN = TransferOutcome.Known, TransferOutcome.Resumed, TransferOutcome.Undecided
_SECOND = {"key": f"payout:{_PAYOUT}:2"}
_BY_HAND = {"method": "Manual", "key": None, "reference": "wire 7"}
_PAID_BY_WIRE = {"status": "Paid", "method": "Manual", "external_transaction_id": "wire 7"}


def _match(transfer, facts):
    return match(transfer, facts, since=_SINCE)


@pytest.mark.parametrize(
    ("transfer", "payout", "outcome", "problem"),
    [
        ({}, {"status": "Pending"}, _RESUMED, None),
        ({"state": TransferState.in_flight}, {"status": "Pending"}, _RESUMED, None),
        ({}, {"status": "Processing"}, _KNOWN, None),
        ({}, {"status": "Paid"}, _KNOWN, None),
        ({}, {"status": "Paid", "method": "Manual"}, _OPEN, Problem.paid_twice),
        (_SECOND, {"status": "Paid"}, _OPEN, Problem.paid_twice),
        (_SECOND, {"status": "Failed"}, _RESUMED, None),
        (_SECOND, {"status": "Processing"}, _RESUMED, None),
        (_SECOND, {"status": "Pending"}, _RESUMED, None),
        ({}, {"status": "Failed"}, _OPEN, Problem.held_as_failed),
        ({}, {"status": "Processing", "attempt": 2}, _OPEN, Problem.held_as_failed),
        ({}, {"status": "Failed", "is_voided": True}, _OPEN, Problem.payout_voided),
        ({}, {"status": "Pending", "is_listed": True}, _OPEN, Problem.paid_twice),
        ({"amount_cents": 1999}, {"status": "Pending"}, _OPEN, Problem.amount_differs),
        ({"currency": "EUR"}, {"status": "Processing"}, _OPEN, Problem.amount_differs),
        ({"organization_id": _BEN}, {"status": "Pending"}, _OPEN, Problem.organization_differs),
        ({"state": TransferState.returned}, {"status": "Pending"}, TransferOutcome.MovedNothing, None),
        (_BY_HAND, {"status": "Pending"}, _RESUMED, None),
        (_BY_HAND, {"status": "Failed"}, _RESUMED, None),
        (_BY_HAND, {"status": "Pending", "is_listed": True}, _RESUMED, None),
        (_BY_HAND, {"status": "Processing"}, _OPEN, Problem.payout_processing),
        (_BY_HAND, _PAID_BY_WIRE, _KNOWN, None),
        (_BY_HAND, {"status": "Paid", "external_transaction_id": "wire 6"}, _OPEN, Problem.paid_twice),
        (_BY_HAND | {"amount_cents": 1}, {"status": "Pending"}, _OPEN, Problem.amount_differs),
        (_BY_HAND | {"state": TransferState.in_flight}, {"status": "Pending"}, _OPEN, Problem.in_flight),
        (_BY_HAND | {"amount_cents": 1}, _PAID_BY_WIRE, _OPEN, Problem.paid_twice),
        (_BY_HAND | {"amount_cents": 1, "currency": "EUR"}, _PAID_BY_WIRE, _KNOWN, None),
        (_BY_HAND | {"state": TransferState.returned}, _PAID_BY_WIRE, _OPEN, Problem.known_came_back),
        ({"amount_cents": 1999}, {"status": "Paid"}, _OPEN, Problem.paid_twice),
        ({"state": TransferState.returned}, {"status": "Paid"}, _OPEN, Problem.known_came_back),
        (_SECOND | {"state": TransferState.returned}, {"status": "Paid"}, TransferOutcome.MovedNothing, None),
        ({"key": None, "payout_id": None}, {"status": "Paid"}, _KNOWN, None),
        ({}, {"id": _BEN, "status": "Paid"}, _OPEN, Problem.paid_twice),
    ],
)
def test_transfer_of_a_stored_payout_is_matched_by_its_status(transfer, payout, outcome, problem):
    facts = replace(LOST_PAYOUT_FACTS, payout=replace(PAYOUT, **payout))

    decision = _match(replace(TRANSFER, **transfer), facts)

    assert (decision.outcome, decision.problem) == (outcome, problem)


@pytest.mark.parametrize(
    ("transfer", "facts", "affiliate", "problem"),
    [
        ({}, {}, _ANN, None),
        ({}, {"paid_to_account": ()}, _ANN, None),
        ({}, {"has_affiliate": False}, None, Problem.unknown_affiliate),
        ({"affiliate_id": None}, {}, _ANN, None),
        ({"affiliate_id": None}, {"paid_to_account": (_ANN, _BEN)}, None, Problem.several_affiliates),
        ({"affiliate_id": None}, {"paid_to_account": ()}, None, Problem.unknown_affiliate),
        ({}, {"has_organization": False}, None, Problem.unknown_organization),
        ({"currency": "EUR"}, {}, None, Problem.not_in_usd),
        ({"state": TransferState.in_flight}, {}, None, Problem.in_flight),
        ({"natives": None}, {}, _ANN, None),
        ({"milestone_id": _MILESTONE}, {}, None, Problem.unknown_milestone),
        ({"milestone_id": _MILESTONE}, {"milestone": MilestoneReadiness.taken}, None, Problem.milestone_paid),
        ({"natives": None}, {"has_unpaid_milestones": True}, None, Problem.milestone_unclear),
        ({}, {"has_unpaid_milestones": True}, _ANN, None),
        ({"made_at": _SINCE - timedelta(seconds=1)}, {}, None, Problem.before_restore),
        ({"made_at": _SINCE}, {}, _ANN, None),
        ({"returned_cents": 1}, {}, None, Problem.partly_returned),
    ],
)
def test_transfer_of_a_lost_payout_is_booked_or_left_undecided(transfer, facts, affiliate, problem):
    decision = _match(replace(TRANSFER, **transfer), replace(LOST_PAYOUT_FACTS, **facts))

    expected = TransferOutcome.Booked if problem is None else TransferOutcome.Undecided
    assert (decision.outcome, decision.problem, decision.affiliate_id) == (expected, problem, affiliate)


def test_lost_payout_is_booked_in_its_native_currencies():
    assert _match(TRANSFER, LOST_PAYOUT_FACTS).natives == _NATIVES


def test_transfer_without_native_sums_is_booked_in_us_dollars():
    decision = _match(replace(TRANSFER, natives=None), LOST_PAYOUT_FACTS)

    assert [(native.currency, native.native_cents, native.cents) for native in decision.natives] == [
        ("USD", 2000, 2000)
    ]


@pytest.mark.parametrize(
    ("readiness", "outcome"),
    [(MilestoneReadiness.ready, TransferOutcome.Resumed), (MilestoneReadiness.too_early, TransferOutcome.Waiting)],
)
def test_lost_milestone_payout_is_resumed_when_ready_and_waits_otherwise(readiness, outcome):
    decision = _match(replace(TRANSFER, milestone_id=_MILESTONE), replace(LOST_PAYOUT_FACTS, milestone=readiness))

    assert decision.outcome == outcome


def test_payout_voided_for_netting_is_booked_when_its_rail_lists_it():
    netted = replace(PAYOUT, status="Failed", is_voided=True, failure_code=NETTED)

    assert _match(TRANSFER, replace(LOST_PAYOUT_FACTS, payout=netted)).outcome == TransferOutcome.Booked


def test_every_problem_has_advice():
    assert set(ADVICE) == set(Problem)


@pytest.mark.parametrize("key", [None, "", "payout:1:1", f"payout:{_PAYOUT}:0", f"payout:{_PAYOUT}", f"x:{_PAYOUT}:1"])
def test_malformed_key_identifies_no_payout(key):
    assert parse_key(key) is None
    assert parse_key(f"payout:{_PAYOUT}:12") == (_PAYOUT, 12)
