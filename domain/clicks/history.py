"""What clicks are judged by: what their visitor and their network did shortly before, in the database or in the batch.

Clicks come in any order. One is a duplicate when its visitor clicked on the same link less than an hour away from it,
before or after: whichever is written second never earns. Source: core spec, "Click and lead fraud review".
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from domain.clicks.raw_click import RawClick
from domain.fraud import ClickFacts
from domain.fraud.rules import MAX_NETWORK_CLICKS_PER_HOUR

#: A second click of a visitor on one link within this is a duplicate; bursts of a network are counted over it too.
WINDOW = timedelta(hours=1)
#: The links of an affiliate that a device used are counted over this.
DEVICE_WINDOW = timedelta(days=1)
#: More clicks of a network on one link than these need not be looked up: the rule holds already.
ENOUGH = MAX_NETWORK_CLICKS_PER_HOUR + 1
_MILLISECOND = timedelta(milliseconds=1)


class _Span:
    """When a visitor was on a link, as far as that is near the clicks to come."""

    __slots__ = ("first", "last")

    def __init__(self, first: datetime, last: datetime) -> None:
        self.first, self.last = first, last

    def is_near(self, moment: datetime) -> bool:
        return self.first - WINDOW < moment < self.last + WINDOW


class _Visitor:
    """When a visitor was last seen, the links by program and slug, and the slugs by affiliate."""

    __slots__ = ("last_at", "links", "slugs")

    def __init__(self, last_at: datetime) -> None:
        self.last_at = last_at
        self.links: dict[tuple[str, str], _Span] = {}
        self.slugs: dict[str, set[str]] = {}

    def add(self, program_id: str, affiliate_id: str, slug: str, near: tuple[datetime, datetime] | None) -> int:
        """Take in a link, and when it was near; return how many links of that affiliate that makes."""
        if near is not None:
            span = self.links.get((program_id, slug))
            if span is None:
                self.links[program_id, slug] = _Span(*near)
            else:
                span.first, span.last = min(span.first, near[0]), max(span.last, near[1])
        slugs = self.slugs.get(affiliate_id)
        if slugs is None:
            self.slugs[affiliate_id] = {slug}
            return 1
        slugs.add(slug)
        return len(slugs)


class ClickHistory:
    """What happened before each click. Texts are those of `RawClick`; moments are aware."""

    def __init__(self) -> None:
        self._visitors: dict[str, _Visitor] = {}
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
        known = self._visitors.get(visitor)
        if known is None:
            known = self._visitors[visitor] = _Visitor(last_at)
        known.last_at = max(known.last_at, last_at)
        near = None if near_first is None or near_last is None else (near_first, near_last)
        known.add(program_id, affiliate_id, slug, near)

    def add_network(self, *, network: str, program_id: str, slug: str, moments: Iterable[datetime]) -> None:
        """Take in when a network clicked on a link."""
        self._networks[network, program_id, slug] += moments

    def facts(self, click: RawClick, at: datetime) -> tuple[ClickFacts, bool]:
        """Return what a click is judged by and whether it is a duplicate, and take it in. Ask in the order of time."""
        is_duplicate, ms_since_last, device_links = self._visit(click, at)
        moments = self._networks[click.network, click.program_id, click.slug]
        moments.append(at)
        facts = ClickFacts(
            agent=click.agent,
            is_bot=click.is_bot,
            is_from_data_centre=click.is_data_centre,
            referrer_host=click.referrer_host,
            query_names=frozenset(click.query_names),
            network_clicks=1 if len(moments) == 1 else _near(moments, at),
            device_links=device_links,
            ms_since_last=ms_since_last,
            languages=click.languages,
            country=click.country,
        )
        return facts, is_duplicate

    def concerns(self, click: RawClick) -> bool:
        """Say whether anything is known of a click's visitor, or of its network on its link."""
        return click.visitor in self._visitors or (click.network, click.program_id, click.slug) in self._networks

    def revised(self, click: RawClick, at: datetime, known: ClickFacts, is_duplicate: bool) -> tuple[ClickFacts, bool]:
        """Return `facts` that another history says of a click, with what is known here on top.

        That other history was of nothing but the batch, and this one is of nothing in it. Ask in the order of time.
        """
        before = _near(self._networks.get((click.network, click.program_id, click.slug), ()), at)
        known = known._replace(network_clicks=known.network_clicks + before)
        if click.visitor not in self._visitors:
            return known, is_duplicate
        is_duplicate, ms_since_last, device_links = self._visit(click, at)
        return known._replace(ms_since_last=ms_since_last, device_links=device_links), is_duplicate

    def _visit(self, click: RawClick, at: datetime) -> tuple[bool, int | None, int]:
        """Take in a visit; return whether it is a duplicate, the milliseconds since the last, its device's links."""
        visitor = self._visitors.get(click.visitor)
        is_duplicate, ms_since_last = False, None
        if visitor is None:
            visitor = self._visitors[click.visitor] = _Visitor(at)
        else:
            span = visitor.links.get((click.program_id, click.slug))
            is_duplicate = span is not None and span.is_near(at)
            if visitor.last_at <= at:
                ms_since_last = (at - visitor.last_at) // _MILLISECOND
                visitor.last_at = at
        return is_duplicate, ms_since_last, visitor.add(click.program_id, click.affiliate_id, click.slug, (at, at))


def _near(moments: Iterable[datetime], at: datetime) -> int:
    return sum(at - WINDOW < moment < at + WINDOW for moment in moments)
