"""Processes of the product for the measurements: a web process, a worker process, and a no-op worker."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import redis

from bench.ground.machine import Machine, responds

#: The Procfile's commands for the queues.
SALES = ("python", "-m", "workers", "-Q", "sales", "-p", "1", "-t", "8")
GATEWAYS = ("python", "-m", "workers", "-Q", "gateways", "-p", "1", "-t", "8")
_NOOP = ("dramatiq", "bench.anchors.noop", "-Q", "noop", "-p", "1", "-t", "8", "--skip-logging")
_NOOP_ANSWER = "bench:noop:seconds"
_POLL_S = 0.25


@contextmanager
def gunicorn(
    machine: Machine, name: str, application: str, port: int, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run an application under the product's gunicorn settings with one worker of 8 threads."""
    sizes = {"WEB_CONCURRENCY": "1", "WEB_THREADS": "8"}
    with machine.running(name, "gunicorn", "-b", f"127.0.0.1:{port}", application, **sizes, **environment) as process:
        machine.wait_for(f"{name} answering", lambda: responds(port, "/healthz"), process)
        yield process


def wait_until_done(
    cursor: Any, report: Callable[[int], None], check: Callable[[], None], *, queue: str = "sales"
) -> None:
    """Wait until no job of the queue is left; report their number, and check that workers run."""
    while True:
        cursor.execute("select count(*) from job where queue = %s", (queue,))
        (left,) = cursor.fetchone()
        report(left)
        if not left:
            return
        check()
        time.sleep(_POLL_S)


def measure_noops(machine: Machine, count: int) -> float:
    """Return the no-op messages per second that one worker process of 8 threads processes."""
    environment = {"NOOP_COUNT": str(count), "NOOP_ANSWER": _NOOP_ANSWER}
    with machine.running("enqueue", "python", "-m", "bench.anchors.noop", **environment) as enqueuing:
        machine.wait_for("enqueuing", lambda: enqueuing.poll() == 0)
    client = redis.Redis.from_url(machine.env["REDIS_URL"])
    with machine.running("noop", *_NOOP, **environment) as worker:
        machine.wait_for("the last no-op", lambda: bool(client.exists(_NOOP_ANSWER)), worker)
    seconds = client.getdel(_NOOP_ANSWER)
    assert isinstance(seconds, bytes)
    return (count - 1) / float(seconds)
