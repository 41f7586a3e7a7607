"""The stream on which clicks travel from the web processes to the process that writes them; this is the sending half.

A click and the count of its sender's rate limit go in one round trip.
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

#: About this many entries are kept; while the writers are away longer than that, the oldest are lost.
MOST = 1_000_000

# Windows are counted as the limiter counts them: KEYS are the stream and the windows, the narrowest first. Answers
# nothing, or which window is full (from 0) and for how many milliseconds yet.
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
    """Appends clicks. Raises RedisError when the server is away."""

    def __init__(self, redis_url: str) -> None:
        self._client: Redis = broker.prompt_client(redis_url)
        self._redis = ThreadRedis(redis_url)

    def append(self, call: ScriptCall) -> tuple[int, int] | None:
        """Make an `append_call` and return None, or the full window (see `full_window`). Budget: 1 round trip."""
        return full_window(self._redis.run(call.script, len(call.keys), *call.keys, *call.values))

    def length(self) -> int:
        """Return how many clicks are in the stream."""
        return int(self._client.xlen(KEY))


def append_call(entry: bytes | None, *, windows: Mapping[str, int], window_s: int) -> ScriptCall:
    """Return the call that counts a request in windows of the rate limit and, if all allow it, appends its click.

    `windows` are their keys and limits, the narrowest first.
    """
    values: tuple[Argument, ...] = (window_s, entry or b"", MOST, FIELD, *windows.values())
    return ScriptCall(_COUNT_AND_APPEND, (KEY, *windows), values)


def full_window(reply: Any) -> tuple[int, int] | None:
    """Return None, or which window is full and for how many more milliseconds."""
    return None if reply is None else (int(reply[0]), int(reply[1]))
