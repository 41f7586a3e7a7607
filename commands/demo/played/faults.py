"""Faults of a played source: answers that it should not give, and changes of the account between two pages.

Each constructor returns a fault for the requests whose path contains `path`: after `skip` such requests it applies to
the next `times`. The first fault of the list that applies is played.
"""

import gzip
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import orjson

from adapters import clock
from commands.demo.played.account import PlayedAccount
from commands.demo.played.source import PlayedRequest, PlayedResponse

#: Returns the response, given what returns the ordinary one.
Play = Callable[[Callable[[], PlayedResponse]], PlayedResponse]
ALWAYS = 1 << 60


@dataclass(slots=True)
class PlayedFault:
    """A fault, and how many requests pass before it and have it. `played` counts those that had it."""

    play: Play
    path: str = ""
    skip: int = 0
    times: int = 1
    is_for: Callable[[PlayedRequest], bool] = lambda request: True
    played: int = 0

    def applies(self, request: PlayedRequest) -> bool:
        """Return whether the request has the fault, and count it."""
        if self.path not in request.path or not self.is_for(request) or self.played >= self.times:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.played += 1
        return True


@dataclass(slots=True)
class FaultList:
    """The faults of a server. Several threads add and take."""

    _faults: list[PlayedFault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: PlayedFault) -> PlayedFault:
        """Add a fault and return it."""
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._faults.clear()

    def take(self, request: PlayedRequest) -> PlayedFault | None:
        """Return the fault of a request."""
        with self._lock:
            return next((fault for fault in self._faults if fault.applies(request)), None)


def respond(status: int, body: Any = None, headers: Mapping[str, str] | None = None, **where: Any) -> PlayedFault:
    """Return a fault that answers with a status: 500, 503, 404."""
    return PlayedFault(lambda ordinary: PlayedResponse(body, status, headers or {}), **where)


def too_many(
    *, retry_after_s: int | None = None, is_date: bool = False, reset: tuple[str, str] | None = None, **where: Any
) -> PlayedFault:
    """Return a fault that answers 429: with Retry-After in seconds or as a date, with a reset header, or with neither.

    `reset` is the name and value of the header.
    """

    def play(ordinary: Callable[[], PlayedResponse]) -> PlayedResponse:
        headers = dict([reset] if reset else [])
        if retry_after_s is not None:
            date = format_datetime(clock.now() + timedelta(seconds=retry_after_s), usegmt=True)
            headers["Retry-After"] = date if is_date else str(retry_after_s)
        return PlayedResponse({"error": "too many requests"}, 429, headers)

    return PlayedFault(play, **where)


def html(status: int = 200, **where: Any) -> PlayedFault:
    """Return a fault that answers with an HTML page."""
    page = b"<!doctype html><title>Login</title><p>Please sign in.</p>"
    return PlayedFault(lambda ordinary: PlayedResponse(page, status, {"Content-Type": "text/html"}), **where)


def close(**where: Any) -> PlayedFault:
    """Return a fault that closes the connection without an answer."""
    return PlayedFault(lambda ordinary: PlayedResponse(is_cut=True), **where)


def slow(seconds: float, **where: Any) -> PlayedFault:
    """Return a fault that answers only after a pause."""

    def play(ordinary: Callable[[], PlayedResponse]) -> PlayedResponse:
        time.sleep(seconds)
        return ordinary()

    return PlayedFault(play, **where)


def large(size: int = 17 << 20, **where: Any) -> PlayedFault:
    """Return a fault that answers with valid JSON of more than so many bytes."""
    return PlayedFault(lambda ordinary: PlayedResponse({"data": ["x" * size]}), **where)


def gzip_bomb(size: int = 64 << 20, **where: Any) -> PlayedFault:
    """Return a fault that answers with a small gzip body of so many bytes of JSON."""

    def play(ordinary: Callable[[], PlayedResponse]) -> PlayedResponse:
        packed = gzip.compress(b'["' + b"x" * size + b'"]')
        return PlayedResponse(packed, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})

    return PlayedFault(play, **where)


def redirect(location: str, status: int = 302, **where: Any) -> PlayedFault:
    """Return a fault that redirects to an address."""
    return respond(status, None, {"Location": location}, **where)


def truncate(**where: Any) -> PlayedFault:
    """Return a fault that answers with the first half of the JSON."""
    return change(lambda response: replace(response, body=_half(response)), **where)


def cut(**where: Any) -> PlayedFault:
    """Return a fault that sends half of the announced body and closes the connection."""

    def play(response: PlayedResponse) -> PlayedResponse:
        half = _half(response)
        return PlayedResponse(half, headers={"Content-Length": str(2 * len(half))}, is_cut=True)

    return change(play, **where)


def change(to: Callable[[PlayedResponse], PlayedResponse], **where: Any) -> PlayedFault:
    """Return a fault that changes the ordinary response: a wrong total, a header."""
    return PlayedFault(lambda ordinary: to(ordinary()), **where)


def change_account(account: PlayedAccount, act: Callable[[PlayedAccount], object], **where: Any) -> PlayedFault:
    """Return a fault that changes the account before the ordinary answer: rows added or deleted between two pages."""

    def play(ordinary: Callable[[], PlayedResponse]) -> PlayedResponse:
        with account.lock:
            act(account)
        return ordinary()

    return PlayedFault(play, **where)


def _half(response: PlayedResponse) -> bytes:
    body = response.body if isinstance(response.body, bytes) else orjson.dumps(response.body)
    return body[: len(body) // 2]
