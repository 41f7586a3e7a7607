"""Clicks are scored in two steps: against each other, without a query, and then against earlier clicks.

The first step is most of the work of a batch and can run while another batch is written; its result is final for every
click whose visitor and network have no earlier clicks. Source: core spec, "Click and lead fraud review".
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from domain import fraud
from domain.clicks.history import ClickHistory
from domain.clicks.raw_click import RawClick
from domain.fraud import ClickFacts, Verdict


class ScoredClick(NamedTuple):
    """A click with its time, the facts of its score, the verdict, and whether it is a duplicate."""

    click: RawClick
    at: datetime
    facts: ClickFacts
    verdict: Verdict
    is_duplicate: bool


def score_batch(clicks: Iterable[RawClick]) -> list[ScoredClick]:
    """Score the clicks of one organization against each other alone; each once, in the order of time.

    Raises ValueError for an invalid time.
    """
    history = ClickHistory()
    unique = {click.id: click for click in clicks}.values()
    scored = []
    for at, _, click in sorted([(_parse_time(click.occurred_at), click.id, click) for click in unique]):
        facts, is_duplicate = history.add_click(click, at)
        scored.append(ScoredClick(click, at, facts, fraud.score(facts), is_duplicate))
    return scored


def rescore(scored: Sequence[ScoredClick], past: ClickHistory, banned: frozenset[str]) -> list[ScoredClick]:
    """Score clicks, in the order of time, also by earlier clicks and by the referrer hosts that the brand banned."""
    return [_rescore(seen, past, banned) if banned or past.has_seen(seen.click) else seen for seen in scored]


def _rescore(seen: ScoredClick, past: ClickHistory, banned: frozenset[str]) -> ScoredClick:
    facts, is_duplicate = past.update_facts(seen.click, seen.at, seen.facts, seen.is_duplicate)
    facts = facts._replace(banned_referrers=banned)
    return seen._replace(facts=facts, verdict=fraud.score(facts), is_duplicate=is_duplicate)


def _parse_time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a click's time needs a time zone")
    return at
