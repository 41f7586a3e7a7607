"""Review decisions on a conversion and its override. Sources: core spec, "States"; tracking spec, section 3."""

from uuid import UUID

import pytest

from domain.conversions import review
from domain.conversions.review import Action, AppliedRefund

_IDS = [UUID(int=number) for number in range(1, 4)]


@pytest.mark.parametrize(
    ("action", "status", "expected"),
    [
        (Action.invalidate, "Pending", "Invalidated"),
        (Action.invalidate, "Approved", "Invalidated"),
        (Action.invalidate, "Denied", None),
        (Action.deny, "Pending", "Denied"),
        (Action.deny, "Approved", "Denied"),
        (Action.deny, "Invalidated", "Denied"),
        (Action.validate, "Invalidated", "Pending"),
        (Action.validate, "Denied", None),
        (Action.approve, "Pending", None),
        *[(action, status, None) for action in Action for status in ("Paid", "Refunded")],
    ],
)
def test_override_follows_its_sale_unless_settled(action, status, expected):
    assert review.override_status(action, status) == expected


def _late_reversals(refunds, *, reversed_cents=0, amount_cents=10_000):
    return review.list_late_reversals(
        commission_cents=1_001,
        reversed_cents=reversed_cents,
        parent_amount_cents=amount_cents,
        refunds=[AppliedRefund(*refund) for refund in refunds],
    )


def test_late_refunds_reverse_as_much_as_timely_ones():
    assert _late_reversals([(_IDS[0], 5_000, False), (_IDS[1], 9_999, False)]) == [(_IDS[0], 500), (_IDS[1], 501)]


def test_already_reversed_refund_reverses_nothing_more():
    assert _late_reversals([(_IDS[0], 5_000, False), (_IDS[1], 10_000, True)], reversed_cents=500) == [(_IDS[1], 501)]


def test_zero_amount_is_reversed_only_by_a_full_refund():
    assert _late_reversals([(_IDS[0], 0, True)], amount_cents=0) == [(_IDS[0], 1_001)]
    assert _late_reversals([(_IDS[0], 0, False)], amount_cents=0) == []


def test_no_refunds_give_no_reversals():
    assert _late_reversals([]) == []
