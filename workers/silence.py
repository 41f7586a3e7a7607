"""Hands out again what worker processes hold that went silent: they were killed, or they are frozen.

What a process has is known from the broker, which keeps what it fetched, and for calls to the outside from their rows.
RabbitMQ tells nobody what others have, and gives it back by itself.
Its pointers are of no more use then: the jobs get another attempt, and with it another pointer.
"""

import time
from uuid import UUID

import structlog

from domain import jobs
from models import db
from models.jobs import processes, silent_processes
from workers.carriers.ours import PointerCarrier

_log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 1.0
# Where this process itself could not look for so long, others could not announce themselves either: a database that was
# away, a machine that slept. They are given the time to do so.
_BLIND_AFTER_S = processes.SILENT_AFTER_S / 2

_FULL_LEASE = [job.name for job in jobs.ALL if job.keeps_lease]


class Watch:
    """Looks for silent processes, at most once a second. Any number of relays may."""

    def __init__(self, carrier: PointerCarrier) -> None:
        self._carrier = carrier
        self._looked_at = self._watches_since = time.monotonic()

    def look(self) -> None:
        """Let go of what silent processes hold. Raises what the database and the broker raise when they are away."""
        if time.monotonic() < self._looked_at + _LOOK_EVERY_S:
            return
        with db.read_only(), db.any_org_work():
            silent = processes.list_silent()
        now = time.monotonic()
        if now > self._looked_at + _BLIND_AFTER_S:
            self._watches_since = now
        self._looked_at = now
        if now >= self._watches_since + processes.SILENT_AFTER_S:
            for process_id in silent:
                self._let_go(process_id)

    def _let_go(self, process_id: UUID) -> None:
        """Make due what a process holds, then forget its messages; in this order, a crash in between repeats it."""
        messages = self._carrier.fetched_by(process_id)
        fetched = {pointer for queue in messages.values() for pointer in queue.values() if pointer}
        with db.any_org_work():
            if not processes.lock_silent(process_id):
                return
            held = silent_processes.any_org_release(process_id=process_id, fetched=fetched, full_lease=_FULL_LEASE)
            if not held:
                processes.stage_delete(process_id)
        for queue, pointers in messages.items():
            of_no_use = [message for message, pointer in pointers.items() if pointer not in held]
            self._carrier.forget(process_id, queue, of_no_use)
        if not held:
            _log.warning("process.silent", process=str(process_id), held=len(fetched))
