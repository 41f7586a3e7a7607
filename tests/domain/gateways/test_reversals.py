"""What of a refund is news: once by its id, a total as far as it exceeds what stands, never more than is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.gateways import reversals
from domain.gateways.reversals import PaymentState

_UNTOUCHED = PaymentState(paid_cents=100, refunded_cents=0)
_KNOWN = PaymentState(paid_cents=100, refunded_cents=40, by_refunds=40, under_id=40)


@pytest.mark.parametrize(
    ("standing", "told_cents", "is_cumulative", "news_cents"),
    [
        (_UNTOUCHED, 40, False, 40),
        (_UNTOUCHED, 140, False, 100),
        (_UNTOUCHED, None, False, 100),
        (_UNTOUCHED, 0, False, 0),
        (_UNTOUCHED, 40, True, 40),
        (_KNOWN, 40, False, 0),
        (_KNOWN, 60, False, 0),
        (_KNOWN, None, False, 0),
        (_KNOWN, 40, True, 0),
        (_KNOWN, 30, True, 0),
        (_KNOWN, 70, True, 30),
        (_KNOWN, 170, True, 60),
        (_KNOWN, None, True, 60),
    ],
)
def test_what_is_told_counts_once(
    standing: PaymentState, told_cents: int | None, is_cumulative: bool, news_cents: int
) -> None:
    assert reversals.new_cents(standing, told_cents, is_cumulative=is_cumulative) == news_cents


@pytest.mark.parametrize(
    ("refunded_cents", "by_refunds", "most", "news_cents"),
    [
        (0, 0, 0, 0),  # all of it came back before it was told
        (0, 0, 30, 30),  # only a part did
        (30, 30, 30, 0),
        (60, 0, 30, 30),  # what a dispute took is not of the gateway's refunds
        (90, 0, 30, 10),
        (50, 50, 30, 0),
    ],
)
def test_what_was_told_before_the_gateway_was_asked_again_counts_as_far_as_it_said(
    refunded_cents: int, by_refunds: int, most: int, news_cents: int
) -> None:
    standing = PaymentState(
        paid_cents=100, refunded_cents=refunded_cents, by_refunds=by_refunds, under_id=None, most_by_refunds=most
    )
    assert reversals.new_cents(standing, 80, is_cumulative=True) == news_cents
    assert reversals.new_cents(standing, 80, is_cumulative=False) == news_cents


@given(paid=st.integers(0, 10**12), totals=st.lists(st.integers(0, 10**12)))
def test_totals_in_any_order_and_as_often_as_they_come_end_at_the_largest(paid: int, totals: list[int]) -> None:
    stands = 0
    for total in totals + totals:
        standing = PaymentState(paid_cents=paid, refunded_cents=stands, by_refunds=stands, under_id=stands)
        stands += reversals.new_cents(standing, total, is_cumulative=True)
    assert stands == min(paid, max(totals, default=0))


@given(paid=st.integers(0, 10**6), refunds=st.dictionaries(st.text(max_size=3), st.integers(0, 10**6)), data=st.data())
def test_refunds_with_their_own_amounts_count_once_each(
    paid: int, refunds: dict[str, int], data: st.DataObject
) -> None:
    told = data.draw(st.permutations([*refunds.items(), *refunds.items()]))
    under: dict[str, int] = {}
    for refund_id, cents in told:
        stands = sum(under.values())
        standing = PaymentState(
            paid_cents=paid, refunded_cents=stands, by_refunds=stands, under_id=under.get(refund_id)
        )
        if more := reversals.new_cents(standing, cents, is_cumulative=False):
            under[refund_id] = more
    assert sum(under.values()) == min(paid, sum(refunds.values()))
