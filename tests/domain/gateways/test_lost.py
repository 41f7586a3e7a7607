"""What a lost dispute takes: what it says, never more than remains."""

import pytest

from domain.gateways import reversals


@pytest.mark.parametrize(
    ("refunded", "told", "currency", "covers", "taken"),
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
def test_a_lost_dispute_takes_what_it_says_and_never_more_than_remains(refunded, told, currency, covers, taken):
    assert taken == reversals.lost_cents(
        paid_cents=2_495,
        refunded_cents=refunded,
        currency="EUR",
        reported_cents=told,
        reported_currency=currency,
        covers_refunds=covers,
    )
