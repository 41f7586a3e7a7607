"""Writes clicks: what each is judged by, what came of it, what it earns. One that is written already stays as it is.

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
from pipelines.clicks.pay import Fate
from pipelines.programs import rewards

# How many clicks one job asks the scorer about, each for up to two seconds.
_ASKED_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class WrittenClicks:
    """How many clicks of a batch were new, and how many of those were duplicates."""

    new: int = 0
    duplicates: int = 0


class _Seen(NamedTuple):
    """A click with what it was judged by, and what its fate depends on."""

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

    Nobody else writes the organization's clicks until the transaction ends: duplicates, aggregates and budgets are the
    same however many write. `wait_ms` is how long to wait for those who do (None: as long as for any lock). `judged`
    are the clicks as they are `by_one_another`, where the caller had the time for it.
    Raises ValueError for clicks of several organizations, for what is not an id and for what is not a time.
    Budget: 1 round trip for a batch that is known; 5 and the commit where nothing is paid, and where clicks are paid
    what `pay.settle` says on top. Networks that did much within the hour cost one more, affiliates whose fee depends on
    a performance tier three each, and a batch among whose ids lie many others' one.
    """
    organization_id = _organization(batch)
    advisory_locks.stage_clicks_lock(organization_id, wait_ms=wait_ms)
    new = _new(organization_id, batch, judged)
    if not new:
        return WrittenClicks()
    settings = fraud_settings.read(organization_id)
    seen = _seen(organization_id, new, settings)
    found = pay.settle(
        [one.judged for one in seen],
        organization_id=organization_id,
        strictness=settings.strictness,
        waits_for_scorer=scorer.is_configured(),
        now=now,
    )
    _ask_scorer(organization_id, [one for one in seen if found[one.judged.id].outcome == "unscored"])
    written = [_written(one, found[one.judged.id]) for one in seen]
    batches.stage_insert(organization_id=organization_id, clicks=written, now=now)
    return WrittenClicks(new=len(new), duplicates=sum(one.judged.is_duplicate for one in seen))


def _organization(batch: Sequence[RawClick]) -> UUID:
    found = {click.organization_id for click in batch}
    if len(found) != 1:
        raise ValueError(f"a batch is of one organization, not of {len(found)}")
    return UUID(found.pop())


def _new(
    organization_id: UUID, batch: Sequence[RawClick], judged: Sequence[ScoredClick] | None
) -> Sequence[ScoredClick]:
    """Return the clicks that are not written yet, judged by one another."""
    known = batches.find_existing(organization_id=organization_id, click_ids=[click.id for click in batch])
    if judged is not None and not known:
        return judged
    return scoring.score_batch(click for click in batch if click.id not in known)


def _seen(organization_id: UUID, new: Sequence[ScoredClick], settings: FraudSettings) -> list[_Seen]:
    """Judge clicks by what came before them in the database, too."""
    past = _history(organization_id, new)
    terms = terms_of(organization_id, {one.click.affiliate_id for one in new})
    seen = []
    for one in scoring.rescore(new, past, settings.banned_referrers):
        click = one.click
        judged = JudgedClick(
            click.id,
            click.program_id,
            click.affiliate_id,
            click.sub_id,
            one.at,
            one.verdict,
            terms.get((click.program_id, click.affiliate_id)),
            one.is_duplicate,
        )
        seen.append(_Seen(one, judged))
    return seen


def _history(organization_id: UUID, new: Sequence[ScoredClick]) -> ClickHistory:
    before, start = ClickHistory(), new[0].at
    for seen in batches.list_visits(
        organization_id=organization_id,
        visitors={one.click.visitor for one in new},
        since=start - history.DEVICE_WINDOW,
        near=(start - history.WINDOW, new[-1].at + history.WINDOW),
    ):
        before.add_visits(
            visitor=seen.visitor,
            program_id=seen.program_id,
            affiliate_id=seen.affiliate_id,
            slug=seen.slug,
            last_at=seen.last_at,
            near_first=seen.near_first,
            near_last=seen.near_last,
        )
    for seen_by in batches.list_network_visits(
        organization_id=organization_id,
        links={(one.click.network, one.click.program_id, one.click.slug) for one in new},
        since=start - history.WINDOW,
        enough=history.MAX_COUNTED_CLICKS,
    ):
        before.add_network(
            network=seen_by.network, program_id=seen_by.program_id, slug=seen_by.slug, times=seen_by.times
        )
    return before


def terms_of(organization_id: UUID, affiliate_ids: Iterable[str]) -> dict[tuple[str, str], ClickTerms]:
    """Return what one click pays now, by program and affiliate; who earns nothing with clicks is left out.

    Budget: 1 round trip; three or four more for every affiliate whose fee depends on a performance tier.
    """
    found = {}
    for partner in batches.list_partners(organization_id=organization_id, affiliate_ids=sorted(affiliate_ids)):
        if not partner.is_earning:
            continue
        reward = rewards.fee_by(
            partner.terms,
            organization_id=organization_id,
            program_id=UUID(partner.program_id),
            affiliate_id=UUID(partner.affiliate_id),
            kind="click",
        )
        if reward is not None and reward.fee.cents > 0:
            found[partner.program_id, partner.affiliate_id] = ClickTerms(reward, partner.grace_days)
    return found


@dataclass(frozen=True, slots=True)
class ClickPreview:
    """What would become of a click, with its score and the names of the rules that hold."""

    outcome: str
    score: int
    reasons: Sequence[str]


def preview(click: RawClick) -> ClickPreview:
    """Say what the writer would make of a click, budgets and the operator's scorer aside. Writes and waits for nothing.

    Clicks that still lie on the stream are not known. Budget: 4 round trips and those of `write` for tiers.
    """
    organization_id = _organization([click])
    settings = fraud_settings.read(organization_id)
    (one,) = _seen(organization_id, scoring.score_batch([click]), settings)
    outcome = outcomes.outcome(one.judged, strictness=settings.strictness)
    return ClickPreview(outcome, one.judged.verdict.score, one.judged.verdict.reasons)


def _ask_scorer(organization_id: UUID, waiting: Sequence[_Seen]) -> None:
    """Stage the jobs that ask the operator's scorer: no call to the outside inside a transaction."""
    for start in range(0, len(waiting), _ASKED_AT_ONCE):
        facts = {one.judged.id: one.sighting.facts._asdict() for one in waiting[start : start + _ASKED_AT_ONCE]}
        work.enqueue(
            jobs.CLICKS_RESCORE, organization_id=organization_id, clicks=orjson.dumps(facts, default=sorted).decode()
        )


def _written(one: _Seen, fate: Fate) -> NewClick:
    """Return a click as it is written."""
    raw, judged = one.sighting.click, one.judged
    kind = ClickKind(
        raw.program_id,
        raw.affiliate_id,
        raw.slug,
        raw.sub_id,
        judged.is_duplicate,
        judged.verdict.score,
        judged.verdict.reasons,
        fate.outcome,
        fate.conversion_id,
        raw.country,
    )
    return NewClick(raw.id, raw.visitor, raw.network, judged.occurred_at, kind)
