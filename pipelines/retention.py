"""Ends what has had its time, in slices: each is a short transaction of its own that waits for nobody.

How long each kind is kept is a setting in days; 0 keeps it for ever. Money is not among the kinds.
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

#: How many rows end in one transaction.
SLICE = 2_000

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Status:
    """A kind: how many days it is kept (0: for ever), what there is of it, what is due, and its last run."""

    kind: str
    days: int
    standing: expiry.ExpiryStanding
    last_run: ExpiryRun | None


def any_org_status(*, now: datetime) -> list[Status]:
    """Return where every kind stands. Counts no more than `expiry.MOST_COUNTED` rows of each."""
    runs = expiry.runs()
    return [
        Status(
            kind=name,
            days=_days(name),
            standing=expiry.any_org_standing(kind, before=_before(name, now)),
            last_run=runs.get(name),
        )
        for name, kind in KINDS.items()
    ]


def any_org_start(*, now: datetime) -> None:
    """Begin a run of every kind that ends and is not being worked on."""
    for name in KINDS:
        if _days(name) and not rows.any_org_has_jobs(queue=jobs.RETENTION_SLICE.queue, fair_key=_turn(name)):
            begin(name, now=now)
            _stage_slice(name)


def begin(name: str, *, now: datetime) -> None:
    """Stage that a run of a kind begins."""
    expiry.stage_start(name, at=now)


def any_org_go_on(name: str, *, now: datetime) -> None:
    """End the next slice of a kind and stage the job for the one after it. Idempotent."""
    if name in KINDS and any_org_slice(name, now=now) == SLICE:
        _stage_slice(name)


def any_org_slice(name: str, *, now: datetime) -> int:
    """End up to SLICE rows of a kind and return how many; fewer than SLICE: it is done for now."""
    before = _before(name, now)
    ended = _end(KINDS[name], before) if before is not None else 0
    is_done = ended < SLICE
    so_far = expiry.add(name, ended=ended, finished_at=now if is_done else None)
    if is_done and so_far:
        _log.info("retention.ended", kind=name, rows=so_far)
    return ended


def kinds() -> Sequence[str]:
    """Return the names of what ends."""
    return list(KINDS)


def _end(kind: ExpiryKind, before: datetime) -> int:
    if kind.forget is not None:
        found = expiry.any_org_lock_texts(kind, before=before, limit=SLICE)
        if found:
            kind.forget([{"id": row_id, "made": visitors.hash_erased(text)} for row_id, text in found])
        return len(found)
    ended = expiry.any_org_end(kind, before=before, limit=SLICE)
    if kind.name == "dead_letters" and ended:
        _log.warning("retention.dead_letters", names=dict(Counter(ended)))
    return len(ended)


def _before(name: str, now: datetime) -> datetime | None:
    days = _days(name)
    return now - timedelta(days=days) if days else None


def _days(name: str) -> int:
    return settings.current().retention.days[name]


def _stage_slice(name: str) -> None:
    work.enqueue(jobs.RETENTION_SLICE, organization_id=None, fair_key=_turn(name), kind=name)


def _turn(name: str) -> str:
    return f"retention {name}"
