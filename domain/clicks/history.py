"""What clicks are judged by: what their visitor and their network did shortly before, in the database or in the batch.

Clicks come in any order. One is a duplicate when its visitor clicked on the same link less than an hour away from it,
before or after: whichever is written second never earns. Source: core spec, "Click and lead fraud review".
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from domain.clicks.raw_click import RawClick
from domain.fraud import ClickFacts
from domain.fraud.rules.burst import MOST_PER_HOUR

#: A second click of a visitor on one link within this is a duplicate; bursts of a network are counted over it too.
WINDOW = timedelta(hours=1)
#: The links of an affiliate that a device used are counted over this.
DEVICE_WINDOW = timedelta(days=1)
#: More clicks of a network on one link than these need not be looked up: the rule holds already.
ENOUGH = MOST_PER_HOUR + 1


@dataclass(slots=True)
class _Span:
    first: datetime
    last: datetime

    def is_near(self, moment: datetime) -> bool:
        return self.first - WINDOW < moment < self.last + WINDOW


@dataclass(slots=True)
class _Visitor:
    last_at: datetime | None = None
    links: dict[tuple[str, str], _Span] = field(default_factory=dict)
    slugs: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class ClickHistory:
    """What happened before each click. Texts are those of `RawClick`; moments are aware."""

    def __init__(self) -> None:
        self._visitors: defaultdict[str, _Visitor] = defaultdict(_Visitor)
        self._networks: defaultdict[tuple[str, str, str], list[datetime]] = defaultdict(list)

    def add_visits(
        self,
        *,
        visitor: str,
        program_id: str,
        affiliate_id: str,
        slug: str,
        last_at: datetime,
        near_first: datetime | None,
        near_last: datetime | None,
    ) -> None:
        """Take in a visitor's clicks on a link: when the last was, and from when to when they were within WINDOW of the
        clicks to come. Without that limit a click written late would be a duplicate of two that are far from it.
        """
        known = self._visitors[visitor]
        if near_first is not None and near_last is not None:
            span = known.links.setdefault((program_id, slug), _Span(near_first, near_last))
            span.first, span.last = min(span.first, near_first), max(span.last, near_last)
        known.slugs[affiliate_id].add(slug)
        known.last_at = last_at if known.last_at is None else max(known.last_at, last_at)

    def add_network(self, *, network: str, program_id: str, slug: str, moments: Iterable[datetime]) -> None:
        """Take in when a network clicked on a link."""
        self._networks[network, program_id, slug] += moments

    def facts(self, click: RawClick, at: datetime, banned_referrers: frozenset[str]) -> tuple[ClickFacts, bool]:
        """Return what a click is judged by and whether it is a duplicate, and take it in. Ask in the order of time."""
        visitor = self._visitors[click.visitor]
        span = visitor.links.get((click.program_id, click.slug))
        is_duplicate = span is not None and span.is_near(at)
        since_last = at - visitor.last_at if visitor.last_at is not None and visitor.last_at <= at else None
        self.add_visits(
            visitor=click.visitor,
            program_id=click.program_id,
            affiliate_id=click.affiliate_id,
            slug=click.slug,
            last_at=at,
            near_first=at,
            near_last=at,
        )
        facts = ClickFacts(
            agent=click.agent,
            is_bot=click.is_bot,
            is_from_data_centre=click.is_data_centre,
            referrer_host=click.referrer_host,
            banned_referrers=banned_referrers,
            query_names=frozenset(click.query_names),
            network_clicks=self._network_clicks(click, at),
            device_links=len(visitor.slugs[click.affiliate_id]),
            ms_since_last=None if since_last is None else since_last // timedelta(milliseconds=1),
            languages=tuple(click.languages),
        )
        return facts, is_duplicate

    def _network_clicks(self, click: RawClick, at: datetime) -> int:
        moments = self._networks[click.network, click.program_id, click.slug]
        moments.append(at)
        return sum(at - WINDOW < moment < at + WINDOW for moment in moments)
