"""The validity of a host name's proof, and the schedule of its checks.

A pending name is checked again after half of the time that it has waited, between five minutes and a day, for thirty
days. A proved one is checked once a day, and every six hours while its proof is missing; it is lost when the proof was
missing for three days. Time in which DNS was silent never counts, nor more than a day between two checks. A name that
an operator confirmed is not checked.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from domain.host_proofs.records import CheckOutcome, DnsCheckResult, ProofKind

#: A proof that is missing for this long is lost.
LOST_AFTER = timedelta(days=3)

_MAX_COUNTED = timedelta(days=1)
_MIN_INTERVAL, _MAX_INTERVAL = timedelta(minutes=5), timedelta(days=1)
_PENDING_PERIOD = timedelta(days=30)
_PROVED_INTERVAL, _MISSING_INTERVAL, _SILENT_INTERVAL = timedelta(days=1), timedelta(hours=6), timedelta(hours=1)


class DomainState(StrEnum):
    """The state of a host name. Failing: it is verified, but its proof is missing."""

    Unset = "Unset"
    Pending = "Pending"
    Taken = "Taken"
    Verified = "Verified"
    Failing = "Failing"


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """The stored results of the checks of a name. `missing_s` is the time for which its proof was missing, in seconds.

    `proved_by` is None for a name without a proving record; an operator may still have verified it.
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


def record_check(record: ProofRecord, sighting: DnsCheckResult, *, is_verified: bool, now: datetime) -> ProofRecord:
    """Return the record after a check. `proved_by` is set as long as a DNS record proves the name.

    A verified name that returns without `proved_by` is lost, unless it came without it: then an operator confirmed it.
    """
    updated = replace(
        record,
        checked_at=now,
        outcome=sighting.outcome.value,
        found_at_name=sighting.found_at_name,
        found_in_text=sighting.found_in_text,
    )
    if is_verified and record.proved_by is None:
        return replace(updated, due_at=None)
    if sighting.outcome == CheckOutcome.Proved:
        proved_by = sighting.proved_by.value if sighting.proved_by else None
        return replace(updated, proved_by=proved_by, missing_since=None, missing_s=0, due_at=now + _PROVED_INTERVAL)
    if not is_verified:
        return replace(updated, proved_by=None, missing_since=None, missing_s=0, due_at=_next_try(record, now))
    if sighting.outcome == CheckOutcome.Silent:
        return replace(updated, due_at=now + _SILENT_INTERVAL)
    return _count_missing(record, updated, now)


def state(record: ProofRecord | None, *, is_set: bool, is_verified: bool) -> DomainState:
    """Return the state of a host name."""
    if not is_set:
        return DomainState.Unset
    if is_verified:
        return DomainState.Failing if record is not None and record.missing_since else DomainState.Verified
    return DomainState.Taken if record is not None and record.outcome == CheckOutcome.Taken else DomainState.Pending


def proved_by(record: ProofRecord | None, *, is_verified: bool) -> str | None:
    """Return the kind of a verified name's proof; None for an unverified one."""
    if not is_verified:
        return None
    return record.proved_by if record is not None and record.proved_by else ProofKind.Operator.value


def _count_missing(record: ProofRecord, updated: ProofRecord, now: datetime) -> ProofRecord:
    since = record.missing_since or now
    added = min(now - (record.checked_at or now), _MAX_COUNTED) if record.missing_since else timedelta()
    missing_s = record.missing_s + int(added.total_seconds())
    if missing_s < LOST_AFTER.total_seconds():
        return replace(updated, missing_since=since, missing_s=missing_s, due_at=now + _MISSING_INTERVAL)
    return replace(
        updated, proved_by=None, missing_since=None, missing_s=0, waiting_since=now, due_at=now + _MIN_INTERVAL
    )


def _next_try(record: ProofRecord, now: datetime) -> datetime | None:
    waited = now - record.waiting_since
    if waited > _PENDING_PERIOD:
        return None
    return now + min(max(waited / 2, _MIN_INTERVAL), _MAX_INTERVAL)
