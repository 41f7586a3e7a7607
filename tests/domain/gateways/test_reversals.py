"""New amount of a reported refund: once per id, a total only above the known amount, never above the remainder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.gateways import reversals
from domain.gateways.reversals import PaymentState

_UNREFUNDED = PaymentState(paid_cents=100, refunded_cents=0)
_REFUNDED = PaymentState(paid_cents=100, refunded_cents=40, by_refunds=40, under_id=40)


@pytest.mark.parametrize(
    ("payment", "reported_cents", "is_cumulative", "new_cents"),
    [
        (_UNREFUNDED, 40, False, 40),
        (_UNREFUNDED, 140, False, 100),
        (_UNREFUNDED, None, False, 100),
        (_UNREFUNDED, 0, False, 0),
        (_UNREFUNDED, 40, True, 40),
        (_REFUNDED, 40, False, 0),
        (_REFUNDED, 60, False, 0),
        (_REFUNDED, None, False, 0),
        (_REFUNDED, 40, True, 0),
        (_REFUNDED, 30, True, 0),
        (_REFUNDED, 70, True, 30),
        (_REFUNDED, 170, True, 60),
        (_REFUNDED, None, True, 60),
    ],
)
def test_reported_refund_counts_once(
    payment: PaymentState, reported_cents: int | None, is_cumulative: bool, new_cents: int
) -> None:
    assert reversals.new_cents(payment, reported_cents, is_cumulative=is_cumulative) == new_cents


@pytest.mark.parametrize(
    ("refunded_cents", "by_refunds", "max_reported", "new_cents"),
    [
        (0, 0, 0, 0),  # all of it was returned before the report
        (0, 0, 30, 30),  # only a part was returned
        (30, 30, 30, 0),
        (60, 0, 30, 30),  # a dispute's amount is not part of the gateway's refunds
        (90, 0, 30, 10),
        (50, 50, 30, 0),
    ],
)
def test_earlier_report_counts_up_to_its_amount_after_reconciliation(
    refunded_cents: int, by_refunds: int, max_reported: int, new_cents: int
) -> None:
    payment = PaymentState(
        paid_cents=100,
        refunded_cents=refunded_cents,
        by_refunds=by_refunds,
        under_id=None,
        most_by_refunds=max_reported,
    )
    assert reversals.new_cents(payment, 80, is_cumulative=True) == new_cents
    assert reversals.new_cents(payment, 80, is_cumulative=False) == new_cents


@given(paid=st.integers(0, 10**12), totals=st.lists(st.integers(0, 10**12)))
def test_repeated_totals_in_any_order_end_at_the_largest(paid: int, totals: list[int]) -> None:
    refunded_cents = 0
    for total in totals + totals:
        payment = PaymentState(
            paid_cents=paid, refunded_cents=refunded_cents, by_refunds=refunded_cents, under_id=refunded_cents
        )
        refunded_cents += reversals.new_cents(payment, total, is_cumulative=True)
    assert refunded_cents == min(paid, max(totals, default=0))


@given(paid=st.integers(0, 10**6), refunds=st.dictionaries(st.text(max_size=3), st.integers(0, 10**6)), data=st.data())
def test_each_refund_id_counts_once(paid: int, refunds: dict[str, int], data: st.DataObject) -> None:
    reports = data.draw(st.permutations([*refunds.items(), *refunds.items()]))
    cents_by_id: dict[str, int] = {}
    for refund_id, cents in reports:
        refunded_cents = sum(cents_by_id.values())
        payment = PaymentState(
            paid_cents=paid,
            refunded_cents=refunded_cents,
            by_refunds=refunded_cents,
            under_id=cents_by_id.get(refund_id),
        )
        if added_cents := reversals.new_cents(payment, cents, is_cumulative=False):
            cents_by_id[refund_id] = added_cents
    assert sum(cents_by_id.values()) == min(paid, sum(refunds.values()))
