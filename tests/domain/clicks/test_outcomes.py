"""Outcomes of clicks. Source: core spec, "Click and lead fraud review" and "Program" (budgetCents)."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from domain.clicks import outcomes
from domain.clicks.gathering import HourRow
from domain.clicks.outcomes import ClickTerms, JudgedClick
from domain.fraud import Verdict
from domain.programs.fees import Fee
from domain.programs.rewards import BudgetReserve, Reward

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TERMS = ClickTerms(Reward(Fee(10, "USD"), Decimal("0.10"), "program"), grace_days=30)
BASE = "cpc:p:a:2026030112"


def _click(number=1, score=0, terms=TERMS, **fields):
    values = {"program_id": "p", "affiliate_id": "a", "sub_id": None, "occurred_at": NOON} | fields
    return JudgedClick(id=f"click-{number}", verdict=Verdict(score, ()), terms=terms, **values)


def _row(**fields):
    values = {"status": "Pending", "currency": "USD", "value": Decimal("0.10"), "commission_cents": 20}
    return HourRow(id=UUID(int=1), external_event_id=BASE, reversed_cents=0, **values | fields)


def _reserves(budget_cents=None):
    budget = None if budget_cents is None else Fee(budget_cents, "USD")
    return {"p": BudgetReserve(budget=budget, spent={}, per_usd={})}


@pytest.mark.parametrize(("score", "outcome"), [(0, "earned"), (60, "held"), (100, "blocked")])
def test_paid_click_is_earned_held_or_blocked_by_its_score(score, outcome):
    assert outcomes.outcome(_click(score=score), strictness="balanced") == outcome


@pytest.mark.parametrize(("score", "outcome"), [(0, "recorded"), (60, "recorded"), (100, "blocked")])
def test_unpaid_click_is_recorded_or_blocked(score, outcome):
    assert outcomes.outcome(_click(score=score, terms=None), strictness="balanced") == outcome


@pytest.mark.parametrize("score", [0, 60, 100])
def test_duplicate_stays_a_duplicate_at_any_score(score):
    assert outcomes.outcome(_click(score=score, is_duplicate=True), strictness="balanced") == "duplicate"


@pytest.mark.parametrize(("score", "outcome"), [(0, "unscored"), (60, "held"), (100, "blocked")])
def test_only_a_passing_click_waits_for_the_scorer(score, outcome):
    assert outcomes.outcome(_click(score=score), strictness="balanced", waits_for_scorer=True) == outcome


def test_clicks_of_an_hour_and_sub_id_share_a_row():
    clicks = [_click(1), _click(2, occurred_at=NOON + timedelta(minutes=59)), _click(3, sub_id="mail")]

    result = outcomes.gather(outcomes.group_by_hour(clicks), rows={}, purses=_reserves())

    assert [(group.external_event_id, group.row, group.cents) for group in result.gathered] == [
        (BASE, None, 20),
        (f"{BASE}:mail", None, 10),
    ]
    assert result.unpaid == {}


def test_existing_row_is_extended():
    row = _row()

    (gathered,) = outcomes.gather(outcomes.group_by_hour([_click()]), rows={BASE: row}, purses=_reserves()).gathered

    assert (gathered.row, gathered.cents) == (row, 10)


def test_clicks_beyond_the_budget_are_over_budget():
    result = outcomes.gather(
        outcomes.group_by_hour([_click(n) for n in range(3)]), rows={}, purses=_reserves(budget_cents=25)
    )

    assert [len(group.clicks) for group in result.gathered] == [2]
    assert result.unpaid == {"click-2": "over_budget"}


def test_spent_budget_creates_no_row():
    result = outcomes.gather(outcomes.group_by_hour([_click()]), rows={}, purses=_reserves(budget_cents=0))

    assert (result.gathered, result.unpaid) == ([], {"click-1": "over_budget"})


def test_clicks_of_a_denied_row_are_recorded_without_budget():
    reserves = _reserves(budget_cents=10)

    result = outcomes.gather(outcomes.group_by_hour([_click()]), rows={BASE: _row(status="Denied")}, purses=reserves)

    assert (result.gathered, result.unpaid) == ([], {"click-1": "recorded"})
    assert reserves["p"].reserve(Fee(10, "USD"), 1) == 1


def test_successor_ids_are_listed_only_for_a_row_with_another_fee():
    hours = outcomes.group_by_hour([_click()])

    assert outcomes.list_successor_ids(hours, {}) == set()
    assert outcomes.list_successor_ids(hours, {BASE: _row()}) == set()
    successor_ids = outcomes.list_successor_ids(hours, {BASE: _row(value=Decimal("0.20"))})
    assert {f"{BASE}@10USD", f"{BASE}@10USD+2", f"{BASE}@10USD+24"} <= successor_ids
    assert BASE not in successor_ids
