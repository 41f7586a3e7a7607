"""Requests to a payout rail and its possible answers. An unclear answer is `Unknown`, never a guess.

Transfers are in USD only. Source: core spec, "Payouts" (a run creates one USD payout per affiliate); tracking spec,
"Event types and payloads" (the reference that each method carries).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID


class Method(StrEnum):
    """How a rail pays an affiliate. Source: core spec, "Payout", method."""

    ProcessorConnect = "ProcessorConnect"
    Wallet = "Wallet"
    GlobalPayouts = "GlobalPayouts"


#: The method of a payout that the brand paid outside this service.
MANUAL = "Manual"

#: The delays between calls to a rail, in seconds; the last one repeats for as long as it takes.
RETRY_DELAYS_S = (5, 15, 30, 60, 300, 900, 3600)

#: The rail's references of a finished transfer, by method, as payout.paid names them.
REFERENCES: Mapping[Method, tuple[str, ...]] = {
    Method.ProcessorConnect: ("processorTransferId",),
    Method.Wallet: ("walletBatchId", "walletTransactionId"),
    Method.GlobalPayouts: ("gpOutboundPaymentId",),
}
# With the reference of a payment that the brand made outside this service.
_ALL_REFERENCES: Mapping[str, tuple[str, ...]] = dict([*REFERENCES.items(), (MANUAL, ("externalTransactionId",))])


def select_references(method: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return the references of a payment by a method, out of all that are known of its payout."""
    return {name: known[name] for name in _ALL_REFERENCES[method] if name in known}


@dataclass(frozen=True, slots=True)
class Destination:
    """The recipient: a connected account's id, a wallet's email address or a recipient's id, by method.

    The repr hides the account, so that no log contains it by accident.
    """

    method: Method
    account: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Transfer:
    """One attempt of one payout. `known` are the rail's earlier references of this same attempt, by name.

    `is_repeat`: the key may have been sent before, so some refusals prove nothing. `labels` are stored by rails that
    can, in addition to the ids that every attempt carries; they are the same each time. `amount_cents` is in US cents
    and positive. Raises ValueError for any other currency or amount.
    """

    key: str
    payout_id: UUID
    organization_id: UUID
    attempt: int
    amount_cents: int
    currency: str
    destination: Destination
    known: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    is_repeat: bool = False

    def __post_init__(self) -> None:
        if self.currency != "USD":
            raise ValueError("payouts are in USD")
        if type(self.amount_cents) is not int or self.amount_cents <= 0:
            raise ValueError("the amount must be a positive whole number of cents")


def idempotency_key(*, payout_id: UUID, attempt: int) -> str:
    """Return the idempotency key of an attempt at every rail; `attempt` counts from 1."""
    if attempt < 1:
        raise ValueError("attempts count from 1")
    return f"payout:{payout_id}:{attempt}"


def dollars_from_cents(amount_cents: int) -> str:
    """Return US cents as dollars with two decimals: 1234 is "12.34"."""
    dollars, cents = divmod(amount_cents, 100)
    return f"{dollars}.{cents:02d}"


@dataclass(frozen=True, slots=True)
class Paid:
    """The money was paid. `references` contains every name of `REFERENCES` for the method."""

    references: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The rail has accepted the transfer and will settle it later. Some references may already be known."""

    references: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Rejected:
    """The recipient has no money under this key and never will: do not send the key again.

    `code` is stable and lower case, `message` is for people.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Timeout, server error, lost connection, unreadable answer: the money may have been paid or not."""

    why: str


@dataclass(frozen=True, slots=True)
class NotFound:
    """The rail has no transfer under this key (only in answer to a lookup)."""


Answer = Paid | Accepted | Rejected | Unknown | NotFound


def explain_retry(answer: object, *, party: str) -> str | None:
    """Return, for operators, why the `party`, a rail or a funding source, is called again; None if it is not.

    Any object other than an `Answer` is a refusal of our credentials in the party's own words.
    """
    match answer:
        case Accepted():
            return f"the {party} has accepted it and not settled it yet"
        case Unknown(why):
            return f"the {party} gave no clear answer: {why}"
        case NotFound():
            return f"the {party} does not know the key"
        case Paid() | Rejected():
            return None
    return f"the {party} refuses our credentials: {answer}"
