"""What the public routes of a click share: is it a visit, where does the slug lead, and on its way with it.

A click is appended to a stream and written by a process of its own. While the stream's server is away it is written
here, or left to a job where others hold up its organization's clicks: no visitor waits for them. While the database is
away as well it is lost, and counted.
Source: tracking spec, "Public click endpoint" and section 8 "Limits".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from flask import current_app, request
from prometheus_client import Counter

from adapters import clock
from adapters.broker import RedisError
from adapters.clicks import agents, countries, networks, stream, visitors, wire
from adapters.clicks.stream import ClickStream
from adapters.loop_wire import Question
from api.access import strangers
from api.access.limits import Full, Limiter, Window
from domain.clicks import raw_click
from domain.clicks.raw_click import RawClick
from models import db, ids
from models.clicks.public_links import Link
from pipelines.clicks import clicks, letters, public_links
from pipelines.clicks.public_links import SlugAddress

BUCKET = "anonymous_tracking"

_log = structlog.get_logger(__name__)
_direct = Counter("finderfee_clicks_direct_total", "Clicks written by a web process because their stream was away.")
_lost = Counter("finderfee_clicks_lost_total", "Clicks that neither the stream nor the database could take.")

# How long a visitor waits for others who write clicks of the same organization.
_TURN_MS = 250

_FETCH_HEADERS = ("HTTP_PURPOSE", "HTTP_SEC_PURPOSE", "HTTP_X_PURPOSE", "HTTP_X_MOZ")
_AHEAD = ("prefetch", "prerender", "preview")


@dataclass(frozen=True, slots=True)
class VisitOrigin:
    """Where a visit came from, as far as it says."""

    sub_id: str | None = None
    referrer: str | None = None
    query_names: tuple[str, ...] = ()
    visitor_id: str | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of a request: the id of its click, None without a click or when it was lost."""

    click_id: str | None = None
    is_over_limit: bool = False


@dataclass(frozen=True, slots=True)
class VisitSender:
    """A request as the server hands it over, and where it is counted."""

    environ: Mapping[str, Any]
    limiter: Limiter
    stream: ClickStream

    @property
    def ip(self) -> str:
        """The address of who sent it."""
        found: str = self.environ.get("REMOTE_ADDR") or ""
        return found


@dataclass(frozen=True, slots=True)
class LeavingVisit:
    """A request that the stream's server is asked to count next, and the click that it is, if it is one."""

    sender: VisitSender
    click: RawClick | None

    def send(self) -> Counted:
        """Ask the server, wait for its answer, and return what became of it. Budget: 1 round trip."""
        entry = self._entry()

        def send(windows: Sequence[Window]) -> Full | None:
            return self.sender.stream.append(entry, windows=_limits(windows), window_s=windows[0].seconds)

        return _counted(self.click, self.sender.limiter.allows_with(BUCKET, self._network(), send))

    def question(self) -> Question:
        """Return what `send` asks the server, for who does not wait: they bring its answer to `counted`."""
        windows = self._windows()
        return stream.question(self._entry(), windows=_limits(windows), window_s=windows[0].seconds)

    def counted(self, answer: Any) -> Counted:
        """Return what became of it, by what the server answered."""
        return _counted(self.click, self.sender.limiter.judge(self._windows(), stream.which_is_full(answer)))

    def counted_without(self, error: RedisError) -> Counted:
        """Return what became of it where the server did not answer for certain. Waits for the database."""
        self.sender.limiter.fail_open(error)
        return _counted(self.click, None)

    def _entry(self) -> bytes | None:
        return wire.to_bytes(self.click) if self.click else None

    def _windows(self) -> Sequence[Window]:
        return self.sender.limiter.windows(BUCKET, self._network())

    def _network(self) -> str:
        return strangers.network_of(self.sender.ip)


def is_visit() -> bool:
    """Say whether somebody looks at what this request fetches: no HEAD, no fetch ahead of a visit, no robot."""
    return _is_looked_at(request.environ)


def _is_looked_at(sent: Mapping[str, Any]) -> bool:
    if sent["REQUEST_METHOD"] == "HEAD":
        return False
    purpose = " ".join([sent[name] for name in _FETCH_HEADERS if name in sent]).lower()
    return not any(word in purpose for word in _AHEAD) and not agents.is_bot(sent.get("HTTP_USER_AGENT", ""))


def is_over_limit() -> bool:
    """Say whether this process knows already that the sender is over the limit; costs nothing."""
    return _sender().limiter.is_full(BUCKET, strangers.network())


def find(address: SlugAddress) -> Link | None:
    """Return where a slug leads; where it led when it was last asked, while the database is away.

    Raises what the database raised for a slug that this process does not remember.
    """
    is_known, link = public_links.remembered(address)
    if is_known:
        return link
    try:
        with db.any_org_work():
            return public_links.find(address)
    except db.UNAVAILABLE:
        known = public_links.last_known(address)
        if known is None:
            raise
        return known


def count(link: Link | None, origin: VisitOrigin) -> Counted:
    """Count this request in its limit and, if it is a visit by a link that can earn, send its click.

    Budget: 1 round trip to the stream's server with any outcome, and none to the database.
    """
    return count_for(_sender(), link, origin)


def count_for(sender: VisitSender, link: Link | None, origin: VisitOrigin) -> Counted:
    """Like `count`, for a request that did not come through a route."""
    return leaving(sender, link, origin).send()


def leaving(sender: VisitSender, link: Link | None, origin: VisitOrigin) -> LeavingVisit:
    """Return a request before the stream's server was asked. Asks nobody."""
    is_click = link is not None and link.can_earn and _is_looked_at(sender.environ)
    return LeavingVisit(sender, _click(sender, link, origin) if link is not None and is_click else None)


def _limits(windows: Sequence[Window]) -> dict[str, int]:
    return {window.key: window.limit for window in windows}


def _counted(click: RawClick | None, is_allowed: bool | None) -> Counted:
    if is_allowed is False:
        return Counted(is_over_limit=True)
    if click is None or (is_allowed is None and not _is_written(click)):
        return Counted()
    return Counted(click.id)


def as_click(link: Link, origin: VisitOrigin) -> RawClick:
    """Return the click that this request is, under an id of its own."""
    return _click(_sender(), link, origin)


def lose() -> None:
    """Count what may have been a click as lost: nobody could say where its slug leads."""
    if is_visit():
        _lost.inc()


def _is_written(click: RawClick) -> bool:
    try:
        _write_or_leave(click)
    except db.UNAVAILABLE as error:
        _log.warning("click.lost", error=str(error).strip().partition("\n")[0])
        _lost.inc()
        return False
    _direct.inc()
    return True


def _write_or_leave(click: RawClick) -> None:
    organization_id = UUID(click.organization_id)
    try:
        with db.unit_of_work(organization_id):
            clicks.write([click], clock.now(), wait_ms=_TURN_MS)
    except db.UNAVAILABLE as error:
        if not db.is_timeout_or_deadlock(error):
            raise
        with db.unit_of_work(organization_id):
            letters.leave(click)


def _click(sender: VisitSender, link: Link, origin: VisitOrigin) -> RawClick:
    sent, ip = sender.environ, sender.ip
    agent = raw_click.agent(sent.get("HTTP_USER_AGENT", ""))
    return RawClick(
        id=str(ids.new_id()),
        organization_id=str(link.organization_id),
        program_id=str(link.program_id),
        affiliate_id=str(link.affiliate_id),
        slug=link.slug,
        sub_id=origin.sub_id,
        occurred_at=clock.now().isoformat(),
        visitor=visitors.visitor(ip, agent),
        network=visitors.network(ip),
        agent=agent,
        is_data_centre=networks.is_data_centre(ip),
        referrer_host=raw_click.host(origin.referrer) if origin.referrer else None,
        query_names=origin.query_names,
        languages=raw_click.languages(sent.get("HTTP_ACCEPT_LANGUAGE", "")),
        visitor_id=origin.visitor_id,
        country=countries.country_of(ip),
    )


def _sender() -> VisitSender:
    held = current_app.extensions
    return VisitSender(request.environ, held["limiter"], held["click_stream"])
