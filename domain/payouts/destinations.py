"""The payout accounts of affiliates: the account of each method, who may set it, and its masked form.

Source: core spec, "Payout" (method) and "Affiliate" (the fields that no response contains).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from domain.payouts.transfers import MANUAL, Method

#: The field with the account of a method.
FIELDS: Mapping[Method, str] = {
    Method.ProcessorConnect: "connected_account_id",
    Method.Wallet: "wallet_email",
    Method.GlobalPayouts: "recipient_id",
}

#: The words for each way to pay, by the method of a payout.
METHOD_NAMES: Mapping[str, str] = {
    Method.Wallet: "Wallet",
    Method.ProcessorConnect: "Connected account",
    Method.GlobalPayouts: "Bank or card",
    MANUAL: "Manual",
}

#: The limit of the wallet service.
MAX_WALLET_EMAIL_CHARS = 127
MAX_ID_CHARS = 128
_CONNECTED_ACCOUNT = re.compile(r"acct_[A-Za-z0-9]+")
_RECIPIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MIN_UNMASKED_CHARS = 8


class AccountSource(StrEnum):
    """Who set an account. The first of them counts."""

    affiliate = "affiliate"
    operator = "operator"
    imported = "import"


@dataclass(frozen=True, slots=True)
class PayoutAccount:
    """A connected account's id, a wallet's email address or a recipient's id, by method. The repr hides it."""

    method: Method
    destination: str = field(repr=False)

    @property
    def audit_fields(self) -> dict[str, str]:
        """The masked account for the audit log."""
        return {"method": self.method, "destination": mask(self.destination)}


def is_connected_account(text: str) -> bool:
    """Return whether a text can be the id of an account connected to the processor."""
    return len(text) <= MAX_ID_CHARS and _CONNECTED_ACCOUNT.fullmatch(text) is not None


def is_recipient(text: str) -> bool:
    """Return whether a text can be the id of a recipient of outbound payments."""
    return len(text) <= MAX_ID_CHARS and _RECIPIENT.fullmatch(text) is not None


def effective_account(
    *, own: PayoutAccount | None, operators: PayoutAccount | None, wallet_email: str | None
) -> tuple[PayoutAccount, AccountSource] | None:
    """Return the account that a payout goes to and who set it, None without one.

    The affiliate's own account counts before the operator's, and that before an imported wallet.
    """
    if own is not None:
        return own, AccountSource.affiliate
    if operators is not None:
        return operators, AccountSource.operator
    return (PayoutAccount(Method.Wallet, wallet_email), AccountSource.imported) if wallet_email else None


def mask(destination: str) -> str:
    """Return an account in a form that its owner recognizes and no one else can use: `b...@e...` or `...w3nQ`."""
    local, at, domain = destination.rpartition("@")
    if at:
        return f"{local[:1]}...@{domain[:1]}..."
    return f"...{destination[-4:]}" if len(destination) > _MIN_UNMASKED_CHARS else "..."
