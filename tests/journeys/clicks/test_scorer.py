"""Clicks scored by the operator's scorer: they wait for their score, then earn or are blocked.

Source: core spec, "Click and lead fraud review".
"""

import json
from datetime import datetime, timedelta

import pytest

from adapters.fraud import scorer as fraud_scorer
from domain import jobs
from domain.fraud import Verdict
from models import db
from tests.support.rows.click_rows import HOUR, build_click, list_aggregates, list_outcomes, write

HEADLESS = "Mozilla/5.0 HeadlessChrome/140.0"


def _time_after(seconds: float) -> datetime:
    return HOUR + timedelta(seconds=seconds)


@pytest.fixture
def scorer(monkeypatch):
    """An operator's scorer that returns the next of `answers` for each click; unreachable when they are used up."""
    answers: list[Verdict] = []
    requests = []

    def judge(facts):
        requests.append(facts)
        if not answers:
            raise fraud_scorer.ScorerAway("away")
        return answers.pop(0)

    monkeypatch.setattr(fraud_scorer, "is_configured", lambda: True)
    monkeypatch.setattr(fraud_scorer, "judge", judge)
    return answers, requests


def test_click_earns_once_the_scorer_has_responded(click_brand, ben, scorer, drain):
    answers, requests = scorer
    click = build_click(click_brand, ben, query_names=["gclid"])
    write(click_brand, click)
    state_before = list_outcomes(click_brand, [click]), list_aggregates(click_brand)
    answers.append(Verdict(5, ("odd_hour",)))

    drain()

    assert state_before == (["unscored"], [])
    assert list_outcomes(click_brand, [click]) == ["earned"]
    assert [row[1] for row in list_aggregates(click_brand)] == [10]
    assert click_brand.rows("select score, reasons from click") == [(35, ["paid_ads", "odd_hour"])]
    assert (requests[0].agent, requests[0].query_names) == (click.agent, frozenset({"gclid"}))


@pytest.mark.parametrize(("points", "outcome"), [(50, "held"), (80, "blocked")])
def test_score_of_the_scorer_decides_like_own_rules(click_brand, ben, scorer, drain, *, points, outcome):
    click = build_click(click_brand, ben)
    write(click_brand, click)
    scorer[0].append(Verdict(points, ("odd",)))

    drain()

    assert list_outcomes(click_brand, [click]) == [outcome]
    assert click_brand.rows("select action, score, reasons from fraud_event") == [(outcome, points, ["odd"])]


def test_clicks_wait_while_the_scorer_is_unreachable(click_brand, ben, scorer, drain):
    click = build_click(click_brand, ben)
    write(click_brand, click)

    drain()

    assert list_outcomes(click_brand, [click]) == ["unscored"]
    assert click_brand.rows("select name, failed_at, run_at > now() + interval '30 seconds' from job") == [
        (jobs.CLICKS_RESCORE.name, None, True)
    ]

    scorer[0].append(Verdict(0, ()))
    with db.any_org_work():
        db.db.stage("update job set run_at = now()")
    drain()
    assert list_outcomes(click_brand, [click]) == ["earned"]


def test_click_is_settled_once_despite_duplicate_jobs(click_brand, ben, scorer, drain):
    write(click_brand, build_click(click_brand, ben))
    with db.any_org_work():
        db.db.stage(
            "insert into job (organization_id, queue, name, args, fair_key, max_attempts)"
            " select organization_id, queue, name, args, fair_key, max_attempts from job"
        )
    scorer[0].extend([Verdict(0, ())] * 2)

    drain()

    assert [row[1] for row in list_aggregates(click_brand)] == [10]


def test_budget_limits_clicks_scored_late(brand, scorer, drain):
    brand.program(click_reward_cents=10, budget_cents=25)
    ben = brand.affiliate("ben")
    batch = [build_click(brand, ben, at=_time_after(60 * n)) for n in range(4)]
    write(brand, *batch)
    scorer[0].extend([Verdict(0, ())] * 4)

    drain()

    assert list_outcomes(brand, batch) == ["earned"] * 2 + ["over_budget"] * 2


def test_click_waiting_for_the_scorer_makes_later_clicks_duplicates(click_brand, ben, scorer):
    batch = [build_click(click_brand, ben, visitor="v", at=_time_after(n)) for n in (0, 5)]

    write(click_brand, batch[0])
    write(click_brand, batch[1])

    assert list_outcomes(click_brand, batch) == ["unscored", "duplicate"]
    (args,) = click_brand.rows("select args from job")[0]
    assert list(json.loads(args["clicks"])) == [batch[0].id]
