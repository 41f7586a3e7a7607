"""The kept-alive connections of one process, bounded in number and age."""

import os
import threading
from itertools import islice, takewhile
from time import monotonic

from adapters.safe_http.wire import HttpWire, Key

_IDLE_S = 30
# A request that meets the receiver's end of the connection half-way is lost with its attempt: keep clear of that.
_MARGIN_S = 1
_IDLE_PER_HOST = 8
_IDLE_IN_ALL = 256


class IdleWires:
    """The kept-alive connections of one process, bounded in number and age."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._by_age: dict[HttpWire, None] = {}  # oldest first
        self._by_key: dict[Key, list[HttpWire]] = {}

    def take(self, key: Key) -> HttpWire | None:
        while (wire := self._pop(key)) is not None:
            if monotonic() - wire.idle_since < min(_IDLE_S, wire.promised_s - _MARGIN_S) and wire.is_quiet():
                return wire
            wire.close()
        return None

    def put(self, wire: HttpWire) -> None:
        wire.idle_since = monotonic()
        with self._lock:
            self._by_age[wire] = None
            self._by_key.setdefault(wire.key, []).append(wire)
            surplus = self._surplus(wire)
            for each in surplus:
                self._forget(each)
        for each in surplus:
            each.close()

    def close(self) -> None:
        with self._lock:
            wires = list(self._by_age)
            self._by_age.clear()
            self._by_key.clear()
        for wire in wires:
            wire.close()

    def abandon(self) -> None:
        """Close what a fork inherited: the parent keeps its own, and the lock may be held by a thread not here."""
        for wire in list(self._by_age):
            wire.close()

    def _surplus(self, newest: HttpWire) -> set[HttpWire]:
        excess = islice(self._by_age, max(0, len(self._by_age) - _IDLE_IN_ALL))
        expired = takewhile(lambda wire: newest.idle_since - wire.idle_since >= _IDLE_S, self._by_age)
        return {*self._by_key[newest.key][:-_IDLE_PER_HOST], *excess, *expired}

    def _pop(self, key: Key) -> HttpWire | None:
        with self._lock:
            mates = self._by_key.get(key)
            if not mates:
                return None
            newest = mates[-1]
            self._forget(newest)
            return newest

    def _forget(self, wire: HttpWire) -> None:
        del self._by_age[wire]
        mates = self._by_key[wire.key]
        mates.remove(wire)
        if not mates:
            del self._by_key[wire.key]
