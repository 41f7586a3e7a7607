"""The payable amount of the preview is the change of the affiliates' balances by Run, and undo takes it back.

Source: the switch-over rules, "Preview" (toConfirm.payable) and "Known and changed".
"""

from itertools import product

import pytest

from domain.switches.records import CommissionKind
from tests.support.rows.brands import Brand
from tests.support.switches import undoing
from tests.support.switches.judged_rows import list_exceptions
from tests.support.switches.source_records import (
    build_commission,
    find_payable,
    list_conversions,
    read,
    run,
    sum_balances,
)

_KINDS = list(CommissionKind)
_REFUNDS = (None, CommissionKind.Owed, CommissionKind.Paid)
_SALES = [
    (f"c{number:03}", before, after, refund)
    for number, (before, after, refund) in enumerate(product([None, *_KINDS], _KINDS, _REFUNDS))
]


@pytest.fixture
def brand(brand: Brand) -> Brand:
    brand.program()
    return brand


def _build_rows(name, kind, refund):
    rows = [build_commission(name, kind=kind, payment=name)]
    if refund is not None:
        takes = {"amount_cents": -4_000, "commission_cents": -800}
        rows.append(build_commission(f"r{name}", kind=refund, payment=name, **takes))
    return rows


@pytest.mark.parametrize("first", ["history", "payable"])
@pytest.mark.parametrize("second", ["history", "payable"])
def test_payable_is_what_run_changes_in_the_balances(brand, monkeypatch, first, second):
    # given: each kind of sale, new and known, without and with a refund
    earlier = [row for name, before, _, _ in _SALES if before for row in _build_rows(name, before, None)]
    begun = read(brand, monkeypatch, earlier, unpaid=first)
    run(begun)
    assert sum_balances(brand) == find_payable(begun)
    owed_before, before = sum_balances(brand), list_conversions(brand, "status, payout_locked, reversed_cents")

    # when
    later = [row for name, _, after, refund in _SALES for row in _build_rows(name, after, refund)]
    switch = run(read(brand, monkeypatch, later, unpaid=second))

    # then
    assert sum_balances(brand) - owed_before == find_payable(switch)
    again = read(brand, monkeypatch, later, unpaid=second)
    assert again.judge()["counts"]["commissions"]["changed"] == 0
    again.change(state="Cancelled")
    undoing.undo(switch)
    assert list_exceptions(brand.id) == []
    undone = list_conversions(brand, "status, payout_locked, reversed_cents")
    opened = {name for name in before if undone[name] != before[name]}
    assert {undone[name] for name in opened} <= {("Paid", False, 0)}  # a refund of what was paid there was owed back
    kept_cents = sum(2_000 for name in opened if not before[name][1] and before[name][0] != "Invalidated")
    assert sum_balances(brand) == owed_before - kept_cents
