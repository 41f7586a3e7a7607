"""What becomes of clicks. Source: core spec, "Click and lead fraud review" and "Program" (budgetCents)."""

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


def _purse(budget_cents=None):
    budget = None if budget_cents is None else Fee(budget_cents, "USD")
    return {"p": BudgetReserve(budget=budget, spent={}, per_usd={})}


@pytest.mark.parametrize(("score", "outcome"), [(0, "earned"), (60, "held"), (100, "blocked")])
def test_a_paid_click_earns_as_its_score_allows(score, outcome):
    assert outcomes.outcome(_click(score=score), strictness="balanced") == outcome


@pytest.mark.parametrize(("score", "outcome"), [(0, "recorded"), (60, "recorded"), (100, "blocked")])
def test_a_click_that_pays_nothing_is_recorded_or_blocked(score, outcome):
    assert outcomes.outcome(_click(score=score, terms=None), strictness="balanced") == outcome


@pytest.mark.parametrize("score", [0, 60, 100])
def test_a_duplicate_is_nothing_else(score):
    assert outcomes.outcome(_click(score=score, is_duplicate=True), strictness="balanced") == "duplicate"


@pytest.mark.parametrize(("score", "outcome"), [(0, "unscored"), (60, "held"), (100, "blocked")])
def test_only_what_passes_our_rules_waits_for_the_scorer(score, outcome):
    assert outcomes.outcome(_click(score=score), strictness="balanced", waits_for_scorer=True) == outcome


def test_clicks_of_an_hour_and_a_tag_make_one_row():
    clicks = [_click(1), _click(2, occurred_at=NOON + timedelta(minutes=59)), _click(3, sub_id="mail")]

    harvest = outcomes.gather(outcomes.group_by_hour(clicks), rows={}, purses=_purse())

    assert [(one.external_event_id, one.row, one.cents) for one in harvest.gathered] == [
        (BASE, None, 20),
        (f"{BASE}:mail", None, 10),
    ]
    assert harvest.unpaid == {}


def test_a_row_that_is_there_takes_more():
    row = _row()

    (gathered,) = outcomes.gather(outcomes.group_by_hour([_click()]), rows={BASE: row}, purses=_purse()).gathered

    assert (gathered.row, gathered.cents) == (row, 10)


def test_what_the_budget_does_not_hold_is_over_it():
    harvest = outcomes.gather(
        outcomes.group_by_hour([_click(n) for n in range(3)]), rows={}, purses=_purse(budget_cents=25)
    )

    assert [len(one.clicks) for one in harvest.gathered] == [2]
    assert harvest.unpaid == {"click-2": "over_budget"}


def test_a_spent_budget_makes_no_row():
    harvest = outcomes.gather(outcomes.group_by_hour([_click()]), rows={}, purses=_purse(budget_cents=0))

    assert (harvest.gathered, harvest.unpaid) == ([], {"click-1": "over_budget"})


def test_clicks_of_a_row_that_was_denied_are_recorded_and_cost_no_budget():
    purses = _purse(budget_cents=10)

    harvest = outcomes.gather(outcomes.group_by_hour([_click()]), rows={BASE: _row(status="Denied")}, purses=purses)

    assert (harvest.gathered, harvest.unpaid) == ([], {"click-1": "recorded"})
    assert purses["p"].reserve(Fee(10, "USD"), 1) == 1


def test_further_rows_are_looked_for_only_beside_one_of_another_fee():
    hours = outcomes.group_by_hour([_click()])

    assert outcomes.list_successor_ids(hours, {}) == set()
    assert outcomes.list_successor_ids(hours, {BASE: _row()}) == set()
    further = outcomes.list_successor_ids(hours, {BASE: _row(value=Decimal("0.20"))})
    assert {f"{BASE}@10USD", f"{BASE}@10USD+2", f"{BASE}@10USD+24"} <= further
    assert BASE not in further
