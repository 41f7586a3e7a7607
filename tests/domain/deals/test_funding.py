"""The service's fee on a deal, and the idempotency keys sent to a funding source."""

from uuid import UUID

import pytest

from domain.deals import funding

_ID = UUID("b7c1d2e3-0a1b-4c2d-8e3f-4a5b6c7d8e77")


@pytest.mark.parametrize(
    ("amount_cents", "bps", "fee_cents"),
    [
        (50_000, 0, 0),
        (50_000, 500, 2_500),
        (10, 500, 0),  # half a unit rounds to even
        (30, 500, 2),
        (11, 500, 1),
        (1, 10_000, 1),
        (10**12, 10_000, 10**12),
    ],
)
def test_fee_is_rounded_half_to_even(amount_cents, bps, fee_cents):
    assert funding.take_cents(amount_cents=amount_cents, bps=bps) == fee_cents


def test_keys_contain_their_purpose_and_number():
    assert funding.charge_key(deal_id=_ID, number=2) == f"deal:{_ID}:charge:2"
    assert funding.refund_key(milestone_id=_ID, number=1) == f"milestone:{_ID}:refund:1"
