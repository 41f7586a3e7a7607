"""What Dramatiq's broker knows to be in the hands of a worker process: fetched, and not acknowledged.

Per process and queue it is a set of message ids; the messages themselves are in one hash per queue.
"""

from collections.abc import Collection
from uuid import UUID

import dramatiq
import redis
from dramatiq.common import q_name

from adapters import broker
from domain.jobs import QUEUES
from models.jobs.silent_processes import HeldJob

_NAMESPACE = "finderfee"

# The client's types leave open whether it decodes; ours does not.
_Bytes = bytes | str

# Only what is still in these hands is forgotten: somebody else may have been given it meanwhile.
_FORGET = """
for _, message in ipairs(ARGV) do
  if redis.call('srem', KEYS[1], message) > 0 then redis.call('hdel', KEYS[2], message) end
end"""


def namespace(client: redis.Redis, queue: str) -> str:
    """Return what the names of a queue's keys begin with. In a cluster those of one queue lie together, in a slot."""
    return f"{{{_NAMESPACE}:{q_name(queue)}}}" if broker.is_cluster(client) else _NAMESPACE


def key(client: redis.Redis, process_id: UUID | str, queue: str) -> str:
    """Return the name of the set of what a process has in its hands of a queue."""
    return f"{namespace(client, queue)}:__acks__.{process_id}.{queue}"


def waiting(client: redis.Redis, queue: str) -> str:
    """Return the name of the list of what nobody has in hand of a queue."""
    return f"{namespace(client, queue)}:{queue}"


def of(client: redis.Redis, process_id: UUID) -> dict[str, dict[_Bytes, HeldJob | None]]:
    """Return per queue the messages in a process's hands and where each points; None for one without content."""
    found = {}
    for queue in QUEUES:
        ids = list(client.smembers(key(client, process_id, queue)))
        if ids:
            found[queue] = dict(zip(ids, map(_pointer, client.hmget(_messages(client, queue), ids)), strict=True))
    return found


def forget(client: redis.Redis, process_id: UUID, queue: str, ids: Collection[_Bytes]) -> None:
    """Drop messages for good that a process has in its hands."""
    client.register_script(_FORGET)(keys=[key(client, process_id, queue), _messages(client, queue)], args=list(ids))


def _messages(client: redis.Redis, queue: str) -> str:
    return f"{namespace(client, queue)}:{queue}.msgs"


def _pointer(message: _Bytes | None) -> HeldJob | None:
    if message is None:
        return None
    assert isinstance(message, bytes)
    told = dramatiq.Message.decode(message).kwargs
    return told["job_id"], told["attempt"]
