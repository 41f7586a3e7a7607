"""Middleware of a worker process: its announcement, thread watchdog, connections, metrics and spans."""

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
_STOP_WAIT_S = 2


class Connections(Middleware):
    """Gives every forked process connections of its own, and the database's clock."""

    def after_process_boot(self, broker: Any) -> None:
        db.db.forget_connections()
        broker.forget_connections()
        db.read_clock()  # before the first fetch, which reports by it that this process is alive
        db.db.drop_connection()

    def before_worker_thread_shutdown(self, broker: Any, thread: Any) -> None:
        db.db.drop_connection()


def current_id() -> UUID:
    """Return the id under which this process announces itself, and under which the broker counts its messages."""
    return UUID(dramatiq.get_broker().broker_id)  # type: ignore[attr-defined]  # of PointerCarrier


class Announcement(Middleware):
    """Announces in the database every few seconds which queues this process serves, and with how many threads.

    The relay dispatches in proportion; without announcements nothing would be dispatched. A process that dies becomes
    silent. A process that stops announces no queue from then on, and that it is alive until it has finished.
    """

    def __init__(self) -> None:
        self._is_stopping = threading.Event()
        self._has_announced_stop = threading.Event()
        self._has_ended = threading.Event()
        self._thread: threading.Thread | None = None

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        for event in (self._is_stopping, self._has_announced_stop, self._has_ended):
            event.clear()
        self._thread = threading.Thread(target=self._announce, args=(worker,), name="announcement", daemon=True)
        self._thread.start()

    def before_worker_shutdown(self, broker: Any, worker: Any) -> None:
        self._is_stopping.set()
        self._has_announced_stop.wait(_STOP_WAIT_S)

    def after_worker_shutdown(self, broker: Any, worker: Any) -> None:
        self._has_ended.set()
        if self._thread is not None:
            self._thread.join(_STOP_WAIT_S)  # or it might announce itself once more after this
        if any(worker.broker.unacknowledged.values()):
            return  # a job took longer than its grace; the relay recovers the rest once this process is silent
        with contextlib.suppress(*db.UNAVAILABLE), db.any_org_work():
            processes.withdraw(current_id())

    def _announce(self, worker: Any) -> None:
        while not self._has_ended.is_set():
            is_stopping = self._is_stopping.is_set()
            queues = [] if is_stopping else sorted(worker.consumers)
            try:
                with db.any_org_work():
                    processes.announce(
                        process_id=current_id(),
                        queues=queues,
                        threads=worker.worker_threads,
                        done=pace.completed.last_minute(),
                    )
            except Exception as error:  # if the thread ended here, the process would look healthy and get no jobs
                _log.warning("announcement.failed", error=str(error).strip())
            if is_stopping:
                self._has_announced_stop.set()
            (self._has_ended if is_stopping else self._is_stopping).wait(_ANNOUNCE_EVERY_S)


class SpanFlush(Middleware):
    """Sends the remaining spans of this process before it ends."""

    def after_worker_shutdown(self, broker: Any, worker: Any) -> None:
        spans.flush()


class MetricsServer(Middleware):
    """Serves the counters of this machine if METRICS_PORT is set."""

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        port = settings.current().monitoring.metrics_port
        if port:
            metrics.serve(port)


class ThreadWatchdog(Middleware):
    """Ends a process in which a Dramatiq thread has died, so that its supervisor starts a complete one.

    A dead consumer thread takes no more messages, while the process looks healthy.
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
