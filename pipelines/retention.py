"""Deletes rows past their retention period, in slices: each is a short transaction that waits for no lock.

The retention period of each kind is a setting in days; 0 keeps rows indefinitely. Money is never deleted.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

import settings
from adapters.clicks import visitors
from domain import jobs
from models.jobs import rows
from models.upkeep import expiry
from models.upkeep.expiry import KINDS, ExpiryKind, ExpiryRun
from pipelines import work

#: How many rows one transaction deletes.
SLICE = 2_000

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RetentionStatus:
    """A kind: its retention period in days (0: indefinitely), how many rows exist and are due, and its last run."""

    kind: str
    days: int
    counts: expiry.ExpiryCounts
    last_run: ExpiryRun | None


def any_org_status(*, now: datetime) -> list[RetentionStatus]:
    """Return the status of every kind. Counts no more than `expiry.MAX_COUNTED` rows of each."""
    runs = expiry.list_runs()
    return [
        RetentionStatus(
            kind=name,
            days=_days(name),
            counts=expiry.any_org_count(kind, before=_cutoff(name, now)),
            last_run=runs.get(name),
        )
        for name, kind in KINDS.items()
    ]


def any_org_start(*, now: datetime) -> None:
    """Start a run of every kind that has a retention period and no run in progress."""
    for name in KINDS:
        if _days(name) and not rows.any_org_has_jobs(queue=jobs.RETENTION_SLICE.queue, fair_key=_fair_key(name)):
            stage_start(name, now=now)
            _stage_slice(name)


def stage_start(name: str, *, now: datetime) -> None:
    """Stage the start of a run of a kind."""
    expiry.stage_start(name, at=now)


def any_org_continue(name: str, *, now: datetime) -> None:
    """Delete the next slice of a kind and stage the job for the following one. Idempotent."""
    if name in KINDS and any_org_slice(name, now=now) == SLICE:
        _stage_slice(name)


def any_org_slice(name: str, *, now: datetime) -> int:
    """Delete up to SLICE rows of a kind and return how many; fewer than SLICE means that the run is done."""
    before = _cutoff(name, now)
    deleted = _delete_slice(KINDS[name], before) if before is not None else 0
    is_done = deleted < SLICE
    total = expiry.add_progress(name, ended=deleted, finished_at=now if is_done else None)
    if is_done and total:
        _log.info("retention.ended", kind=name, rows=total)
    return deleted


def list_kinds() -> Sequence[str]:
    """Return the names of the kinds."""
    return list(KINDS)


def _delete_slice(kind: ExpiryKind, before: datetime) -> int:
    if kind.forget is not None:
        texts = expiry.any_org_lock_texts(kind, before=before, limit=SLICE)
        if texts:
            kind.forget([{"id": row_id, "made": visitors.forgotten(text)} for row_id, text in texts])
        return len(texts)
    names = expiry.any_org_end(kind, before=before, limit=SLICE)
    if kind.name == "dead_letters" and names:
        _log.warning("retention.dead_letters", names=dict(Counter(names)))
    return len(names)


def _cutoff(name: str, now: datetime) -> datetime | None:
    days = _days(name)
    return now - timedelta(days=days) if days else None


def _days(name: str) -> int:
    return settings.current().retention.days[name]


def _stage_slice(name: str) -> None:
    work.enqueue(jobs.RETENTION_SLICE, organization_id=None, fair_key=_fair_key(name), kind=name)


def _fair_key(name: str) -> str:
    return f"retention {name}"
