"""Which account a payout goes to, and how others see it."""

import pytest

from domain.payouts import destinations as rules
from domain.payouts.destinations import AccountSource, PayoutAccount

_OWN, _OPERATORS = PayoutAccount("Wallet", "own@example.com"), PayoutAccount("ProcessorConnect", "acct_operator")


@pytest.mark.parametrize(
    ("own", "operators", "wallet", "expected"),
    [
        (None, None, None, None),
        (None, None, "import@example.com", (PayoutAccount("Wallet", "import@example.com"), AccountSource.imported)),
        (None, _OPERATORS, "import@example.com", (_OPERATORS, AccountSource.operator)),
        (_OWN, _OPERATORS, "import@example.com", (_OWN, AccountSource.affiliate)),
        (_OWN, None, None, (_OWN, AccountSource.affiliate)),
    ],
)
def test_the_person_goes_before_the_operator_and_that_before_the_import(own, operators, wallet, expected):
    assert rules.effective_account(own=own, operators=operators, wallet_email=wallet) == expected


@pytest.mark.parametrize(
    ("destination", "shown"),
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
def test_an_account_is_shown_to_others_without_what_could_be_used(destination, shown):
    assert rules.mask(destination) == shown


def test_an_account_does_not_show_in_a_log():
    assert "own@example.com" not in repr(_OWN)
