"""Sends clicks from the web processes to the click writer, on a Redis stream.

Counting the sender's rate limit and appending the click take one round trip.
"""

from collections.abc import Mapping
from typing import Any

from redis import Redis

from adapters import broker
from adapters.event_loop_redis import ScriptCall
from adapters.thread_redis import Argument, Script, ThreadRedis

KEY = "finderfee:clicks"
GROUP = "writers"
FIELD = b"c"

#: The stream's approximate maximum length; if the writers fall further behind, the oldest entries are lost.
MAX_ENTRIES = 1_000_000

# Counts windows like the rate limiter: KEYS are the stream and the windows, narrowest first. Returns nothing, or the
# index of the full window and the milliseconds until it resets.
_COUNT_AND_APPEND = Script("""
for i = 2, #KEYS do
  local count = redis.call('incr', KEYS[i])
  if count == 1 then redis.call('expire', KEYS[i], ARGV[1]) end
  if count > tonumber(ARGV[i + 3]) then return {i - 2, math.max(redis.call('pttl', KEYS[i]), 1)} end
end
if ARGV[2] ~= '' then redis.call('xadd', KEYS[1], 'maxlen', '~', ARGV[3], '*', ARGV[4], ARGV[2]) end
return false
""")


class ClickStream:
    """Appends clicks. Raises RedisError if the server is unavailable."""

    def __init__(self, redis_url: str) -> None:
        self._client: Redis = broker.prompt_client(redis_url)
        self._redis = ThreadRedis(redis_url)

    def append(self, call: ScriptCall) -> tuple[int, int] | None:
        """Run an `append_call`; return None, or the full window (see `full_window`). Budget: 1 round trip."""
        return full_window(self._redis.run(call.script, len(call.keys), *call.keys, *call.values))

    def length(self) -> int:
        """Return the number of clicks in the stream."""
        return int(self._client.xlen(KEY))


def append_call(entry: bytes | None, *, windows: Mapping[str, int], window_s: int) -> ScriptCall:
    """Return the call that counts a request in its rate-limit windows and, if none is full, appends its click.

    `windows` maps their keys to their limits, narrowest first.
    """
    values: tuple[Argument, ...] = (window_s, entry or b"", MAX_ENTRIES, FIELD, *windows.values())
    return ScriptCall(_COUNT_AND_APPEND, (KEY, *windows), values)


def full_window(reply: Any) -> tuple[int, int] | None:
    """Return None, or the index of the full window and the milliseconds until it resets."""
    return None if reply is None else (int(reply[0]), int(reply[1]))
