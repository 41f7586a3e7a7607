"""Where an affiliate wants their money: which account a method needs, who may name it, how it is shown to others.

Source: core spec, "Payout" (method) and "Affiliate" (what no answer shows of it).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from domain.payouts.transfers import Method

#: What names the account of a method.
FIELDS: Mapping[Method, str] = {
    Method.ProcessorConnect: "connected_account_id",
    Method.Wallet: "wallet_email",
    Method.GlobalPayouts: "recipient_id",
}

#: The wallet service takes no longer address.
LONGEST_WALLET_EMAIL = 127
LONGEST_ID = 128
_CONNECTED_ACCOUNT = re.compile(r"acct_[A-Za-z0-9]+")
_RECIPIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_SHORTEST_SHOWN = 8


class AccountSource(StrEnum):
    """Who named an account. The first of them counts."""

    affiliate = "affiliate"
    operator = "operator"
    imported = "import"


@dataclass(frozen=True, slots=True)
class PayoutAccount:
    """A connected account's id, a wallet's e-mail address or a recipient's id, by method. It never shows in text."""

    method: Method
    destination: str = field(repr=False)

    @property
    def for_others(self) -> dict[str, str]:
        """What the audit log says of it."""
        return {"method": self.method, "destination": masked(self.destination)}


def is_connected_account(text: str) -> bool:
    """Return whether a text can be the id of an account that is connected to the processor."""
    return len(text) <= LONGEST_ID and _CONNECTED_ACCOUNT.fullmatch(text) is not None


def is_recipient(text: str) -> bool:
    """Return whether a text can be the id of a recipient of outbound payments."""
    return len(text) <= LONGEST_ID and _RECIPIENT.fullmatch(text) is not None


def in_force(
    *, own: PayoutAccount | None, operators: PayoutAccount | None, wallet_email: str | None
) -> tuple[PayoutAccount, AccountSource] | None:
    """Return the account that a payout goes to and who named it, None when nobody did.

    What the person says goes before what the organization's operator says, and that before an import's wallet.
    """
    if own is not None:
        return own, AccountSource.affiliate
    if operators is not None:
        return operators, AccountSource.operator
    return (PayoutAccount(Method.Wallet, wallet_email), AccountSource.imported) if wallet_email else None


def masked(destination: str) -> str:
    """Return an account so that its owner knows it again and nobody else can use it: `b...@e...` or `...w3nQ`."""
    local, at, domain = destination.rpartition("@")
    if at:
        return f"{local[:1]}...@{domain[:1]}..."
    return f"...{destination[-4:]}" if len(destination) > _SHORTEST_SHOWN else "..."
