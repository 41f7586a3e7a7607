"""A fleet of one process: Dramatiq's worker, without a first process that would watch it and weigh 8 MB for that.

Whoever started it watches it: a supervisor starts again what ends.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

import dramatiq

_STOPPING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
_KILLED = 1


def run(
    load: Callable[[], object], *, queues: Iterable[str] | None, threads: int, stop_within_ms: int, command: list[str]
) -> NoReturn:
    """Work off `queues` (None: all) with so many threads until a signal says stop, and end this process.

    What is in hand is finished for up to `stop_within_ms`; a second signal ends it in the middle. A SIGHUP runs
    `command` afterwards in its place. Signals that come while `load` declares the actors count when it is done.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)  # threads inherit it, so that this one alone is told
    load()
    broker = dramatiq.get_broker()
    broker.emit_after("process_boot")
    worker = dramatiq.Worker(broker, queues=set(queues) if queues else None, worker_threads=threads)
    worker.start()
    told = signal.sigwait(_STOPPING)
    for known in _STOPPING:
        signal.signal(known, lambda *_: _end(_KILLED))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    worker.stop(timeout=stop_within_ms)
    broker.close()
    if told == signal.SIGHUP:
        os.execvp(command[0], command)  # noqa: S606  # what this process was started by
    _end(0)


def _end(code: int) -> NoReturn:
    """End with a job in the hands of threads or without: Python's own way would take from them what they work with."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
