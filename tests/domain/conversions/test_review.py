"""What a decision does to a conversion and to its override. Source: core spec, "States"; tracking spec, section 3."""

from uuid import UUID

import pytest

from domain.conversions import review
from domain.conversions.review import Action, AppliedRefund

_IDS = [UUID(int=number) for number in range(1, 4)]


@pytest.mark.parametrize(
    ("action", "status", "after"),
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
def test_an_override_follows_its_sale_unless_it_is_settled(action, status, after):
    assert review.override_status(action, status) == after


def _late(refunds, *, reversed_cents=0, amount_cents=10_000):
    return review.late_reversals(
        commission_cents=1_001,
        reversed_cents=reversed_cents,
        parent_amount_cents=amount_cents,
        refunds=[AppliedRefund(*each) for each in refunds],
    )


def test_refunds_take_back_what_they_would_have_taken_in_time():
    assert _late([(_IDS[0], 5_000, False), (_IDS[1], 9_999, False)]) == [(_IDS[0], 500), (_IDS[1], 501)]


def test_a_refund_that_took_its_share_takes_nothing_more():
    assert _late([(_IDS[0], 5_000, False), (_IDS[1], 10_000, True)], reversed_cents=500) == [(_IDS[1], 501)]


def test_an_amount_of_nothing_is_taken_back_only_in_full():
    assert _late([(_IDS[0], 0, True)], amount_cents=0) == [(_IDS[0], 1_001)]
    assert _late([(_IDS[0], 0, False)], amount_cents=0) == []


def test_without_refunds_there_is_nothing_to_take():
    assert _late([]) == []
