"""Reads the stream of clicks as one consumer of its group. Entries stay pending until they are acknowledged.

Uses Redis consumer groups and XAUTOCLAIM; every command here may raise `RedisError`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis
from redis.exceptions import ResponseError

from adapters import broker
from adapters.clicks.stream import FIELD, GROUP, KEY

# The consumer that owns entries which no other consumer could read so far.
_UNREADABLE_CONSUMER = "put-back"

# A consumer that is idle for longer than this, without pending entries, is removed.
_MAX_IDLE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """An entry of the stream: its id, and the click as sent (empty if it has none)."""

    id: bytes
    payload: bytes

    @property
    def sent_at_ms(self) -> int:
        """Return the time it was sent, by the clock of the stream's server."""
        return int(self.id.partition(b"-")[0])


@dataclass(frozen=True, slots=True)
class Backlog:
    """The entries of the stream: unread ones, and those that a consumer has read but not acknowledged."""

    unread: int
    pending: int


class StreamReader:
    """One consumer. `name` must be unique."""

    def __init__(self, client: redis.Redis, name: str) -> None:
        self._client: Any = client
        self._name = name
        self._next = "0-0"

    def read(self, *, count: int, wait_ms: int) -> list[StreamEntry]:
        """Return unread entries; wait for some if the stream is empty."""
        return self._in_group(
            lambda: _parse_entries(
                (self._client.xreadgroup(GROUP, self._name, {KEY: ">"}, count=count, block=wait_ms) or [(b"", [])])[0][
                    1
                ]
            )
        )

    def claim(self, *, count: int, idle_ms: int) -> list[StreamEntry]:
        """Take over and return entries that another consumer has not acknowledged for `idle_ms`."""

        def autoclaim() -> list[StreamEntry]:
            reply = self._client.xautoclaim(
                KEY, GROUP, self._name, min_idle_time=idle_ms, start_id=self._next, count=count
            )
            self._next = reply[0]
            return _parse_entries(reply[1])

        return self._in_group(autoclaim)

    def acknowledge(self, ids: Sequence[bytes]) -> None:
        """Acknowledge and delete entries that are written, so that the stream contains only the backlog."""
        if ids:
            pipeline = self._client.pipeline(transaction=True)
            pipeline.xack(KEY, GROUP, *ids)
            pipeline.xdel(KEY, *ids)
            pipeline.execute()

    def put_back(self, ids: Sequence[bytes], *, idle_ms: int) -> None:
        """Return entries that this consumer cannot read; others may claim them as if idle for `idle_ms` already."""
        if ids:
            self._client.xclaim(KEY, GROUP, _UNREADABLE_CONSUMER, 0, list(ids), idle=idle_ms, justid=True)

    def now_ms(self) -> int:
        """Return the time by the clock of the stream's server, from which entry ids are made."""
        seconds, microseconds = self._client.eval("return redis.call('time')", 1, KEY)
        return int(seconds) * 1_000 + int(microseconds) // 1_000

    def leave(self) -> None:
        """Remove this consumer and long-idle ones from the group, unless they have pending entries."""
        for consumer in self._client.xinfo_consumers(KEY, GROUP):
            is_own = consumer["name"] == self._name.encode()
            if not consumer["pending"] and (is_own or consumer["idle"] > _MAX_IDLE_MS):
                self._client.xgroup_delconsumer(KEY, GROUP, consumer["name"])

    def _in_group(self, command: Any) -> list[StreamEntry]:
        try:
            return command()
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
        try:
            self._client.xgroup_create(KEY, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise
        return command()


def measure_backlog(client: Any) -> Backlog:
    """Return the backlog. Written entries are deleted, so an entry that is not pending is unread."""
    if not client.exists(KEY):
        return Backlog(0, 0)
    pending = sum(group["pending"] for group in client.xinfo_groups(KEY) if group["name"] == GROUP.encode())
    return Backlog(unread=max(client.xlen(KEY) - pending, 0), pending=pending)


def is_persistent(client: Any) -> bool:
    """Return whether the stream survives a restart of its server (its append-only file is on)."""
    return bool(broker.server_info(client, KEY, "persistence").get("aof_enabled"))


def _parse_entries(raw_entries: Sequence[tuple[bytes, dict[bytes, bytes] | None]]) -> list[StreamEntry]:
    return [StreamEntry(entry_id, (fields or {}).get(FIELD, b"")) for entry_id, fields in raw_entries]
