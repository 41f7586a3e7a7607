"""What a worker process does besides running jobs: announces itself, watches its threads, lets go of connections."""

import contextlib
import os
import signal
import threading
from typing import Any

import structlog
from dramatiq.middleware import Middleware

import settings
from models import db, ids, worker_processes
from workers import metrics

_log = structlog.get_logger(__name__)

# Well below the 15 s after which the relay counts a silent process as gone.
_ANNOUNCE_EVERY_S = 3
_WATCH_EVERY_S = 2
_LAST_WORD_S = 2


class Connections(Middleware):
    """Gives every forked process connections of its own."""

    def after_process_boot(self, broker: Any) -> None:
        db.db.forget_connections()
        broker.client.connection_pool.reset()

    def before_worker_thread_shutdown(self, broker: Any, thread: Any) -> None:
        db.db.drop_connection()


class Announcement(Middleware):
    """Tells the database every few seconds which queues this process serves, and with how many threads.

    The relay hands out in proportion. Without this nothing would be handed out at all; when the process dies its
    share ends 15 seconds later, and when it stops cleanly, at once.
    """

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._process_id = ids.new_id()
        self._thread: threading.Thread | None = None

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        self._process_id = ids.new_id()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._announce, args=(worker,), name="announcement", daemon=True)
        self._thread.start()

    def before_worker_shutdown(self, broker: Any, worker: Any) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_LAST_WORD_S)  # or it might announce once more after this
        with contextlib.suppress(*db.UNAVAILABLE), db.any_org_work():
            worker_processes.withdraw(self._process_id)

    def _announce(self, worker: Any) -> None:
        while not self._stopping.is_set():
            queues = sorted(queue for queue in worker.consumers if not queue.endswith(".DQ"))
            try:
                with db.any_org_work():
                    worker_processes.announce(process_id=self._process_id, queues=queues, threads=worker.worker_threads)
            except (
                Exception
            ) as error:  # a thread that ended here would leave a process that looks well and gets no work
                _log.warning("announcement.failed", error=str(error).strip())
            self._stopping.wait(_ANNOUNCE_EVERY_S)


class Numbers(Middleware):
    """Serves the counters of this machine where METRICS_PORT says so."""

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        port = settings.current().metrics_port
        if port is not None:
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
