"""The messages that Dramatiq's broker counts as fetched by a worker process and not acknowledged.

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

# Only a message that is still in this set is deleted: another process may have fetched it meanwhile.
_DELETE = """
for _, message in ipairs(ARGV) do
  if redis.call('srem', KEYS[1], message) > 0 then redis.call('hdel', KEYS[2], message) end
end"""


def namespace(client: redis.Redis, queue: str) -> str:
    """Return the prefix of the names of a queue's keys. In a cluster the keys of one queue share a slot."""
    return f"{{{_NAMESPACE}:{q_name(queue)}}}" if broker.is_cluster(client) else _NAMESPACE


def set_key(client: redis.Redis, process_id: UUID | str, queue: str) -> str:
    """Return the key of the set of messages that a process has fetched from a queue."""
    return f"{namespace(client, queue)}:__acks__.{process_id}.{queue}"


def list_key(client: redis.Redis, queue: str) -> str:
    """Return the key of the list of messages of a queue that no process has fetched."""
    return f"{namespace(client, queue)}:{queue}"


def read(client: redis.Redis, process_id: UUID) -> dict[str, dict[_Bytes, HeldJob | None]]:
    """Return per queue the messages that a process has fetched, and the job of each; None if it has no content."""
    messages = {}
    for queue in QUEUES:
        ids = list(client.smembers(set_key(client, process_id, queue)))
        if ids:
            contents = client.hmget(_messages_key(client, queue), ids)
            messages[queue] = dict(zip(ids, map(_pointer, contents), strict=True))
    return messages


def delete(client: redis.Redis, process_id: UUID, queue: str, ids: Collection[_Bytes]) -> None:
    """Delete messages that a process has fetched."""
    keys = [set_key(client, process_id, queue), _messages_key(client, queue)]
    client.register_script(_DELETE)(keys=keys, args=list(ids))


def _messages_key(client: redis.Redis, queue: str) -> str:
    return f"{namespace(client, queue)}:{queue}.msgs"


def _pointer(message: _Bytes | None) -> HeldJob | None:
    if message is None:
        return None
    assert isinstance(message, bytes)
    arguments = dramatiq.Message.decode(message).kwargs
    return arguments["job_id"], arguments["attempt"]
