"""Visits, as the public click routes record them: is it a real visit, where does its slug lead, and its click.

A click is appended to a Redis stream, and a process of its own writes it to the database. While Redis is down the route
writes the click itself. If other transactions keep the organization's clicks locked, the route leaves it to a job, so
that no visitor waits for them. If PostgreSQL is down as well the click is lost, and counted as lost.
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
from adapters.event_loop_redis import ScriptCall
from api.access import unknown_senders
from api.access.limits import Limiter, Window
from api.edge import internal_requests
from domain.clicks import raw_click
from domain.clicks.raw_click import RawClick
from models import db, ids
from models.clicks.public_links import Link
from pipelines.clicks import clicks, public_links, unwritten_clicks
from pipelines.clicks.public_links import SlugAddress

BUCKET = "anonymous_tracking"

_log = structlog.get_logger(__name__)
_direct = Counter("finderfee_clicks_direct_total", "Clicks written by a web process because their stream was down.")
_lost = Counter("finderfee_clicks_lost_total", "Clicks lost because neither the stream nor the database was available.")

# How long a visitor waits for the lock on the organization's clicks.
_LOCK_WAIT_MS = 250
_FETCH_HEADERS = ("HTTP_PURPOSE", "HTTP_SEC_PURPOSE", "HTTP_X_PURPOSE", "HTTP_X_MOZ")
_PREFETCH_WORDS = ("prefetch", "prerender", "preview")


@dataclass(frozen=True, slots=True)
class VisitOrigin:
    """Where a visit came from, as reported by the request."""

    sub_id: str | None = None
    referrer: str | None = None
    query_names: tuple[str, ...] = ()
    visitor_id: str | None = None


@dataclass(frozen=True, slots=True)
class VisitResult:
    """The outcome of a request: the id of its click, or None if there is no click or it was lost."""

    click_id: str | None = None
    is_over_limit: bool = False


@dataclass(frozen=True, slots=True)
class VisitSender:
    """A request's WSGI environment, and the limiter and stream that record it."""

    environ: Mapping[str, Any]
    limiter: Limiter
    stream: ClickStream

    @property
    def ip(self) -> str:
        """The sender's address."""
        address: str = self.environ.get("REMOTE_ADDR") or ""
        return address


@dataclass(frozen=True, slots=True)
class PreparedVisit:
    """A request that is to be counted, and its click; None if it does not count as one."""

    sender: VisitSender
    click: RawClick | None

    def call(self) -> ScriptCall:
        """Return the call to Redis that counts the request and appends the click."""
        windows = self._windows()
        limits = {window.key: window.limit for window in windows}
        entry = wire.to_bytes(self.click) if self.click else None
        return stream.append_call(entry, windows=limits, window_s=windows[0].seconds)

    def result(self, reply: Any) -> VisitResult:
        """Return the outcome for Redis's reply to `call`."""
        return _result(self.click, self.sender.limiter.record_reply(self._windows(), stream.full_window(reply)))

    def send(self) -> VisitResult:
        """Make the call, wait for the reply and return the outcome. Budget: 1 round trip."""
        sender = self.sender
        is_allowed = sender.limiter.allows_with(BUCKET, self._network(), lambda: sender.stream.append(self.call()))
        return _result(self.click, is_allowed)

    def _windows(self) -> Sequence[Window]:
        return self.sender.limiter.windows(BUCKET, self._network())

    def _network(self) -> str:
        return unknown_senders.network_from_address(self.sender.ip)


@dataclass(frozen=True, slots=True)
class UnconfirmedVisit:
    """A visit that the event loop sent to Redis and that Redis did not confirm. Its click may be on the stream."""

    visit: PreparedVisit
    error: RedisError

    def finish(self) -> VisitResult:
        """Write the click to the database and return the outcome. The id stays, so the click cannot count twice."""
        self.visit.sender.limiter.fail_open(self.error)
        return _result(self.visit.click, None)


def is_visit() -> bool:
    """Return whether a person looks at the response: no HEAD, no prefetch, no robot."""
    return _is_visit(request.environ)


def _is_visit(environ: Mapping[str, Any]) -> bool:
    if environ["REQUEST_METHOD"] == "HEAD":
        return False
    purpose = " ".join([environ[name] for name in _FETCH_HEADERS if name in environ]).lower()
    return not any(word in purpose for word in _PREFETCH_WORDS) and not agents.is_bot(
        environ.get("HTTP_USER_AGENT", "")
    )


def is_over_limit() -> bool:
    """Return whether this process already knows that the sender is over the limit. No round trip."""
    return _find_handover() is None and _sender().limiter.is_full(BUCKET, unknown_senders.sender_network())


def find(address: SlugAddress) -> Link | None:
    """Return the link of a slug; while PostgreSQL is down, the one last seen.

    Raises the database's error for a slug that this process has never looked up.
    """
    is_cached, link = public_links.find_cached(address)
    if is_cached:
        return link
    try:
        with db.any_org_work():
            return public_links.find(address)
    except db.UNAVAILABLE:
        link = public_links.find_last_cached(address)
        if link is None:
            raise
        return link


def count(link: Link | None, origin: VisitOrigin) -> VisitResult:
    """Count this request in its limit and, if it is a visit by a link that can earn, send its click.

    Budget: 1 round trip to the stream's server with any outcome, and none to the database.
    """
    unconfirmed = _find_handover()
    return prepare_visit(_sender(), link, origin).send() if unconfirmed is None else unconfirmed.finish()


def prepare_visit(sender: VisitSender, link: Link | None, origin: VisitOrigin) -> PreparedVisit:
    """Return the visit of a request, with its click if it counts as one. No round trip."""
    is_click = link is not None and link.can_earn and _is_visit(sender.environ)
    return PreparedVisit(sender, _click(sender, link, origin) if link is not None and is_click else None)


def build_click(link: Link, origin: VisitOrigin) -> RawClick:
    """Return the click of this request, with a new id."""
    return _click(_sender(), link, origin)


def count_lost() -> None:
    """Count this request as a lost click, because no server could look up its slug."""
    if is_visit():
        _lost.inc()


def _result(click: RawClick | None, is_allowed: bool | None) -> VisitResult:
    """Return the outcome; `is_allowed` None means that Redis is down, so the click is written here."""
    if is_allowed is False:
        return VisitResult(is_over_limit=True)
    if click is None or (is_allowed is None and not _write(click)):
        return VisitResult()
    return VisitResult(click.id)


def _write(click: RawClick) -> bool:
    """Write a click to the database and return whether that worked."""
    try:
        _write_or_enqueue(click)
    except db.UNAVAILABLE as error:
        _log.warning("click.lost", error=str(error).strip().partition("\n")[0])
        _lost.inc()
        return False
    _direct.inc()
    return True


def _write_or_enqueue(click: RawClick) -> None:
    """Write a click, or stage the job that does where others hold the organization's clicks for longer.

    A writer holds them for as long as a batch of thousands takes. If web threads waited for that, clicks of one
    organization would stop the whole API, and after the lock timeout they would be lost.
    """
    organization_id = UUID(click.organization_id)
    try:
        with db.unit_of_work(organization_id):
            clicks.write([click], clock.now(), wait_ms=_LOCK_WAIT_MS)
    except db.UNAVAILABLE as error:
        if not db.is_timeout_or_deadlock(error):
            raise
        with db.unit_of_work(organization_id):
            unwritten_clicks.enqueue_late(click)


def _click(sender: VisitSender, link: Link, origin: VisitOrigin) -> RawClick:
    environ, ip = sender.environ, sender.ip
    agent = raw_click.agent_from_header(environ.get("HTTP_USER_AGENT", ""))
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
        referrer_host=raw_click.host_from_url(origin.referrer) if origin.referrer else None,
        query_names=origin.query_names,
        languages=raw_click.languages_from_header(environ.get("HTTP_ACCEPT_LANGUAGE", "")),
        visitor_id=origin.visitor_id,
        country=countries.country_of(ip),
    )


def _sender() -> VisitSender:
    extensions = current_app.extensions
    return VisitSender(request.environ, extensions["limiter"], extensions["click_stream"])


def _find_handover() -> UnconfirmedVisit | None:
    """Return the visit that the event loop began for this request and could not finish."""
    handover: UnconfirmedVisit | None = getattr(request.environ.get(internal_requests.CONNECTION_KEY), "handover", None)
    return handover
