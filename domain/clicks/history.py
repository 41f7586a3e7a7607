"""The recent clicks of a click's visitor and network, from the database or the batch, by which it is scored.

Clicks arrive in any order. A click is a duplicate if its visitor clicked on the same link within an hour before or
after it: the one written second never earns. Source: core spec, "Click and lead fraud review".
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from domain.clicks.raw_click import RawClick
from domain.fraud import ClickFacts
from domain.fraud.rules import MAX_NETWORK_CLICKS_PER_HOUR

#: A second click of a visitor on one link within this time is a duplicate; also the window of a network's burst.
WINDOW = timedelta(hours=1)
#: The window in which the links of an affiliate that one device used are counted.
DEVICE_WINDOW = timedelta(days=1)
#: The limit of a network's clicks on one link that are looked up: with this many the rule holds already.
MAX_COUNTED_CLICKS = MAX_NETWORK_CLICKS_PER_HOUR + 1
_MILLISECOND = timedelta(milliseconds=1)


class _Span:
    """The first and the last time of a visitor on a link, as far as they are near the clicks of the batch."""

    __slots__ = ("first", "last")

    def __init__(self, first: datetime, last: datetime) -> None:
        self.first, self.last = first, last

    def is_near(self, at: datetime) -> bool:
        return self.first - WINDOW < at < self.last + WINDOW


class _Visitor:
    """A visitor's last visit, the links by program and slug, and the slugs by affiliate."""

    __slots__ = ("last_at", "links", "slugs")

    def __init__(self, last_at: datetime) -> None:
        self.last_at = last_at
        self.links: dict[tuple[str, str], _Span] = {}
        self.slugs: dict[str, set[str]] = {}

    def add(self, program_id: str, affiliate_id: str, slug: str, near: tuple[datetime, datetime] | None) -> int:
        """Add a visit to a link, with its times if near; return the number of that affiliate's links visited."""
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
    """The earlier visits of each click's visitor and network. Texts are those of `RawClick`; times are aware."""

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
        """Add a visitor's clicks on a link: the time of the last, and the first and last within WINDOW of the batch.

        Without that limit a click written late would be a duplicate of two that are far from it.
        """
        entry = self._visitors.get(visitor)
        if entry is None:
            entry = self._visitors[visitor] = _Visitor(last_at)
        entry.last_at = max(entry.last_at, last_at)
        near = None if near_first is None or near_last is None else (near_first, near_last)
        entry.add(program_id, affiliate_id, slug, near)

    def add_network(self, *, network: str, program_id: str, slug: str, times: Iterable[datetime]) -> None:
        """Add the times of a network's clicks on a link."""
        self._networks[network, program_id, slug] += times

    def add_click(self, click: RawClick, at: datetime) -> tuple[ClickFacts, bool]:
        """Add a click; return the facts for its score and whether it is a duplicate. Call in the order of time."""
        is_duplicate, ms_since_last, device_links = self._add_visit(click, at)
        times = self._networks[click.network, click.program_id, click.slug]
        times.append(at)
        facts = ClickFacts(
            agent=click.agent,
            is_bot=click.is_bot,
            is_from_data_centre=click.is_data_centre,
            referrer_host=click.referrer_host,
            query_names=frozenset(click.query_names),
            network_clicks=1 if len(times) == 1 else _count_near(times, at),
            device_links=device_links,
            ms_since_last=ms_since_last,
            languages=click.languages,
            country=click.country,
        )
        return facts, is_duplicate

    def has_seen(self, click: RawClick) -> bool:
        """Return whether the history has a click's visitor, or its network on its link."""
        return click.visitor in self._visitors or (click.network, click.program_id, click.slug) in self._networks

    def update_facts(
        self, click: RawClick, at: datetime, facts: ClickFacts, is_duplicate: bool
    ) -> tuple[ClickFacts, bool]:
        """Return the facts that a history of the batch alone gave of a click, updated by this history.

        This history must contain no click of the batch. Call in the order of time.
        """
        earlier = _count_near(self._networks.get((click.network, click.program_id, click.slug), ()), at)
        facts = facts._replace(network_clicks=facts.network_clicks + earlier)
        if click.visitor not in self._visitors:
            return facts, is_duplicate
        is_duplicate, ms_since_last, device_links = self._add_visit(click, at)
        return facts._replace(ms_since_last=ms_since_last, device_links=device_links), is_duplicate

    def _add_visit(self, click: RawClick, at: datetime) -> tuple[bool, int | None, int]:
        """Add a visit; return whether it is a duplicate, the milliseconds since the last, its device's links."""
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


def _count_near(times: Iterable[datetime], at: datetime) -> int:
    return sum(at - WINDOW < time < at + WINDOW for time in times)
