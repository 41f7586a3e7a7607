"""Reads the stream of clicks as one consumer of its group. What was read stays the group's until it is acknowledged.

Source: the facts of Redis streams (consumer groups, XAUTOCLAIM); every command here may raise `RedisError`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis
from redis.exceptions import ResponseError

from adapters import broker
from adapters.clicks.stream import FIELD, GROUP, KEY

# Holds, in the group, entries that no consumer could read so far.
_PUT_BACK = "put-back"

# A consumer that held nothing for this long will not come back.
_GONE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One entry of the stream: its id, and the click as it was sent (empty for an entry without one)."""

    id: bytes
    sent: bytes

    @property
    def sent_at_ms(self) -> int:
        """When it was sent, by the clock of the stream's server."""
        return int(self.id.partition(b"-")[0])


@dataclass(frozen=True, slots=True)
class Backlog:
    """What lies in the stream: entries that nobody has read yet, and those in the hands of a consumer."""

    unread: int
    in_hand: int


class Intake:
    """One consumer. `name` must be its own."""

    def __init__(self, client: redis.Redis, name: str) -> None:
        self._client: Any = client
        self._name = name
        self._next = "0-0"

    def read(self, *, count: int, wait_ms: int) -> list[StreamEntry]:
        """Return entries that nobody has read, after waiting for them if there are none."""
        return self._in_group(
            lambda: _entries(
                (self._client.xreadgroup(GROUP, self._name, {KEY: ">"}, count=count, block=wait_ms) or [(b"", [])])[0][
                    1
                ]
            )
        )

    def claim(self, *, count: int, idle_ms: int) -> list[StreamEntry]:
        """Return entries that a consumer read and did not finish for that long; they are this one's now."""

        def take() -> list[StreamEntry]:
            answer = self._client.xautoclaim(
                KEY, GROUP, self._name, min_idle_time=idle_ms, start_id=self._next, count=count
            )
            self._next = answer[0]
            return _entries(answer[1])

        return self._in_group(take)

    def acknowledge(self, ids: Sequence[bytes]) -> None:
        """Let go of entries that are written, and delete them: what is left in the stream is the backlog."""
        if ids:
            pipeline = self._client.pipeline(transaction=True)
            pipeline.xack(KEY, GROUP, *ids)
            pipeline.xdel(KEY, *ids)
            pipeline.execute()

    def put_back(self, ids: Sequence[bytes], *, idle_ms: int) -> None:
        """Give entries back that this consumer cannot read; others may claim them as if idle for `idle_ms` already."""
        if ids:
            self._client.xclaim(KEY, GROUP, _PUT_BACK, 0, list(ids), idle=idle_ms, justid=True)

    def now_ms(self) -> int:
        """Return the time by the clock of the stream's server, which the ids of entries are made of."""
        seconds, microseconds = self._client.eval("return redis.call('time')", 1, KEY)
        return int(seconds) * 1_000 + int(microseconds) // 1_000

    def leave(self) -> None:
        """Take this consumer, and those that are long gone, out of the group, unless they hold something."""
        for consumer in self._client.xinfo_consumers(KEY, GROUP):
            is_own = consumer["name"] == self._name.encode()
            if not consumer["pending"] and (is_own or consumer["idle"] > _GONE_MS):
                self._client.xgroup_delconsumer(KEY, GROUP, consumer["name"])

    def _in_group(self, take: Any) -> list[StreamEntry]:
        try:
            return take()
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
        try:
            self._client.xgroup_create(KEY, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise
        return take()


def backlog(client: Any) -> Backlog:
    """Return what lies in the stream. What is written is deleted, so what is not in hand is unread."""
    if not client.exists(KEY):
        return Backlog(0, 0)
    in_hand = sum(group["pending"] for group in client.xinfo_groups(KEY) if group["name"] == GROUP.encode())
    return Backlog(unread=max(client.xlen(KEY) - in_hand, 0), in_hand=in_hand)


def is_kept_on_disk(client: Any) -> bool:
    """Say whether the server keeps what it took across a restart (its append-only file is on)."""
    return bool(broker.info_beside(client, KEY, "persistence").get("aof_enabled"))


def _entries(read: Sequence[tuple[bytes, dict[bytes, bytes] | None]]) -> list[StreamEntry]:
    return [StreamEntry(entry_id, (fields or {}).get(FIELD, b"")) for entry_id, fields in read]
