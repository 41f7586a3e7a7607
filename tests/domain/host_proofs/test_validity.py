"""How long a proof stands: three days of definite answers without it end it, and silence never does."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.host_proofs import validity
from domain.host_proofs.records import CheckOutcome, DnsCheckResult, ProofKind
from domain.host_proofs.validity import DomainState, ProofRecord

_T = datetime(2026, 3, 1, tzinfo=UTC)
_PROVED = DnsCheckResult(CheckOutcome.Proved, ProofKind.Cname, "", "")
_MISSING, _SILENT, _TAKEN = (
    DnsCheckResult(outcome, None, "", "") for outcome in (CheckOutcome.Missing, CheckOutcome.Silent, CheckOutcome.Taken)
)
_H, _D = timedelta(hours=1), timedelta(days=1)


class _Name:
    """A name that is looked at, as a holder is by the pipeline."""

    def __init__(self, *, proved_by="CNAME", is_verified=True):
        self.record, self.is_verified = ProofRecord(_T, proved_by=proved_by), is_verified
        self.is_vouched_for = is_verified and proved_by is None

    def look(self, sighting, after):
        self.record = validity.record_check(self.record, sighting, is_verified=self.is_verified, now=_T + after)
        self.is_verified = self.is_vouched_for or self.record.proved_by is not None
        return self

    def walk(self, sighting, *, until):
        """Look whenever the name is due."""
        while self.record.due_at is not None and self.record.due_at <= _T + until and self.is_verified:
            self.look(sighting, self.record.due_at - _T)
        return self

    @property
    def due_in(self):
        return None if self.record.due_at is None else self.record.due_at - self.record.checked_at


def test_a_proof_that_is_missing_for_three_days_is_lost_and_not_before():
    name = _Name().look(_PROVED, timedelta()).look(_MISSING, 1 * _D)

    assert name.walk(_MISSING, until=4 * _D - timedelta(seconds=1)).is_verified
    assert not name.walk(_MISSING, until=4 * _D).is_verified
    assert (name.record.proved_by, name.record.missing_since, name.record.missing_s) == (None, None, 0)


def test_silence_never_counts_however_long():
    name = _Name().look(_PROVED, timedelta()).look(_MISSING, 1 * _D).look(_SILENT, 1 * _D + _H)
    missing_s = name.record.missing_s
    name.walk(_SILENT, until=40 * _D)

    assert (name.is_verified, name.record.missing_s) == (True, missing_s)
    assert name.look(_MISSING, 41 * _D).is_verified


def test_no_more_than_a_day_counts_between_two_looks():
    """A service that stood still for a week has seen nothing in it."""
    name = _Name().look(_PROVED, timedelta()).look(_MISSING, 1 * _D).look(_MISSING, 30 * _D)

    assert (name.is_verified, name.record.missing_s) == (True, 86_400)


def test_a_proof_that_is_back_begins_anew():
    name = _Name().look(_PROVED, timedelta()).look(_MISSING, 1 * _D).walk(_MISSING, until=3.5 * _D)
    name.look(_PROVED, 3.6 * _D).look(_MISSING, 4.6 * _D)

    assert (name.is_verified, name.record.missing_s, name.record.missing_since) == (True, 0, _T + 4.6 * _D)


def test_looks_on_request_do_not_hurry_it():
    name = _Name().look(_PROVED, timedelta()).look(_MISSING, 1 * _D)
    for minute in range(1, 200):
        name.look(_MISSING, 1 * _D + timedelta(minutes=minute))

    assert name.is_verified


def test_a_proved_name_is_looked_at_daily_and_sooner_while_something_is_wrong():
    name = _Name().look(_PROVED, timedelta())
    daily = name.due_in
    missing = name.look(_MISSING, 1 * _D).due_in

    assert (daily, missing, name.look(_SILENT, 1.2 * _D).due_in) == (_D, 6 * _H, _H)


def test_a_name_that_waits_is_looked_at_ever_more_seldom_and_after_thirty_days_no_more():
    name = _Name(proved_by=None, is_verified=False).look(_MISSING, timedelta())
    pauses = [name.due_in]
    while (due_at := name.record.due_at) is not None:
        pauses.append(name.look(_MISSING if len(pauses) % 2 else _SILENT, due_at - _T).due_in)

    assert pauses[:2] == [timedelta(minutes=5)] * 2
    assert pauses[:-1] == sorted(pauses[:-1])
    assert max(pauses[:-1]) == _D
    assert pauses[-1] is None
    assert 30 * _D < name.record.checked_at - _T < 32 * _D


def test_what_an_operator_vouches_for_stands_whatever_is_seen():
    name = _Name(proved_by=None)
    for day, sighting in enumerate([_MISSING, _MISSING, _SILENT, _PROVED, _MISSING, _MISSING, _MISSING, _MISSING]):
        name.look(sighting, day * _D)

    assert (name.is_verified, name.record.proved_by, name.record.due_at) == (True, None, None)


@pytest.mark.parametrize(
    ("record", "is_verified", "state", "proved_by"),
    [
        (None, False, DomainState.Pending, None),
        (ProofRecord(_T, outcome="Missing"), False, DomainState.Pending, None),
        (ProofRecord(_T, outcome="Taken"), False, DomainState.Taken, None),
        (None, True, DomainState.Verified, "Operator"),
        (ProofRecord(_T, outcome="Proved", proved_by="TXT"), True, DomainState.Verified, "TXT"),
        (ProofRecord(_T, proved_by="TXT", missing_since=_T), True, DomainState.Failing, "TXT"),
    ],
    ids=str,
)
def test_how_a_name_stands(record, is_verified, state, proved_by):
    assert validity.state(record, is_set=True, is_verified=is_verified) == state
    assert validity.proved_by(record, is_verified=is_verified) == proved_by
    assert validity.state(record, is_set=False, is_verified=False) == DomainState.Unset


def test_a_name_that_somebody_else_has_waits_on():
    name = _Name(proved_by=None, is_verified=False).look(_TAKEN, timedelta())

    assert (name.is_verified, name.due_in) == (False, timedelta(minutes=5))
