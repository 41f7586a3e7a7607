"""Sources of an identity provider's keys: a URL, a file, or a fixed set; and when they are read again.

A source that cannot be read keeps its keys: a provider that is down for an hour must not log all users out. Limits are
per process.
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
_MAX_RESPONSE_S = 8
_CACHE_S = 600
_UNKNOWN_KID_S = 60  # between two searches for an unknown key: any caller can name one
_RETRY_S = 30

_log = structlog.get_logger(__name__)


class KeySource(Protocol):
    """Keys that may change."""

    def keys(self, kid: str | None) -> Sequence[PublicKey]:
        """Return the current keys; if none is named `kid`, read the source again if that is due."""


class FixedKeys:
    """Keys that never change."""

    def __init__(self, keys: Sequence[PublicKey]) -> None:
        self._keys = keys

    def keys(self, kid: str | None) -> Sequence[PublicKey]:
        return self._keys


class KeyFile:
    """A JWKS in a file, read again when the file changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._keys: Sequence[PublicKey] = ()
        self._stamp: object = self  # differs from any file's

    def keys(self, kid: str | None) -> Sequence[PublicKey]:
        with self._lock:
            stamp = self._read_stamp()
            if stamp != self._stamp:
                self._stamp = stamp  # before reading: a change meanwhile has another stamp
                self._read()
            return self._keys

    def _read_stamp(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                self._keys = key_sets.parse_usable_keys(_check_size(file.read(_MAX_BYTES + 1)))
        except (OSError, Unreadable) as error:
            _log.warning("jwks.unreadable", source=str(self._path), why=str(error))


class PublishedKeys:
    """A JWKS at a URL, cached for ten minutes; `clock` is monotonic, in seconds."""

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
        return self._clock() - self._tried_at >= (_RETRY_S if self._has_failed else _CACHE_S)

    def _may_search(self) -> bool:
        now = self._clock()
        if now - self._searched_at < _UNKNOWN_KID_S or (self._has_failed and now - self._tried_at < _RETRY_S):
            return False
        self._searched_at = now
        return True

    def _read_if(self, is_due: Callable[[], bool], *, wait: bool) -> bool:
        """Read the set if it is still due under the lock; without `wait` concurrent callers use the old keys."""
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
            self._keys = key_sets.parse_usable_keys(_fetch(self._url))
            self._has_failed = False
        except Exception as error:  # after any failure the cached keys stay in use and the next attempt waits
            self._has_failed = True
            _log.warning("jwks.unreadable", source=self._url, why=str(error))
        self._tried_at = self._clock()


def _fetch(url: str) -> bytes:
    """Return the body of the URL's response. Raises Unreadable, or the connection's error."""
    deadline = time.monotonic() + _MAX_RESPONSE_S
    with requests.Session() as session:
        session.trust_env = False
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        with session.get(url, headers=headers, timeout=_TIMEOUTS_S, allow_redirects=False, stream=True) as answer:
            if answer.status_code != 200:
                raise Unreadable(f"it responded {answer.status_code}")
            content = bytearray()
            while len(content) <= _MAX_BYTES and (piece := answer.raw.read1(8192, decode_content=True)):
                content += piece
                if time.monotonic() > deadline:
                    raise Unreadable("it responds too slowly")
    return _check_size(bytes(content))


def _check_size(content: bytes) -> bytes:
    if len(content) > _MAX_BYTES:
        raise Unreadable(f"it is longer than {_MAX_BYTES} bytes")
    return content
