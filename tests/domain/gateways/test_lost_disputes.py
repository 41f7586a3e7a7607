"""Amount reversed by a lost dispute."""

import pytest

from domain.gateways import reversals


@pytest.mark.parametrize(
    ("refunded", "reported", "currency", "covers_refunds", "expected"),
    [
        (0, 1_495, "EUR", False, 1_495),
        (0, None, "EUR", False, 2_495),
        (2_000, 1_495, "EUR", False, 495),
        (2_495, 1_495, "EUR", False, 0),
        (0, 9_999, "EUR", False, 2_495),
        (0, 1_495, "USD", False, 2_495),
        (1_000, 1_495, None, False, 1_495),
        (1_495, 1_495, "EUR", True, 0),
        (500, 1_495, "EUR", True, 995),
        (2_000, 1_495, "EUR", True, 0),
    ],
)
def test_lost_dispute_reverses_its_amount_up_to_the_remainder(refunded, reported, currency, covers_refunds, expected):
    assert expected == reversals.lost_cents(
        paid_cents=2_495,
        refunded_cents=refunded,
        currency="EUR",
        reported_cents=reported,
        reported_currency=currency,
        covers_refunds=covers_refunds,
    )
