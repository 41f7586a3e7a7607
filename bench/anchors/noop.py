"""A Dramatiq actor that does nothing, on Dramatiq's own Redis broker with its default settings.

It counts its calls in the process; the first call stores the time, the last one sets the Redis key NOOP_ANSWER to the
seconds since then.
`python -m bench.anchors.noop` enqueues NOOP_COUNT messages; `dramatiq bench.anchors.noop` processes them.
"""

import itertools
import os
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker

_COUNT = int(os.environ.get("NOOP_COUNT", "0"))
_broker = RedisBroker(url=os.environ["REDIS_URL"])
dramatiq.set_broker(_broker)
_calls = itertools.count(1)
_started = 0.0


@dramatiq.actor(queue_name="noop")
def noop() -> None:
    """Count the call."""
    global _started
    call = next(_calls)
    if call == 1:
        _started = time.perf_counter()
    elif call == _COUNT:
        _broker.client.set(os.environ["NOOP_ANSWER"], str(time.perf_counter() - _started))


if __name__ == "__main__":
    for _ in range(_COUNT):
        noop.send()
