"""Clicks judged in two steps: by one another, which asks nobody, and then by what came before them where that is known.

The first is most of the work of a batch and can be done while another batch is written; what it says stands for every
click whose visitor and network did nothing before. Source: core spec, "Click and lead fraud review".
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from domain import fraud
from domain.clicks.history import ClickHistory
from domain.clicks.raw_click import RawClick
from domain.fraud import ClickFacts, Verdict


class SeenClick(NamedTuple):
    """A click with its moment, what it is judged by, the verdict, and whether it is somebody's second one."""

    click: RawClick
    at: datetime
    facts: ClickFacts
    verdict: Verdict
    is_duplicate: bool


def by_one_another(clicks: Iterable[RawClick]) -> list[SeenClick]:
    """Judge the clicks of one organization as if there were no others; each once, in the order of time.

    Raises ValueError for what is not a time.
    """
    own = ClickHistory()
    once = {click.id: click for click in clicks}.values()
    found = []
    for at, _, click in sorted([(_moment(click.occurred_at), click.id, click) for click in once]):
        facts, is_duplicate = own.facts(click, at)
        found.append(SeenClick(click, at, facts, fraud.score(facts), is_duplicate))
    return found


def by_the_past(found: Sequence[SeenClick], past: ClickHistory, banned: frozenset[str]) -> list[SeenClick]:
    """Judge clicks, in the order of time, by what came before them as well, and by the hosts that the brand banned."""
    return [_revised(one, past, banned) if banned or past.concerns(one.click) else one for one in found]


def _revised(one: SeenClick, past: ClickHistory, banned: frozenset[str]) -> SeenClick:
    facts, is_duplicate = past.revised(one.click, one.at, one.facts, one.is_duplicate)
    facts = facts._replace(banned_referrers=banned)
    return one._replace(facts=facts, verdict=fraud.score(facts), is_duplicate=is_duplicate)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a click's time needs a time zone")
    return moment
