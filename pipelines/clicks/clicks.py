"""Writes clicks with their score, outcome and earnings. A click that is written already stays as it is.

Source: core spec, "Click and lead fraud review", "Program" (Cpc primaries, clickRewardCents, budgetCents).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import orjson

from adapters.fraud import scorer
from domain import jobs
from domain.clicks import history, outcomes, scoring
from domain.clicks.history import ClickHistory
from domain.clicks.outcomes import ClickTerms, JudgedClick
from domain.clicks.raw_click import RawClick
from domain.clicks.scoring import ScoredClick
from models import advisory_locks
from models.clicks import batches
from models.clicks.batches import ClickKind, NewClick
from models.fraud import fraud_settings
from models.fraud.fraud_settings import FraudSettings
from pipelines import work
from pipelines.clicks import pay
from pipelines.clicks.pay import ClickResult
from pipelines.programs import rewards

# How many clicks one job sends to the scorer, each for up to two seconds.
_CLICKS_PER_JOB = 20


@dataclass(frozen=True, slots=True)
class WrittenClicks:
    """How many clicks of a batch were new, and how many of those were duplicates."""

    new: int = 0
    duplicates: int = 0


class _AssessedClick(NamedTuple):
    """A click with the facts of its score, and with the facts of its outcome."""

    sighting: ScoredClick
    judged: JudgedClick


def write(
    batch: Sequence[RawClick],
    now: datetime,
    *,
    wait_ms: int | None = None,
    judged: Sequence[ScoredClick] | None = None,
) -> WrittenClicks:
    """Write clicks of one organization, in the unit of work of that organization or of all.

    No other transaction writes the organization's clicks meanwhile: duplicates, aggregates and budgets are the
    same for any number of writers. `wait_ms` is how long to wait for other writers (None: as long as for any lock).
    `judged` are the clicks scored by each other, where the caller has done that already.
    Raises ValueError for clicks of several organizations, for invalid ids and for invalid times.
    Budget: 1 round trip for a batch that is written already; 5 and the commit where nothing is paid, plus those of
    `pay.settle` where clicks are paid. Networks with many clicks within the hour cost one more, affiliates whose fee
    depends on a performance tier three each, and a batch whose ids span many ids of other batches one.
    """
    organization_id = _organization_of(batch)
    advisory_locks.stage_clicks_lock(organization_id, wait_ms=wait_ms)
    new = _select_new(organization_id, batch, judged)
    if not new:
        return WrittenClicks()
    settings = fraud_settings.read(organization_id)
    assessed = _assess(organization_id, new, settings)
    results = pay.settle(
        [click.judged for click in assessed],
        organization_id=organization_id,
        strictness=settings.strictness,
        waits_for_scorer=scorer.is_configured(),
        now=now,
    )
    _enqueue_scoring(organization_id, [click for click in assessed if results[click.judged.id].outcome == "unscored"])
    rows = [_build_row(click, results[click.judged.id]) for click in assessed]
    batches.stage_insert(organization_id=organization_id, clicks=rows, now=now)
    return WrittenClicks(new=len(new), duplicates=sum(click.judged.is_duplicate for click in assessed))


def _organization_of(batch: Sequence[RawClick]) -> UUID:
    organization_ids = {click.organization_id for click in batch}
    if len(organization_ids) != 1:
        raise ValueError(f"a batch is of one organization, not of {len(organization_ids)}")
    return UUID(organization_ids.pop())


def _select_new(
    organization_id: UUID, batch: Sequence[RawClick], judged: Sequence[ScoredClick] | None
) -> Sequence[ScoredClick]:
    """Return the clicks that are not written yet, scored by each other."""
    written_ids = batches.find_existing(organization_id=organization_id, click_ids=[click.id for click in batch])
    if judged is not None and not written_ids:
        return judged
    return scoring.score_batch(click for click in batch if click.id not in written_ids)


def _assess(organization_id: UUID, new: Sequence[ScoredClick], settings: FraudSettings) -> list[_AssessedClick]:
    """Score clicks also by earlier clicks in the database."""
    past = _read_history(organization_id, new)
    terms = find_terms(organization_id, {sighting.click.affiliate_id for sighting in new})
    assessed = []
    for sighting in scoring.rescore(new, past, settings.banned_referrers):
        click = sighting.click
        judged = JudgedClick(
            click.id,
            click.program_id,
            click.affiliate_id,
            click.sub_id,
            sighting.at,
            sighting.verdict,
            terms.get((click.program_id, click.affiliate_id)),
            sighting.is_duplicate,
        )
        assessed.append(_AssessedClick(sighting, judged))
    return assessed


def _read_history(organization_id: UUID, new: Sequence[ScoredClick]) -> ClickHistory:
    before, start = ClickHistory(), new[0].at
    for visit in batches.list_visits(
        organization_id=organization_id,
        visitors={sighting.click.visitor for sighting in new},
        since=start - history.DEVICE_WINDOW,
        near=(start - history.WINDOW, new[-1].at + history.WINDOW),
    ):
        before.add_visits(
            visitor=visit.visitor,
            program_id=visit.program_id,
            affiliate_id=visit.affiliate_id,
            slug=visit.slug,
            last_at=visit.last_at,
            near_first=visit.near_first,
            near_last=visit.near_last,
        )
    for network in batches.list_network_visits(
        organization_id=organization_id,
        links={(sighting.click.network, sighting.click.program_id, sighting.click.slug) for sighting in new},
        since=start - history.WINDOW,
        enough=history.MAX_COUNTED_CLICKS,
    ):
        before.add_network(
            network=network.network, program_id=network.program_id, slug=network.slug, times=network.times
        )
    return before


def find_terms(organization_id: UUID, affiliate_ids: Iterable[str]) -> dict[tuple[str, str], ClickTerms]:
    """Return the current fee of one click by program and affiliate; affiliates who earn nothing by clicks are left out.

    Budget: 1 round trip; three or four more for every affiliate whose fee depends on a performance tier.
    """
    terms = {}
    for partner in batches.list_partners(organization_id=organization_id, affiliate_ids=sorted(affiliate_ids)):
        if not partner.is_earning:
            continue
        reward = rewards.compute_fee(
            partner.terms,
            organization_id=organization_id,
            program_id=UUID(partner.program_id),
            affiliate_id=UUID(partner.affiliate_id),
            kind="click",
        )
        if reward is not None and reward.fee.cents > 0:
            terms[partner.program_id, partner.affiliate_id] = ClickTerms(reward, partner.grace_days)
    return terms


@dataclass(frozen=True, slots=True)
class ClickPreview:
    """The outcome that a click would have, with its score and the names of the rules that apply."""

    outcome: str
    score: int
    reasons: Sequence[str]


def preview(click: RawClick) -> ClickPreview:
    """Return the outcome that a click would have, ignoring budgets and the operator's scorer. Writes and locks nothing.

    Clicks that are still in the stream are not considered. Budget: 4 round trips and those of `write` for tiers.
    """
    organization_id = _organization_of([click])
    settings = fraud_settings.read(organization_id)
    (assessed,) = _assess(organization_id, scoring.score_batch([click]), settings)
    outcome = outcomes.outcome(assessed.judged, strictness=settings.strictness)
    return ClickPreview(outcome, assessed.judged.verdict.score, assessed.judged.verdict.reasons)


def _enqueue_scoring(organization_id: UUID, waiting: Sequence[_AssessedClick]) -> None:
    """Stage the jobs that call the operator's scorer: no external call inside a transaction."""
    for start in range(0, len(waiting), _CLICKS_PER_JOB):
        facts = {click.judged.id: click.sighting.facts._asdict() for click in waiting[start : start + _CLICKS_PER_JOB]}
        work.enqueue(
            jobs.CLICKS_RESCORE, organization_id=organization_id, clicks=orjson.dumps(facts, default=sorted).decode()
        )


def _build_row(click: _AssessedClick, result: ClickResult) -> NewClick:
    """Return the row of a click."""
    raw, judged = click.sighting.click, click.judged
    kind = ClickKind(
        raw.program_id,
        raw.affiliate_id,
        raw.slug,
        raw.sub_id,
        judged.is_duplicate,
        judged.verdict.score,
        judged.verdict.reasons,
        result.outcome,
        result.conversion_id,
        raw.country,
    )
    return NewClick(raw.id, raw.visitor, raw.network, judged.occurred_at, kind)
