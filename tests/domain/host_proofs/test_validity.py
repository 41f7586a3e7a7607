"""Validity of a host proof: it ends after three days of definite answers without it, and never by missing answers."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.host_proofs import validity
from domain.host_proofs.records import CheckOutcome, DnsCheckResult, ProofKind
from domain.host_proofs.validity import DomainState, ProofRecord

_START = datetime(2026, 3, 1, tzinfo=UTC)
_PROVED = DnsCheckResult(CheckOutcome.Proved, ProofKind.Cname, "", "")
_MISSING, _SILENT, _TAKEN = (
    DnsCheckResult(outcome, None, "", "") for outcome in (CheckOutcome.Missing, CheckOutcome.Silent, CheckOutcome.Taken)
)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


class _CheckedName:
    """A host name with its proof record, checked as the pipeline does."""

    def __init__(self, *, proved_by="CNAME", is_verified=True):
        self.record, self.is_verified = ProofRecord(_START, proved_by=proved_by), is_verified
        self.is_vouched_for = is_verified and proved_by is None

    def check(self, result, after):
        self.record = validity.record_check(self.record, result, is_verified=self.is_verified, now=_START + after)
        self.is_verified = self.is_vouched_for or self.record.proved_by is not None
        return self

    def check_until(self, result, *, until):
        """Check the name whenever it is due."""
        while self.record.due_at is not None and self.record.due_at <= _START + until and self.is_verified:
            self.check(result, self.record.due_at - _START)
        return self

    @property
    def due_in(self):
        return None if self.record.due_at is None else self.record.due_at - self.record.checked_at


def test_proof_is_lost_after_missing_for_three_days():
    name = _CheckedName().check(_PROVED, timedelta()).check(_MISSING, 1 * _DAY)

    assert name.check_until(_MISSING, until=4 * _DAY - timedelta(seconds=1)).is_verified
    assert not name.check_until(_MISSING, until=4 * _DAY).is_verified
    assert (name.record.proved_by, name.record.missing_since, name.record.missing_s) == (None, None, 0)


def test_unanswered_checks_never_end_a_proof():
    name = _CheckedName().check(_PROVED, timedelta()).check(_MISSING, 1 * _DAY).check(_SILENT, 1 * _DAY + _HOUR)
    missing_s = name.record.missing_s
    name.check_until(_SILENT, until=40 * _DAY)

    assert (name.is_verified, name.record.missing_s) == (True, missing_s)
    assert name.check(_MISSING, 41 * _DAY).is_verified


def test_gap_between_two_checks_counts_as_at_most_a_day():
    """A service that was down for a week made no observations in it."""
    name = _CheckedName().check(_PROVED, timedelta()).check(_MISSING, 1 * _DAY).check(_MISSING, 30 * _DAY)

    assert (name.is_verified, name.record.missing_s) == (True, 86_400)


def test_restored_proof_resets_the_missing_time():
    name = _CheckedName().check(_PROVED, timedelta()).check(_MISSING, 1 * _DAY).check_until(_MISSING, until=3.5 * _DAY)
    name.check(_PROVED, 3.6 * _DAY).check(_MISSING, 4.6 * _DAY)

    assert (name.is_verified, name.record.missing_s, name.record.missing_since) == (True, 0, _START + 4.6 * _DAY)


def test_requested_checks_do_not_end_a_proof_sooner():
    name = _CheckedName().check(_PROVED, timedelta()).check(_MISSING, 1 * _DAY)
    for minute in range(1, 200):
        name.check(_MISSING, 1 * _DAY + timedelta(minutes=minute))

    assert name.is_verified


def test_proved_name_is_checked_daily_and_sooner_while_failing():
    name = _CheckedName().check(_PROVED, timedelta())
    proved_interval = name.due_in
    missing_interval = name.check(_MISSING, 1 * _DAY).due_in

    assert (proved_interval, missing_interval, name.check(_SILENT, 1.2 * _DAY).due_in) == (_DAY, 6 * _HOUR, _HOUR)


def test_pending_name_is_checked_less_often_and_not_after_30_days():
    name = _CheckedName(proved_by=None, is_verified=False).check(_MISSING, timedelta())
    intervals = [name.due_in]
    while (due_at := name.record.due_at) is not None:
        intervals.append(name.check(_MISSING if len(intervals) % 2 else _SILENT, due_at - _START).due_in)

    assert intervals[:2] == [timedelta(minutes=5)] * 2
    assert intervals[:-1] == sorted(intervals[:-1])
    assert max(intervals[:-1]) == _DAY
    assert intervals[-1] is None
    assert 30 * _DAY < name.record.checked_at - _START < 32 * _DAY


def test_name_vouched_for_by_an_operator_stays_verified():
    name = _CheckedName(proved_by=None)
    for day, result in enumerate([_MISSING, _MISSING, _SILENT, _PROVED, _MISSING, _MISSING, _MISSING, _MISSING]):
        name.check(result, day * _DAY)

    assert (name.is_verified, name.record.proved_by, name.record.due_at) == (True, None, None)


@pytest.mark.parametrize(
    ("record", "is_verified", "state", "proved_by"),
    [
        (None, False, DomainState.Pending, None),
        (ProofRecord(_START, outcome="Missing"), False, DomainState.Pending, None),
        (ProofRecord(_START, outcome="Taken"), False, DomainState.Taken, None),
        (None, True, DomainState.Verified, "Operator"),
        (ProofRecord(_START, outcome="Proved", proved_by="TXT"), True, DomainState.Verified, "TXT"),
        (ProofRecord(_START, proved_by="TXT", missing_since=_START), True, DomainState.Failing, "TXT"),
    ],
    ids=str,
)
def test_state_and_proof_follow_the_record(record, is_verified, state, proved_by):
    assert validity.state(record, is_set=True, is_verified=is_verified) == state
    assert validity.proved_by(record, is_verified=is_verified) == proved_by
    assert validity.state(record, is_set=False, is_verified=False) == DomainState.Unset


def test_name_proved_by_another_holder_stays_pending():
    name = _CheckedName(proved_by=None, is_verified=False).check(_TAKEN, timedelta())

    assert (name.is_verified, name.due_in) == (False, timedelta(minutes=5))
