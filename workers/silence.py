"""Recovers the jobs of worker processes that became silent: they were killed, or they are frozen.

The broker knows which messages a process has fetched, and the rows know which process makes a call to another server.
RabbitMQ does not report the messages of other processes, and requeues them by itself.
The pointers of a silent process are useless then: its jobs get another attempt, and with it another pointer.
"""

import time
from uuid import UUID

import structlog

from domain import jobs
from models import db
from models.jobs import processes, silent_processes
from workers.carriers.pointer_carrier import PointerCarrier

_log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 1.0
# If this process itself could not look for so long, others could not announce themselves either: the database was
# unavailable, or the machine was suspended. They get the time to do so.
_BLIND_AFTER_S = processes.SILENT_AFTER_S / 2

_FULL_LEASE = [job.name for job in jobs.ALL if job.keeps_lease]


class SilenceWatch:
    """Looks for silent processes, at most once a second. Any number of relays may do so."""

    def __init__(self, carrier: PointerCarrier) -> None:
        self._carrier = carrier
        self._looked_at = self._watching_since = time.monotonic()

    def look(self) -> None:
        """Recover the jobs of silent processes. Raises the errors of a database or broker that is unavailable."""
        if time.monotonic() < self._looked_at + _LOOK_EVERY_S:
            return
        with db.read_only(), db.any_org_work():
            silent_ids = processes.list_silent()
        now = time.monotonic()
        if now > self._looked_at + _BLIND_AFTER_S:
            self._watching_since = now
        self._looked_at = now
        if now >= self._watching_since + processes.SILENT_AFTER_S:
            for process_id in silent_ids:
                self._recover(process_id)

    def _recover(self, process_id: UUID) -> None:
        """Make the jobs of a process due, then delete its messages; in this order a crash in between repeats both."""
        messages = self._carrier.fetched_by(process_id)
        fetched = {pointer for queue in messages.values() for pointer in queue.values() if pointer}
        with db.any_org_work():
            if not processes.lock_silent(process_id):
                return
            held_jobs = silent_processes.any_org_release(process_id=process_id, fetched=fetched, full_lease=_FULL_LEASE)
            if not held_jobs:
                processes.stage_delete(process_id)
        for queue, pointers in messages.items():
            useless = [message for message, pointer in pointers.items() if pointer not in held_jobs]
            self._carrier.forget(process_id, queue, useless)
        if not held_jobs:
            _log.warning("process.silent", process=str(process_id), held=len(fetched))
