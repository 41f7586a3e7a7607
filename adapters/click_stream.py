"""The stream on which clicks travel from the web processes to the process that writes them; this is the sending half.

A click and the count of its sender's rate limit go in one round trip.
"""

from redis import Redis

from adapters import broker
from adapters.prompt_wire import PromptWire, Script

KEY = "finderfee:clicks"
GROUP = "writers"
FIELD = b"c"

#: About this many entries are kept; while the writers are away longer than that, the oldest are lost.
MOST = 1_000_000

# The window is counted as the limiter counts it. Answers 0, or for how many milliseconds the window is full yet.
_COUNT_AND_APPEND = Script("""
local count = redis.call('incr', KEYS[1])
if count == 1 then redis.call('expire', KEYS[1], ARGV[2]) end
if count > tonumber(ARGV[1]) then return math.max(redis.call('pttl', KEYS[1]), 1) end
if ARGV[3] ~= '' then redis.call('xadd', KEYS[2], 'maxlen', '~', ARGV[4], '*', ARGV[5], ARGV[3]) end
return 0
""")


class ClickStream:
    """Appends clicks. Raises RedisError when the server is away."""

    def __init__(self, redis_url: str) -> None:
        self._client: Redis = broker.prompt_client(redis_url)
        self._wire = PromptWire(redis_url)

    def append(self, entry: bytes | None, *, window: str, limit: int, window_s: int) -> int:
        """Count one request in a window of the rate limit and append a click, if there is one, when it is within it.

        Return 0, or for how many milliseconds the window is full yet. Budget: 1 round trip.
        """
        return int(self._wire.run(_COUNT_AND_APPEND, 2, window, KEY, limit, window_s, entry or b"", MOST, FIELD))

    def length(self) -> int:
        """Return how many clicks are in the stream."""
        return int(self._client.xlen(KEY))
