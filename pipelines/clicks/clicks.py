"""Writes clicks: what each is judged by, what came of it, what it earns. One that is written already stays as it is.

Source: core spec, "Click and lead fraud review", "Program" (Cpc primaries, clickRewardCents, budgetCents).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

import orjson

from adapters.fraud import scorer
from domain import fraud, jobs
from domain.clicks import history as click_facts
from domain.clicks.raw_click import RawClick
from domain.fraud import ClickFacts, Verdict
from domain.programs.rewards import Reward
from models.clicks import batches
from models.clicks.batches import Partner
from models.fraud import fraud_settings
from models.fraud.fraud_settings import FraudSettings
from pipelines import work
from pipelines.clicks import pay
from pipelines.clicks.pay import Fate, PaidClick
from pipelines.fraud import events as fraud_records
from pipelines.fraud.events import BlockedClick
from pipelines.programs import rewards

# How many clicks one job asks the scorer about, each for up to two seconds.
_ASKED_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Written:
    """How many clicks of a batch were new, and how many of those were duplicates."""

    new: int = 0
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class _Judged:
    click: RawClick
    at: datetime
    facts: ClickFacts
    verdict: Verdict
    is_duplicate: bool

    @property
    def id(self) -> str:
        return self.click.id

    @property
    def pair(self) -> tuple[str, str]:
        return self.click.program_id, self.click.affiliate_id


def write(batch: Sequence[RawClick], now: datetime, *, wait_ms: int | None = None) -> Written:
    """Write clicks of one organization, in the unit of work of that organization or of all.

    Nobody else writes the organization's clicks until the transaction ends: duplicates, aggregates and budgets are the
    same however many write. `wait_ms` is how long to wait for those who do (None: as long as for any lock).
    Raises ValueError for clicks of several organizations, and for ids and times that are none.
    Budget: 1 round trip for a batch that is known; 5 and the commit where nothing is paid, and where clicks are paid
    what `pay.fates` says on top. Affiliates whose fee depends on a performance tier cost three each.
    """
    organization_id = _organization(batch)
    batches.take_turn(organization_id, wait_ms=wait_ms)
    new = _new(organization_id, batch)
    if not new:
        return Written()
    settings = fraud_settings.of(organization_id)
    judged = _judged(organization_id, new, settings)
    partners = batches.partners(
        organization_id=organization_id, affiliate_ids=sorted({click.affiliate_id for click, _ in new})
    )
    fates = _fates(organization_id, judged, partners, settings, now)
    rows = [_row(one, fates[one.id]) for one in judged]
    batches.stage_insert(organization_id=organization_id, rows=rows, now=now)
    return Written(new=len(new), duplicates=sum(one.is_duplicate for one in judged))


def _organization(batch: Sequence[RawClick]) -> UUID:
    found = {click.organization_id for click in batch}
    if len(found) != 1:
        raise ValueError(f"a batch is of one organization, not of {len(found)}")
    return UUID(found.pop())


def _new(organization_id: UUID, batch: Sequence[RawClick]) -> list[tuple[RawClick, datetime]]:
    """Return the clicks that are not written yet, once each, with their moments, in the order of time."""
    by_id = {click.id: click for click in batch}
    known = batches.known(organization_id=organization_id, click_ids=list(by_id))
    new = [(click, _moment(click.occurred_at)) for click_id, click in by_id.items() if click_id not in known]
    return sorted(new, key=lambda one: (one[1], one[0].id))


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a click's time needs a time zone")
    return moment


def _judged(organization_id: UUID, new: Sequence[tuple[RawClick, datetime]], settings: FraudSettings) -> list[_Judged]:
    history = _history(organization_id, new)
    judged = []
    for click, at in new:
        facts, is_duplicate = history.facts(click, at, settings.banned_referrers)
        judged.append(_Judged(click, at, facts, fraud.score(facts), is_duplicate))
    return judged


def _history(organization_id: UUID, new: Sequence[tuple[RawClick, datetime]]) -> click_facts.History:
    history, start = click_facts.History(), new[0][1]
    for seen in batches.visits(
        organization_id=organization_id,
        visitors={click.visitor for click, _ in new},
        since=start - click_facts.DEVICE_WINDOW,
        near=(start - click_facts.WINDOW, new[-1][1] + click_facts.WINDOW),
    ):
        history.add_visits(
            visitor=seen.visitor,
            program_id=seen.program_id,
            affiliate_id=seen.affiliate_id,
            slug=seen.slug,
            last_at=seen.last_at,
            near_first=seen.near_first,
            near_last=seen.near_last,
        )
    for network, program_id, slug, moments in batches.network_moments(
        organization_id=organization_id,
        links={(click.network, click.program_id, click.slug) for click, _ in new},
        since=start - click_facts.WINDOW,
        enough=click_facts.ENOUGH,
    ):
        history.add_network(network=network, program_id=program_id, slug=slug, moments=moments)
    return history


def _fates(
    organization_id: UUID,
    judged: Sequence[_Judged],
    partners: Mapping[tuple[str, str], Partner],
    settings: FraudSettings,
    now: datetime,
) -> dict[str, Fate]:
    """Return what becomes of every click; a duplicate never earns, and is no signal of its own."""
    fees = fees_of(organization_id, partners)
    found: dict[str, Fate] = {}
    paid, waiting, blocked = [], [], []
    for one in judged:
        decision = fraud.decide(one.verdict.score, settings.strictness)
        reward = fees.get(one.pair)
        if one.is_duplicate:
            found[one.id] = Fate("duplicate")
        elif reward is None:
            found[one.id] = Fate("blocked" if decision == "block" else "recorded")
            if decision == "block":
                blocked.append(_blocked(one))
        elif decision == "pass" and scorer.is_configured():
            found[one.id] = Fate("unscored")
            waiting.append(one)
        else:
            paid.append(_paid(one, reward, partners[one.pair].grace_days))
    _ask_scorer(organization_id, waiting)
    # They earn nothing in any case; the fraud list says why they do not count.
    fraud_records.record_blocked_clicks(organization_id=organization_id, clicks=blocked)
    return found | pay.fates(organization_id, paid, strictness=settings.strictness, now=now)


def _blocked(one: _Judged) -> BlockedClick:
    return BlockedClick(one.id, UUID(one.pair[0]), UUID(one.pair[1]), one.verdict, one.at)


@dataclass(frozen=True, slots=True)
class Preview:
    """What would become of a click, with its score and the names of the rules that hold."""

    outcome: str
    score: int
    reasons: Sequence[str]


def preview(click: RawClick) -> Preview:
    """Say what the writer would make of a click, budgets and the operator's scorer aside. Writes and waits for nothing.

    Clicks that still lie on the stream are not known. Budget: 4 round trips and those of `write` for tiers.
    """
    organization_id = _organization([click])
    settings = fraud_settings.of(organization_id)
    (one,) = _judged(organization_id, [(click, _moment(click.occurred_at))], settings)
    partners = batches.partners(organization_id=organization_id, affiliate_ids=[click.affiliate_id])
    decision = fraud.decide(one.verdict.score, settings.strictness)
    if one.is_duplicate:
        outcome = "duplicate"
    elif decision == "block":
        outcome = "blocked"
    elif fees_of(organization_id, partners).get(one.pair) is None:
        outcome = "recorded"
    else:
        outcome = "held" if decision == "hold" else "earned"
    return Preview(outcome, one.verdict.score, one.verdict.reasons)


def fees_of(organization_id: UUID, partners: Mapping[tuple[str, str], Partner]) -> dict[tuple[str, str], Reward]:
    """Return what one click pays now, by program and affiliate; who earns nothing with clicks is left out."""
    found = {}
    for (program_id, affiliate_id), partner in partners.items():
        if not partner.is_earning:
            continue
        reward = rewards.fee_by(
            partner.terms,
            organization_id=organization_id,
            program_id=UUID(program_id),
            affiliate_id=UUID(affiliate_id),
            kind="click",
        )
        if reward is not None and reward.fee.cents > 0:
            found[program_id, affiliate_id] = reward
    return found


def _paid(one: _Judged, reward: Reward, grace_days: int) -> PaidClick:
    program_id, affiliate_id = one.pair
    return PaidClick(
        id=one.id,
        program_id=UUID(program_id),
        affiliate_id=UUID(affiliate_id),
        sub_id=one.click.sub_id,
        occurred_at=one.at,
        verdict=one.verdict,
        reward=reward,
        grace_days=grace_days,
    )


def _ask_scorer(organization_id: UUID, waiting: Sequence[_Judged]) -> None:
    """Stage the jobs that ask the operator's scorer: no call to the outside inside a transaction."""
    for start in range(0, len(waiting), _ASKED_AT_ONCE):
        facts = {one.id: asdict(one.facts) for one in waiting[start : start + _ASKED_AT_ONCE]}
        work.enqueue(
            jobs.CLICKS_RESCORE, organization_id=organization_id, clicks=orjson.dumps(facts, default=sorted).decode()
        )


def _row(one: _Judged, fate: Fate) -> dict[str, object]:
    click = one.click
    return {
        "id": click.id,
        "program_id": click.program_id,
        "affiliate_id": click.affiliate_id,
        "slug": click.slug,
        "sub_id": click.sub_id,
        "visitor": click.visitor,
        "network": click.network,
        "occurred_at": one.at,
        "is_duplicate": one.is_duplicate,
        "score": one.verdict.score,
        "reasons": one.verdict.reasons or None,
        "outcome": fate.outcome,
        "conversion_id": fate.conversion_id,
    }
