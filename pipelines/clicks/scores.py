"""Clicks that wait for the operator's scorer: they are kept, and earn once it has spoken.

Read in a transaction, asked outside of any, settled in another. Source: core spec, "Click and lead fraud review".
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
    """Clicks of one organization that wait for their score, with what they are judged by."""

    organization_id: UUID
    facts: Mapping[str, ClickFacts]


def waiting(*, organization_id: UUID, asked: str) -> WaitingClicks | None:
    """Return those clicks of a job that still wait; None when none does. `asked` is what `clicks.write` staged."""
    facts = {click_id: _facts(said) for click_id, said in orjson.loads(asked).items()}
    found = batches.list_unscored(organization_id=organization_id, click_ids=list(facts))
    return WaitingClicks(organization_id, {one.id: facts[one.id] for one in found}) if found else None


def ask(those: WaitingClicks) -> dict[str, Verdict] | None:
    """Return what the scorer says of each; None when it is away."""
    try:
        return {click_id: scorer.judge(facts) for click_id, facts in those.facts.items()}
    except scorer.ScorerAway:
        return None


def settle(*, organization_id: UUID, said: Mapping[str, Verdict], now: datetime) -> None:
    """Stage what becomes of clicks now that the scorer has spoken; what it says is added to our own score."""
    advisory_locks.stage_clicks_lock(organization_id)
    found = batches.list_unscored(organization_id=organization_id, click_ids=list(said))
    if not found:
        return
    scored = _scored(organization_id, found, said)
    strictness = fraud_settings.read(organization_id).strictness
    fates = pay.settle(scored, organization_id=organization_id, strictness=strictness, waits_for_scorer=False, now=now)
    batches.stage_scores(
        organization_id=organization_id,
        rows=[
            {
                "id": one.id,
                "score": one.verdict.score,
                "reasons": one.verdict.reasons or None,
                "outcome": fates[one.id].outcome,
                "conversion_id": fates[one.id].conversion_id,
            }
            for one in scored
        ],
    )


def _scored(organization_id: UUID, found: list[UnscoredClick], said: Mapping[str, Verdict]) -> list[JudgedClick]:
    terms = clicks.terms_of(organization_id, {one.affiliate_id for one in found})
    return [
        JudgedClick(
            id=one.id,
            program_id=one.program_id,
            affiliate_id=one.affiliate_id,
            sub_id=one.sub_id,
            occurred_at=one.occurred_at,
            verdict=fraud.add_verdicts(Verdict(one.score, tuple(one.reasons or ())), said[one.id]),
            terms=terms.get((one.program_id, one.affiliate_id)),
        )
        for one in found
    ]


def _facts(said: Mapping[str, Any]) -> ClickFacts:
    values = {name: frozenset(value) if name in _SETS else value for name, value in said.items()}
    return stored_values.read(ClickFacts, values | {"languages": tuple(said["languages"])})
