"""Refunds reverse commission in proportion to the cumulative refund, and a full refund reverses all of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversions import refund
from domain.conversions.refund import RefundBalance, RefundOutcome, RefundRefused

SALE = RefundBalance(amount_cents=10_000, commission_cents=2_000, refunded_cents=0, reversed_cents=0, status="Pending")
BONUS = RefundBalance(amount_cents=0, commission_cents=500, refunded_cents=0, reversed_cents=0, status="Pending")


def apply_outcome(balance: RefundBalance, outcome: RefundOutcome) -> RefundBalance:
    return replace(
        balance,
        refunded_cents=outcome.cumulative_cents,
        reversed_cents=balance.reversed_cents + outcome.reversal_cents,
        status=outcome.status,
    )


def refusal_code(balance: RefundBalance, *, requested_cents: int | None) -> str:
    with pytest.raises(RefundRefused) as refusal:
        refund.apply(balance, requested_cents=requested_cents)
    return refusal.value.code


def test_partial_refund_leaves_the_status_unchanged() -> None:
    outcome = refund.apply(SALE, requested_cents=4_000)

    assert outcome == RefundOutcome(
        refund_cents=4_000, cumulative_cents=4_000, reversal_cents=800, is_full=False, status="Pending"
    )


def test_omitted_amount_refunds_the_remainder() -> None:
    partly_refunded = replace(SALE, refunded_cents=4_000, reversed_cents=800, status="Approved")

    outcome = refund.apply(partly_refunded, requested_cents=None)

    assert outcome == RefundOutcome(
        refund_cents=6_000, cumulative_cents=10_000, reversal_cents=1_200, is_full=True, status="Refunded"
    )


def test_refund_of_the_whole_remainder_is_full() -> None:
    partly_refunded = replace(SALE, refunded_cents=9_999, reversed_cents=2_000)

    outcome = refund.apply(partly_refunded, requested_cents=1)

    assert outcome == RefundOutcome(
        refund_cents=1, cumulative_cents=10_000, reversal_cents=0, is_full=True, status="Refunded"
    )


@pytest.mark.parametrize("status", ["Pending", "Approved", "Paid"])
def test_full_refund_sets_the_status_refunded(status: str) -> None:
    outcome = refund.apply(replace(SALE, status=status), requested_cents=None)

    assert outcome.status == "Refunded"


@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
@pytest.mark.parametrize(
    ("requested_cents", "cumulative_cents", "is_full"), [(None, 10_000, True), (10_000, 10_000, True), (1, 1, False)]
)
def test_refund_of_a_denied_or_invalidated_conversion_reverses_nothing(
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
def test_reversals_follow_the_cumulative_refund(
    amount_cents: int, commission_cents: int, refunds: list[int], reversals: list[int]
) -> None:
    balance = replace(SALE, amount_cents=amount_cents, commission_cents=commission_cents)

    actual_reversals = []
    for requested_cents in refunds:
        outcome = refund.apply(balance, requested_cents=requested_cents)
        balance = apply_outcome(balance, outcome)
        actual_reversals.append(outcome.reversal_cents)

    assert actual_reversals == reversals


def test_conversion_released_after_a_partial_refund_catches_up_on_the_next() -> None:
    released = replace(SALE, refunded_cents=4_000, reversed_cents=0, status="Pending")

    outcome = refund.apply(released, requested_cents=1_000)

    assert outcome.reversal_cents == 1_000


def test_commission_adjusted_below_the_reversed_amount_reverses_nothing() -> None:
    adjusted = replace(SALE, commission_cents=100, refunded_cents=5_000, reversed_cents=1_000)

    outcome = refund.apply(adjusted, requested_cents=None)

    assert outcome.reversal_cents == 0


def test_omitted_amount_refunds_a_zero_amount_conversion_in_full() -> None:
    outcome = refund.apply(BONUS, requested_cents=None)

    assert outcome == RefundOutcome(
        refund_cents=0, cumulative_cents=0, reversal_cents=500, is_full=True, status="Refunded"
    )


def test_refund_amount_for_a_zero_amount_conversion_is_invalid() -> None:
    assert refusal_code(BONUS, requested_cents=1) == "refund_amount_invalid"


def test_refund_amount_for_an_indivisible_reward_is_invalid() -> None:
    assert refusal_code(replace(SALE, is_indivisible=True), requested_cents=1) == "refund_amount_invalid"


@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
def test_second_refund_of_a_denied_zero_amount_conversion_is_refused(status: str) -> None:
    assert refund.apply(replace(BONUS, status=status), requested_cents=None).is_full
    refunded = replace(BONUS, status=status, is_refunded=True)
    assert refusal_code(refunded, requested_cents=None) == "already_fully_refunded"


@pytest.mark.parametrize(("status", "before", "restored"), [("Refunded", "Paid", "Paid"), ("Paid", None, "Paid")])
def test_restored_refund_of_locked_history_restores_its_status(status: str, before: str | None, restored: str) -> None:
    status_after = refund.restored_status(status, before=before, net_cents=500, paid_cents=0, is_locked=True)

    assert status_after == restored


@pytest.mark.parametrize("requested_cents", [None, 1])
def test_second_refund_of_a_zero_amount_conversion_is_refused(requested_cents: int | None) -> None:
    refunded = replace(BONUS, reversed_cents=500, status="Refunded")

    assert refusal_code(refunded, requested_cents=requested_cents) == "already_fully_refunded"


@pytest.mark.parametrize("requested_cents", [0, -1])
def test_refund_amount_below_one_is_refused(requested_cents: int) -> None:
    assert refusal_code(SALE, requested_cents=requested_cents) == "refund_amount_invalid"


@pytest.mark.parametrize("requested_cents", [None, 1])
@pytest.mark.parametrize("status", ["Refunded", "Denied"])
def test_fully_refunded_conversion_is_refused(status: str, requested_cents: int | None) -> None:
    refunded = replace(SALE, refunded_cents=10_000, reversed_cents=2_000, status=status)

    assert refusal_code(refunded, requested_cents=requested_cents) == "already_fully_refunded"


@pytest.mark.parametrize(("refunded_cents", "requested_cents"), [(0, 10_001), (4_000, 6_001), (9_999, 2)])
def test_refund_above_the_remaining_amount_is_refused(refunded_cents: int, requested_cents: int) -> None:
    balance = replace(SALE, refunded_cents=refunded_cents)

    assert refusal_code(balance, requested_cents=requested_cents) == "amount_exceeds_original"


def test_invalid_amount_is_reported_before_full_refund() -> None:
    refunded = replace(SALE, refunded_cents=10_000, reversed_cents=2_000, status="Refunded")

    assert refusal_code(refunded, requested_cents=0) == "refund_amount_invalid"


def test_refusal_has_a_code_and_a_message() -> None:
    refusal = RefundRefused("refund_amount_invalid", "The refund amount must be positive.")

    assert (refusal.code, refusal.message) == ("refund_amount_invalid", "The refund amount must be positive.")


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
def test_cascade_reverses_the_refunded_fraction_of_the_parent(
    reversed_cents: int,
    parent_amount_cents: int,
    parent_cumulative_cents: int,
    parent_is_full: bool,
    more_cents: int,
) -> None:
    assert (
        refund.compute_override_reversal(
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
def test_partial_refunds_that_sum_to_the_amount_reverse_the_whole_commission(
    drawn: tuple[RefundBalance, list[int]],
) -> None:
    balance, refunds = drawn

    reversals = []
    for requested_cents in refunds:
        assert balance.status == "Pending"
        outcome = refund.apply(balance, requested_cents=requested_cents)
        balance = apply_outcome(balance, outcome)
        reversals.append(outcome.reversal_cents)
        assert outcome.reversal_cents >= 0
        assert balance.reversed_cents <= balance.commission_cents

    assert sum(reversals) == balance.commission_cents
    assert balance.status == "Refunded"


@given(sales_with_refunds())
def test_partial_refunds_reverse_as_much_as_one_refund_of_their_sum(drawn: tuple[RefundBalance, list[int]]) -> None:
    original, refunds = drawn
    stepwise = original

    for requested_cents in refunds:
        stepwise = apply_outcome(stepwise, refund.apply(stepwise, requested_cents=requested_cents))
        at_once = apply_outcome(original, refund.apply(original, requested_cents=stepwise.refunded_cents))

        assert stepwise == at_once


@given(sales_with_refunds(), st.integers(min_value=0, max_value=10**12), st.data())
def test_cascade_reaches_the_same_total_in_any_grouping(
    drawn: tuple[RefundBalance, list[int]], override_cents: int, data: st.DataObject
) -> None:
    parent, refunds = drawn
    per_refund_cents = batched_cents = 0

    for requested_cents in refunds:
        parent = apply_outcome(parent, refund.apply(parent, requested_cents=requested_cents))
        per_refund_cents += _cascade_reversal(parent, override_cents, per_refund_cents)
        if data.draw(st.booleans()):
            batched_cents += _cascade_reversal(parent, override_cents, batched_cents)
            assert batched_cents == per_refund_cents

    batched_cents += _cascade_reversal(parent, override_cents, batched_cents)
    assert batched_cents == per_refund_cents == override_cents


def _cascade_reversal(parent: RefundBalance, override_cents: int, reversed_cents: int) -> int:
    return refund.compute_override_reversal(
        commission_cents=override_cents,
        reversed_cents=reversed_cents,
        parent_amount_cents=parent.amount_cents,
        parent_cumulative_cents=parent.refunded_cents,
        parent_is_full=parent.status == "Refunded",
    )
