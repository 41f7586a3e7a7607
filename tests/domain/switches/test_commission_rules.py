"""States of brought conversions, and why commissions are left out: the table of kinds, row by row."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.money.money import MAX_AMOUNT_CENTS
from domain.switches.reasons import LeftOutReason
from domain.switches.records import CommissionKind
from domain.switches.rules import commission_rules

_NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "unpaid", "status", "is_locked", "has_hold"),
    [
        ("paid", "history", "Paid", True, False),
        ("paid", "payable", "Paid", True, False),
        ("owed", "history", "Pending", True, False),
        ("owed", "payable", "Approved", False, False),
        ("pending", "history", "Pending", True, False),
        ("pending", "payable", "Pending", False, True),
        ("held", "history", "Pending", True, False),
        ("held", "payable", "Invalidated", False, False),
        ("refunded", "history", "Refunded", True, False),
        ("refunded", "payable", "Refunded", True, False),
        ("denied", "history", "Denied", True, False),
        ("denied", "payable", "Denied", True, False),
    ],
)
def test_status_of_each_kind(kind, unpaid, status, is_locked, has_hold):
    initial = commission_rules.initial_status(CommissionKind(kind), unpaid=unpaid)

    assert (initial.status, initial.is_locked, initial.has_hold) == (status, is_locked, has_hold)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, None),
        ({"kind": None}, LeftOutReason.UnknownStatus),
        ({"currency": None}, LeftOutReason.UnsupportedCurrency),
        ({"currency": "XXX"}, LeftOutReason.UnsupportedCurrency),
        ({"amount_cents": MAX_AMOUNT_CENTS}, None),
        ({"amount_cents": MAX_AMOUNT_CENTS + 1}, LeftOutReason.AmountOutOfRange),
        ({"commission_cents": MAX_AMOUNT_CENTS + 1}, LeftOutReason.AmountOutOfRange),
        ({"amount_cents": -1}, LeftOutReason.AmountOutOfRange),
        ({"amount_cents": -1, "commission_cents": -1}, None),
        ({"amount_cents": 0, "commission_cents": 0}, None),
    ],
)
def test_reason_for_amounts(fields, reason):
    values = {"kind": "paid", "currency": "USD", "amount_cents": 100, "commission_cents": 20} | fields

    assert commission_rules.reason_for_amounts(**values) == reason


@pytest.mark.parametrize(
    ("occurred_at", "reason"),
    [
        (_NOW - timedelta(days=1), None),
        (_NOW - timedelta(hours=1), None),
        (_NOW - timedelta(minutes=59), LeftOutReason.AfterCutOver),
        (_NOW, LeftOutReason.AfterCutOver),
        (_NOW + timedelta(seconds=1), LeftOutReason.InFuture),
        (None, LeftOutReason.UnreadableRow),
    ],
)
def test_reason_for_time(occurred_at, reason):
    cut_over_at = _NOW - timedelta(hours=1)

    assert commission_rules.reason_for_time(occurred_at=occurred_at, cut_over_at=cut_over_at, now=_NOW) == reason


@pytest.mark.parametrize(
    ("kind", "status", "changed"),
    [
        ("paid", "Pending", "Paid"),
        ("paid", "Approved", "Paid"),
        ("paid", "Invalidated", "Paid"),
        ("paid", "Paid", None),
        ("paid", "Refunded", None),
        ("refunded", "Paid", "Refunded"),
        ("refunded", "Pending", "Refunded"),
        ("refunded", "Refunded", None),
        ("refunded", "Denied", None),
        ("denied", "Approved", "Denied"),
        ("owed", "Pending", None),
        ("pending", "Approved", None),
        ("held", "Approved", None),
    ],
)
def test_status_of_a_known_conversion_changes_only_to_paid_or_lost(kind, status, changed):
    assert commission_rules.changed_status(CommissionKind(kind), status=status) == changed
