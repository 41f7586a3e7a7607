"""A fleet of one process: Dramatiq's worker, without a parent process that would watch it and use 8 MB for that.

The supervisor that started it watches it, and restarts it when it ends.
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
    """Run the jobs of `queues` (None: all) with `threads` threads until a signal to stop, then end this process.

    Running jobs get up to `stop_within_ms` to finish; a second signal interrupts them. After a SIGHUP `command`
    replaces this process. Signals that arrive while `load` declares the actors take effect after it.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)  # threads inherit the mask, so that only this one gets signals
    load()
    broker = dramatiq.get_broker()
    broker.emit_after("process_boot")
    worker = dramatiq.Worker(broker, queues=set(queues) if queues else None, worker_threads=threads)
    worker.start()
    received = signal.sigwait(_STOPPING)
    for number in _STOPPING:
        signal.signal(number, lambda *_: _end(_KILLED))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
    worker.stop(timeout=stop_within_ms)
    broker.close()
    if received == signal.SIGHUP:
        os.execvp(command[0], command)  # noqa: S606  # the command that started this process
    _end(0)


def _end(code: int) -> NoReturn:
    """End at once, even while threads run jobs: Python's own exit would first destroy the modules that they use."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
