"""The account that a payout goes to, and its masked form."""

import pytest

from domain.payouts import destinations as rules
from domain.payouts.destinations import AccountSource, PayoutAccount

_OWN_ACCOUNT, _OPERATOR_ACCOUNT = (
    PayoutAccount("Wallet", "own@example.com"),
    PayoutAccount("ProcessorConnect", "acct_operator"),
)


@pytest.mark.parametrize(
    ("own", "operators", "wallet", "expected"),
    [
        (None, None, None, None),
        (None, None, "import@example.com", (PayoutAccount("Wallet", "import@example.com"), AccountSource.imported)),
        (None, _OPERATOR_ACCOUNT, "import@example.com", (_OPERATOR_ACCOUNT, AccountSource.operator)),
        (_OWN_ACCOUNT, _OPERATOR_ACCOUNT, "import@example.com", (_OWN_ACCOUNT, AccountSource.affiliate)),
        (_OWN_ACCOUNT, None, None, (_OWN_ACCOUNT, AccountSource.affiliate)),
    ],
)
def test_own_account_wins_over_the_operators_and_the_imported_one(own, operators, wallet, expected):
    assert rules.effective_account(own=own, operators=operators, wallet_email=wallet) == expected


@pytest.mark.parametrize(
    ("destination", "masked"),
    [
        ("ben@example.com", "b...@e..."),
        ("ben@home@example.com", "b...@e..."),
        ("@", "...@..."),
        ("acct_1Nv0FGQ9w3nQ", "...w3nQ"),
        ("acct_123", "..."),
        ("ü" * 9, "...üüüü"),
        ("", "..."),
    ],
)
def test_masked_account_is_unusable(destination, masked):
    assert rules.mask(destination) == masked


def test_repr_of_an_account_hides_the_destination():
    assert "own@example.com" not in repr(_OWN_ACCOUNT)
