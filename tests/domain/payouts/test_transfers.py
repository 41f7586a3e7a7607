"""Transfers sent to a rail. Source: core spec, "Payouts" (payouts are in USD, in cents)."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.payouts.transfers import REFERENCES, Destination, Method, Transfer, dollars_from_cents, idempotency_key

_ID = UUID(int=7)


def _transfer(**changes):
    values = {
        "key": "payout:x:1",
        "payout_id": _ID,
        "organization_id": _ID,
        "attempt": 1,
        "amount_cents": 100,
        "currency": "USD",
        "destination": Destination("Wallet", "ben@example.com"),
    }
    return Transfer(**(values | changes))


@pytest.mark.parametrize("amount_cents", [0, -1, 1.0, True, "1", None])
def test_amount_must_be_a_positive_whole_number_of_cents(amount_cents):
    with pytest.raises(ValueError, match="positive whole number"):
        _transfer(amount_cents=amount_cents)


@pytest.mark.parametrize("currency", ["EUR", "usd", "", "JPY"])
def test_currency_other_than_usd_is_refused(currency):
    with pytest.raises(ValueError, match="USD"):
        _transfer(currency=currency)


def test_idempotency_key_contains_the_payout_and_the_attempt():
    assert idempotency_key(payout_id=_ID, attempt=2) == "payout:00000000-0000-0000-0000-000000000007:2"
    with pytest.raises(ValueError, match="from 1"):
        idempotency_key(payout_id=_ID, attempt=0)


@given(st.integers(min_value=1, max_value=10**18))
def test_dollar_text_keeps_every_cent(amount_cents):
    dollars, cents = dollars_from_cents(amount_cents).split(".")

    assert len(cents) == 2
    assert int(dollars + cents) == amount_cents


def test_repr_of_a_transfer_hides_the_account():
    assert "ben@example.com" not in f"{_transfer()!r} {_transfer()}"


def test_every_method_has_its_references():
    assert set(Method) == set(REFERENCES)
    assert dict(REFERENCES) == {
        "ProcessorConnect": ("processorTransferId",),
        "Wallet": ("walletBatchId", "walletTransactionId"),
        "GlobalPayouts": ("gpOutboundPaymentId",),
    }
