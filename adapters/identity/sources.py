"""Where the keys of an identity provider come from: a URL, a file, or a fixed set; and when they are read again.

A source that cannot be read goes on with the keys it has: the provider being down for an hour must not log everybody
out. Every limit is per process.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import structlog

from adapters.http_calls import requests
from adapters.identity import key_sets
from adapters.identity.key_sets import PublicKey, Unreadable

_MAX_BYTES = 256 * 1024
_TIMEOUTS_S = (3, 5)  # to connect, and between two pieces of the answer
_WHOLE_ANSWER_S = 8
_KEPT_S = 600
_UNKNOWN_KID_S = 60  # between two looks for a key that is not in the set: anybody can name one
_RETRY_S = 30

_log = structlog.get_logger(__name__)


class Source(Protocol):
    """Keys that may change."""

    def keys(self, kid: str | None) -> Sequence[PublicKey]:
        """Return the keys in force; when none of them is named `kid`, look once more if that is due."""


class Fixed:
    """Keys that never change."""

    def __init__(self, keys: Sequence[PublicKey]) -> None:
        self._keys = keys

    def keys(self, kid: str | None) -> Sequence[PublicKey]:
        return self._keys


class File:
    """A JWKS in a file, read again when the file changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._keys: Sequence[PublicKey] = ()
        self._stamp: object = self  # no file's

    def keys(self, kid: str | None) -> Sequence[PublicKey]:
        with self._lock:
            stamp = self._look()
            if stamp != self._stamp:
                self._stamp = stamp  # before reading: what is written meanwhile has another stamp
                self._read()
            return self._keys

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                self._keys = key_sets.usable(_within_limit(file.read(_MAX_BYTES + 1)))
        except (OSError, Unreadable) as error:
            _log.warning("jwks.unreadable", source=str(self._path), why=str(error))


class Published:
    """A JWKS at a URL, kept for ten minutes; `clock` is in seconds and never goes back."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: Sequence[PublicKey] = ()
        self._tried_at = self._searched_at = -math.inf
        self._has_failed = False

    def keys(self, kid: str | None) -> Sequence[PublicKey]:
        was_read = self._read_if(self._is_old, wait=not self._keys)
        if kid is not None and not was_read and all(key.kid != kid for key in self._keys):
            self._read_if(self._may_search, wait=True)
        return self._keys

    def _is_old(self) -> bool:
        return self._clock() - self._tried_at >= (_RETRY_S if self._has_failed else _KEPT_S)

    def _may_search(self) -> bool:
        now = self._clock()
        if now - self._searched_at < _UNKNOWN_KID_S or (self._has_failed and now - self._tried_at < _RETRY_S):
            return False
        self._searched_at = now
        return True

    def _read_if(self, is_due: Callable[[], bool], *, wait: bool) -> bool:
        """Read the set if that is still due once nobody else reads it; without `wait` the others keep the old keys."""
        if not self._lock.acquire(blocking=wait):
            return False
        try:
            if not is_due():
                return False
            self._read()
            return True
        finally:
            self._lock.release()

    def _read(self) -> None:
        try:
            self._keys = key_sets.usable(_fetch(self._url))
            self._has_failed = False
        except Exception as error:  # with any fault over there, the keys in hand go on and the next try waits
            self._has_failed = True
            _log.warning("jwks.unreadable", source=self._url, why=str(error))
        self._tried_at = self._clock()


def _fetch(url: str) -> bytes:
    """Return what the URL answers. Raises Unreadable, or what a failing connection raises."""
    deadline = time.monotonic() + _WHOLE_ANSWER_S
    with requests.Session() as session:
        session.trust_env = False
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        with session.get(url, headers=headers, timeout=_TIMEOUTS_S, allow_redirects=False, stream=True) as answer:
            if answer.status_code != 200:
                raise Unreadable(f"it answers {answer.status_code}")
            read = bytearray()
            while len(read) <= _MAX_BYTES and (piece := answer.raw.read1(8192, decode_content=True)):
                read += piece
                if time.monotonic() > deadline:
                    raise Unreadable("it answers too slowly")
    return _within_limit(bytes(read))


def _within_limit(read: bytes) -> bytes:
    if len(read) > _MAX_BYTES:
        raise Unreadable(f"it is longer than {_MAX_BYTES} bytes")
    return read
