"""Scores clicks that wait for the operator's scorer: they are stored, and earn once they are scored.

Read in a transaction, scored outside of any, settled in another. Source: core spec, "Click and lead fraud review".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from adapters.fraud import scorer
from domain import fraud
from domain.clicks.outcomes import JudgedClick
from domain.fraud import ClickFacts, Verdict
from domain.text import stored_values
from models import advisory_locks
from models.clicks import batches
from models.clicks.batches import UnscoredClick
from models.fraud import fraud_settings
from pipelines.clicks import clicks, pay

_SETS = ("banned_referrers", "query_names")


@dataclass(frozen=True, slots=True)
class WaitingClicks:
    """Clicks of one organization that wait for their score, with the facts for it."""

    organization_id: UUID
    facts: Mapping[str, ClickFacts]


def find_waiting(*, organization_id: UUID, clicks_json: str) -> WaitingClicks | None:
    """Return those clicks of a job that still wait; None when none does. `clicks_json`: as `clicks.write` staged it."""
    facts = {click_id: _parse_facts(values) for click_id, values in orjson.loads(clicks_json).items()}
    rows = batches.list_unscored(organization_id=organization_id, click_ids=list(facts))
    return WaitingClicks(organization_id, {row.id: facts[row.id] for row in rows}) if rows else None


def score(waiting_clicks: WaitingClicks) -> dict[str, Verdict] | None:
    """Return the scorer's verdict on each click; None when it is unavailable."""
    try:
        return {click_id: scorer.judge(facts) for click_id, facts in waiting_clicks.facts.items()}
    except scorer.ScorerUnavailable:
        return None


def settle(*, organization_id: UUID, verdicts: Mapping[str, Verdict], now: datetime) -> None:
    """Stage the outcomes of clicks by the scorer's verdicts, which are added to our own score."""
    advisory_locks.stage_clicks_lock(organization_id)
    rows = batches.list_unscored(organization_id=organization_id, click_ids=list(verdicts))
    if not rows:
        return
    clicks_ = _add_verdicts(organization_id, rows, verdicts)
    strictness = fraud_settings.read(organization_id).strictness
    results = pay.settle(
        clicks_, organization_id=organization_id, strictness=strictness, waits_for_scorer=False, now=now
    )
    batches.stage_scores(
        organization_id=organization_id,
        rows=[
            {
                "id": click.id,
                "score": click.verdict.score,
                "reasons": click.verdict.reasons or None,
                "outcome": results[click.id].outcome,
                "conversion_id": results[click.id].conversion_id,
            }
            for click in clicks_
        ],
    )


def _add_verdicts(
    organization_id: UUID, rows: list[UnscoredClick], verdicts: Mapping[str, Verdict]
) -> list[JudgedClick]:
    terms = clicks.find_terms(organization_id, {row.affiliate_id for row in rows})
    return [
        JudgedClick(
            id=row.id,
            program_id=row.program_id,
            affiliate_id=row.affiliate_id,
            sub_id=row.sub_id,
            occurred_at=row.occurred_at,
            verdict=fraud.add_verdicts(Verdict(row.score, tuple(row.reasons or ())), verdicts[row.id]),
            terms=terms.get((row.program_id, row.affiliate_id)),
        )
        for row in rows
    ]


def _parse_facts(values: Mapping[str, Any]) -> ClickFacts:
    fields = {name: frozenset(value) if name in _SETS else value for name, value in values.items()}
    return stored_values.read(ClickFacts, fields | {"languages": tuple(values["languages"])})
