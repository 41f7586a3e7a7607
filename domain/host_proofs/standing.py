"""How long the proof of a host name stands.

A name that waits is looked at again after half of the time that it has waited, between five minutes and a day, and for
thirty days. A proved one is looked at once a day; while its proof is missing every six hours, and it is lost when the
proof was missing for three days. Time in which DNS was silent never counts, nor more than a day between two looks.
What an operator vouched for stands without a look.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from domain.host_proofs.records import LookOutcome, ProofKind, Sighting

#: How long a proof has to be missing until it is lost.
LOST_AFTER = timedelta(days=3)

_MOST_BETWEEN_LOOKS = timedelta(days=1)
_SHORTEST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=5), timedelta(days=1)
_WAITS_FOR = timedelta(days=30)
_EVERY_DAY, _WHILE_MISSING, _WHILE_SILENT = timedelta(days=1), timedelta(hours=6), timedelta(hours=1)


class DomainState(StrEnum):
    """How a host name stands. Failing: it is verified, and its proof is missing."""

    Unset = "Unset"
    Pending = "Pending"
    Taken = "Taken"
    Verified = "Verified"
    Failing = "Failing"


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """What is kept of the looks at a name. `missing_s` is for how long its proof was seen missing, in seconds.

    `proved_by` is None for what no record has proved; such a name may be verified by an operator all the same.
    """

    waiting_since: datetime
    checked_at: datetime | None = None
    outcome: str | None = None
    found_at_name: str | None = None
    found_in_text: str | None = None
    proved_by: str | None = None
    missing_since: datetime | None = None
    missing_s: int = 0
    due_at: datetime | None = None


def after_look(record: ProofRecord, sighting: Sighting, *, is_verified: bool, now: datetime) -> ProofRecord:
    """Return what is kept after a look. It says `proved_by` as long as the name stands proved by a record.

    A verified name whose record comes back without is lost, unless it came without: then an operator vouches for it.
    """
    seen = replace(
        record,
        checked_at=now,
        outcome=sighting.outcome.value,
        found_at_name=sighting.found_at_name,
        found_in_text=sighting.found_in_text,
    )
    if is_verified and record.proved_by is None:
        return replace(seen, due_at=None)
    if sighting.outcome == LookOutcome.Proved:
        proved_by = sighting.proved_by.value if sighting.proved_by else None
        return replace(seen, proved_by=proved_by, missing_since=None, missing_s=0, due_at=now + _EVERY_DAY)
    if not is_verified:
        return replace(seen, proved_by=None, missing_since=None, missing_s=0, due_at=_next_try(record, now))
    if sighting.outcome == LookOutcome.Silent:
        return replace(seen, due_at=now + _WHILE_SILENT)
    return _missing(record, seen, now)


def state(record: ProofRecord | None, *, is_set: bool, is_verified: bool) -> DomainState:
    """Say how a host name stands."""
    if not is_set:
        return DomainState.Unset
    if is_verified:
        return DomainState.Failing if record is not None and record.missing_since else DomainState.Verified
    return DomainState.Taken if record is not None and record.outcome == LookOutcome.Taken else DomainState.Pending


def proved_by(record: ProofRecord | None, *, is_verified: bool) -> str | None:
    """Say what a verified name is proved by; None for one that is not verified."""
    if not is_verified:
        return None
    return record.proved_by if record is not None and record.proved_by else ProofKind.Operator.value


def _missing(record: ProofRecord, seen: ProofRecord, now: datetime) -> ProofRecord:
    since = record.missing_since or now
    more = min(now - (record.checked_at or now), _MOST_BETWEEN_LOOKS) if record.missing_since else timedelta()
    missing_s = record.missing_s + int(more.total_seconds())
    if missing_s < LOST_AFTER.total_seconds():
        return replace(seen, missing_since=since, missing_s=missing_s, due_at=now + _WHILE_MISSING)
    return replace(
        seen, proved_by=None, missing_since=None, missing_s=0, waiting_since=now, due_at=now + _SHORTEST_PAUSE
    )


def _next_try(record: ProofRecord, now: datetime) -> datetime | None:
    waited = now - record.waiting_since
    if waited > _WAITS_FOR:
        return None
    return now + min(max(waited / 2, _SHORTEST_PAUSE), _LONGEST_PAUSE)
