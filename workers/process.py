"""What a worker process does besides running jobs: announces itself, watches its threads, lets go of connections."""

import contextlib
import os
import signal
import threading
from typing import Any
from uuid import UUID

import dramatiq
import structlog
from dramatiq.middleware import Middleware

import settings
from adapters.tracing import spans
from models import db
from models.jobs import processes
from workers import metrics, pace

_log = structlog.get_logger(__name__)

# A quarter of processes.SILENT_AFTER_S.
_ANNOUNCE_EVERY_S = 3
_WATCH_EVERY_S = 2
_LAST_WORD_S = 2


class Connections(Middleware):
    """Gives every forked process connections of its own, and the database's clock."""

    def after_process_boot(self, broker: Any) -> None:
        db.db.forget_connections()
        broker.forget_connections()
        db.read_clock()  # before the first fetch, which says by it that this process lives
        db.db.drop_connection()

    def before_worker_thread_shutdown(self, broker: Any, thread: Any) -> None:
        db.db.drop_connection()


def own_id() -> UUID:
    """Return the name by which this process announces itself. The broker keeps what it fetches under that name."""
    return UUID(dramatiq.get_broker().broker_id)  # type: ignore[attr-defined]  # of ours


class Announcement(Middleware):
    """Tells the database every few seconds which queues this process serves, and with how many threads.

    The relay hands out in proportion. Without this nothing would be handed out at all. When the process dies it goes
    silent. When it is told to stop it serves no queue from that moment, and says that it lives until it has finished.
    """

    def __init__(self) -> None:
        self._is_leaving = threading.Event()
        self._has_said_so = threading.Event()
        self._has_ended = threading.Event()
        self._thread: threading.Thread | None = None

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        for event in (self._is_leaving, self._has_said_so, self._has_ended):
            event.clear()
        self._thread = threading.Thread(target=self._announce, args=(worker,), name="announcement", daemon=True)
        self._thread.start()

    def before_worker_shutdown(self, broker: Any, worker: Any) -> None:
        self._is_leaving.set()
        self._has_said_so.wait(_LAST_WORD_S)

    def after_worker_shutdown(self, broker: Any, worker: Any) -> None:
        self._has_ended.set()
        if self._thread is not None:
            self._thread.join(_LAST_WORD_S)  # or it might announce once more after this
        if any(worker.broker.in_hand.values()):
            return  # a job took longer than it was given: what is left is found by the silence
        with contextlib.suppress(*db.UNAVAILABLE), db.any_org_work():
            processes.withdraw(own_id())

    def _announce(self, worker: Any) -> None:
        while not self._has_ended.is_set():
            is_leaving = self._is_leaving.is_set()
            queues = [] if is_leaving else sorted(worker.consumers)
            try:
                with db.any_org_work():
                    processes.announce(
                        process_id=own_id(),
                        queues=queues,
                        threads=worker.worker_threads,
                        done=pace.done.last_minute(),
                    )
            except (
                Exception
            ) as error:  # a thread that ended here would leave a process that looks well and gets no work
                _log.warning("announcement.failed", error=str(error).strip())
            if is_leaving:
                self._has_said_so.set()
            (self._has_ended if is_leaving else self._is_leaving).wait(_ANNOUNCE_EVERY_S)


class LastSpans(Middleware):
    """Sends what is left of this process's spans before it ends."""

    def after_worker_shutdown(self, broker: Any, worker: Any) -> None:
        spans.flush()


class Numbers(Middleware):
    """Serves the counters of this machine where METRICS_PORT says so."""

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        port = settings.current().monitoring.metrics_port
        if port:
            metrics.serve(port)


class ThreadWatchdog(Middleware):
    """Ends a process one of whose Dramatiq threads has died, so that its supervisor starts a whole one.

    A consumer thread that is gone takes no more messages, and the process around it looks healthy.
    """

    def __init__(self) -> None:
        self._stopping = threading.Event()

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        self._stopping.clear()
        threading.Thread(target=self._watch, args=(worker,), name="thread-watchdog", daemon=True).start()

    def before_worker_shutdown(self, broker: Any, worker: Any) -> None:
        self._stopping.set()

    def _watch(self, worker: Any) -> None:
        while not self._stopping.wait(_WATCH_EVERY_S):
            threads = [*worker.consumers.values(), *worker.workers]
            dead = [thread.name for thread in threads if not thread.is_alive()]
            if dead and not self._stopping.is_set():
                _log.error("worker.thread_died", threads=dead)
                os.kill(os.getpid(), signal.SIGTERM)
                return
