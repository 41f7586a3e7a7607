"""Refunds reverse commission by the running total and complete exactly."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversions import refund
from domain.conversions.refund import RefundBalance, RefundOutcome, RefundRefused

SALE = RefundBalance(amount_cents=10_000, commission_cents=2_000, refunded_cents=0, reversed_cents=0, status="Pending")
BONUS = RefundBalance(amount_cents=0, commission_cents=500, refunded_cents=0, reversed_cents=0, status="Pending")


def after(balance: RefundBalance, outcome: RefundOutcome) -> RefundBalance:
    return replace(
        balance,
        refunded_cents=outcome.cumulative_cents,
        reversed_cents=balance.reversed_cents + outcome.reversal_cents,
        status=outcome.status,
    )


def refusal_code(balance: RefundBalance, *, requested_cents: int | None) -> str:
    with pytest.raises(RefundRefused) as refused:
        refund.apply(balance, requested_cents=requested_cents)
    return refused.value.code


def test_partial_refund_keeps_the_status() -> None:
    outcome = refund.apply(SALE, requested_cents=4_000)

    assert outcome == RefundOutcome(
        refund_cents=4_000, cumulative_cents=4_000, reversal_cents=800, is_full=False, status="Pending"
    )


def test_omitted_amount_refunds_all_that_remains() -> None:
    partly_refunded = replace(SALE, refunded_cents=4_000, reversed_cents=800, status="Approved")

    outcome = refund.apply(partly_refunded, requested_cents=None)

    assert outcome == RefundOutcome(
        refund_cents=6_000, cumulative_cents=10_000, reversal_cents=1_200, is_full=True, status="Refunded"
    )


def test_refund_that_reaches_the_amount_is_full() -> None:
    partly_refunded = replace(SALE, refunded_cents=9_999, reversed_cents=2_000)

    outcome = refund.apply(partly_refunded, requested_cents=1)

    assert outcome == RefundOutcome(
        refund_cents=1, cumulative_cents=10_000, reversal_cents=0, is_full=True, status="Refunded"
    )


@pytest.mark.parametrize("status", ["Pending", "Approved", "Paid"])
def test_full_refund_flips_every_earning_status(status: str) -> None:
    outcome = refund.apply(replace(SALE, status=status), requested_cents=None)

    assert outcome.status == "Refunded"


@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
@pytest.mark.parametrize(
    ("requested_cents", "cumulative_cents", "is_full"), [(None, 10_000, True), (10_000, 10_000, True), (1, 1, False)]
)
def test_conversion_out_of_payment_records_the_refund_and_reverses_nothing(
    status: str, requested_cents: int | None, cumulative_cents: int, is_full: bool
) -> None:
    outcome = refund.apply(replace(SALE, status=status), requested_cents=requested_cents)

    assert outcome == RefundOutcome(
        refund_cents=cumulative_cents,
        cumulative_cents=cumulative_cents,
        reversal_cents=0,
        is_full=is_full,
        status=status,
    )


@pytest.mark.parametrize(
    ("amount_cents", "commission_cents", "refunds", "reversals"),
    [
        (3, 1, [1, 1, 1], [0, 1, 0]),
        (4, 2, [1, 1, 1, 1], [0, 1, 1, 0]),
        (100, 25, [10, 10, 80], [2, 3, 20]),
        (100, 5, [10, 20, 70], [0, 2, 3]),
        (1000, 1, [500, 1, 499], [0, 1, 0]),
        (999, 333, [333, 333, 333], [111, 111, 111]),
        (100, 0, [50, 50], [0, 0]),
        (1, 5, [1], [5]),
    ],
)
def test_reversals_follow_the_running_total(
    amount_cents: int, commission_cents: int, refunds: list[int], reversals: list[int]
) -> None:
    balance = replace(SALE, amount_cents=amount_cents, commission_cents=commission_cents)

    seen = []
    for requested_cents in refunds:
        outcome = refund.apply(balance, requested_cents=requested_cents)
        balance = after(balance, outcome)
        seen.append(outcome.reversal_cents)

    assert seen == reversals


def test_conversion_released_after_a_partial_refund_catches_up_on_the_next() -> None:
    released = replace(SALE, refunded_cents=4_000, reversed_cents=0, status="Pending")

    outcome = refund.apply(released, requested_cents=1_000)

    assert outcome.reversal_cents == 1_000


def test_commission_adjusted_below_what_was_reversed_reverses_nothing() -> None:
    adjusted = replace(SALE, commission_cents=100, refunded_cents=5_000, reversed_cents=1_000)

    outcome = refund.apply(adjusted, requested_cents=None)

    assert outcome.reversal_cents == 0


def test_amount_zero_conversion_is_refunded_whole_when_the_amount_is_omitted() -> None:
    outcome = refund.apply(BONUS, requested_cents=None)

    assert outcome == RefundOutcome(
        refund_cents=0, cumulative_cents=0, reversal_cents=500, is_full=True, status="Refunded"
    )


def test_amount_for_conversion_without_amount_is_invalid() -> None:
    assert refusal_code(BONUS, requested_cents=1) == "refund_amount_invalid"


def test_amount_for_reward_with_amount_is_invalid() -> None:
    assert refusal_code(replace(SALE, is_indivisible=True), requested_cents=1) == "refund_amount_invalid"


@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
def test_denied_conversion_without_amount_is_refunded_once(status: str) -> None:
    assert refund.apply(replace(BONUS, status=status), requested_cents=None).is_full
    refunded = replace(BONUS, status=status, is_refunded=True)
    assert refusal_code(refunded, requested_cents=None) == "already_fully_refunded"


@pytest.mark.parametrize(("status", "before", "restored"), [("Refunded", "Paid", "Paid"), ("Paid", None, "Paid")])
def test_locked_history_gets_back_its_status(status: str, before: str | None, restored: str) -> None:
    got = refund.restored_status(status, before=before, net_cents=500, paid_cents=0, is_locked=True)

    assert got == restored


@pytest.mark.parametrize("requested_cents", [None, 1])
def test_amount_zero_conversion_is_refunded_once(requested_cents: int | None) -> None:
    refunded = replace(BONUS, reversed_cents=500, status="Refunded")

    assert refusal_code(refunded, requested_cents=requested_cents) == "already_fully_refunded"


@pytest.mark.parametrize("requested_cents", [0, -1])
def test_amount_that_is_not_positive_is_refused(requested_cents: int) -> None:
    assert refusal_code(SALE, requested_cents=requested_cents) == "refund_amount_invalid"


@pytest.mark.parametrize("requested_cents", [None, 1])
@pytest.mark.parametrize("status", ["Refunded", "Denied"])
def test_fully_refunded_conversion_is_refused(status: str, requested_cents: int | None) -> None:
    refunded = replace(SALE, refunded_cents=10_000, reversed_cents=2_000, status=status)

    assert refusal_code(refunded, requested_cents=requested_cents) == "already_fully_refunded"


@pytest.mark.parametrize(("refunded_cents", "requested_cents"), [(0, 10_001), (4_000, 6_001), (9_999, 2)])
def test_overflow_is_refused_and_not_clamped(refunded_cents: int, requested_cents: int) -> None:
    balance = replace(SALE, refunded_cents=refunded_cents)

    assert refusal_code(balance, requested_cents=requested_cents) == "amount_exceeds_original"


def test_invalid_amount_is_refused_before_a_full_refund_is() -> None:
    refunded = replace(SALE, refunded_cents=10_000, reversed_cents=2_000, status="Refunded")

    assert refusal_code(refunded, requested_cents=0) == "refund_amount_invalid"


def test_refusal_carries_a_message_for_a_human() -> None:
    refused = RefundRefused("refund_amount_invalid", "The refund amount must be positive.")

    assert (refused.code, refused.message) == ("refund_amount_invalid", "The refund amount must be positive.")


@pytest.mark.parametrize(
    ("reversed_cents", "parent_amount_cents", "parent_cumulative_cents", "parent_is_full", "more_cents"),
    [
        (0, 10_000, 4_000, False, 80),
        (80, 10_000, 4_000, False, 0),
        (80, 10_000, 5_000, False, 20),
        (80, 10_000, 10_000, True, 120),
        (200, 10_000, 10_000, True, 0),
        (150, 10_000, 5_000, False, 0),
        (0, 0, 0, False, 0),
        (0, 0, 0, True, 200),
        (0, 400, 1, False, 0),
        (0, 400, 3, False, 2),
    ],
)
def test_cascade_reverses_the_parents_fraction(
    reversed_cents: int,
    parent_amount_cents: int,
    parent_cumulative_cents: int,
    parent_is_full: bool,
    more_cents: int,
) -> None:
    assert (
        refund.cascade(
            commission_cents=200,
            reversed_cents=reversed_cents,
            parent_amount_cents=parent_amount_cents,
            parent_cumulative_cents=parent_cumulative_cents,
            parent_is_full=parent_is_full,
        )
        == more_cents
    )


@st.composite
def sales_with_refunds(draw: st.DrawFn) -> tuple[RefundBalance, list[int]]:
    """Draw an unrefunded sale and positive refunds that sum to its amount."""
    amount_cents = draw(st.integers(min_value=1, max_value=1_000_000_000_000))
    commission_cents = draw(st.integers(min_value=0, max_value=5 * amount_cents))
    cuts = draw(st.sets(st.integers(min_value=1, max_value=amount_cents), max_size=8)) | {amount_cents}
    edges = sorted(cuts)
    refunds = [edge - before for before, edge in zip([0, *edges], edges, strict=False)]
    sale = replace(SALE, amount_cents=amount_cents, commission_cents=commission_cents)
    return sale, refunds


@given(sales_with_refunds())
def test_any_partial_refunds_grow_within_the_commission_and_complete_it(drawn: tuple[RefundBalance, list[int]]) -> None:
    balance, refunds = drawn

    reversals = []
    for requested_cents in refunds:
        assert balance.status == "Pending"
        outcome = refund.apply(balance, requested_cents=requested_cents)
        balance = after(balance, outcome)
        reversals.append(outcome.reversal_cents)
        assert outcome.reversal_cents >= 0
        assert balance.reversed_cents <= balance.commission_cents

    assert sum(reversals) == balance.commission_cents
    assert balance.status == "Refunded"


@given(sales_with_refunds())
def test_partial_refunds_reverse_what_one_refund_of_their_sum_does(drawn: tuple[RefundBalance, list[int]]) -> None:
    untouched, refunds = drawn
    stepwise = untouched

    for requested_cents in refunds:
        stepwise = after(stepwise, refund.apply(stepwise, requested_cents=requested_cents))
        at_once = after(untouched, refund.apply(untouched, requested_cents=stepwise.refunded_cents))

        assert stepwise == at_once


@given(sales_with_refunds(), st.integers(min_value=0, max_value=10**12), st.data())
def test_cascade_reaches_the_same_total_in_any_grouping(
    drawn: tuple[RefundBalance, list[int]], override_cents: int, data: st.DataObject
) -> None:
    parent, refunds = drawn
    at_every_refund = skipping_some = 0

    for requested_cents in refunds:
        parent = after(parent, refund.apply(parent, requested_cents=requested_cents))
        at_every_refund += _cascaded(parent, override_cents, at_every_refund)
        if data.draw(st.booleans()):
            skipping_some += _cascaded(parent, override_cents, skipping_some)
            assert skipping_some == at_every_refund

    skipping_some += _cascaded(parent, override_cents, skipping_some)
    assert skipping_some == at_every_refund == override_cents


def _cascaded(parent: RefundBalance, override_cents: int, reversed_cents: int) -> int:
    return refund.cascade(
        commission_cents=override_cents,
        reversed_cents=reversed_cents,
        parent_amount_cents=parent.amount_cents,
        parent_cumulative_cents=parent.refunded_cents,
        parent_is_full=parent.status == "Refunded",
    )
