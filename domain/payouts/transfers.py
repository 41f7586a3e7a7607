"""What a payout rail is asked to do and what it may answer. An answer that is not known is `Unknown`, never a guess.

Transfers are in USD alone. Source: core spec, "Payouts" (a run creates one USD payout per affiliate); tracking spec,
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


#: The method of a payout that the brand paid by itself.
BY_HAND = "Manual"

#: How long after which question a rail is asked again, in seconds; the last one repeats for as long as it takes.
ASK_AGAIN_S = (5, 15, 30, 60, 300, 900, 3600)

#: What the rail of a method calls a finished transfer, as payout.paid names it.
REFERENCES: Mapping[Method, tuple[str, ...]] = {
    Method.ProcessorConnect: ("processorTransferId",),
    Method.Wallet: ("walletBatchId", "walletTransactionId"),
    Method.GlobalPayouts: ("gpOutboundPaymentId",),
}
# And what a payment is called that the brand made by itself.
_NAMES: Mapping[str, tuple[str, ...]] = dict([*REFERENCES.items(), (BY_HAND, ("externalTransactionId",))])


def references_of(method: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return what a payment by a method is called, of all that is known of its payout."""
    return {name: known[name] for name in _NAMES[method] if name in known}


@dataclass(frozen=True, slots=True)
class Destination:
    """Whom to pay: a connected account's id, a wallet's e-mail address or a recipient's id, by method.

    The account does not show in the object's text, so that no log holds it by accident.
    """

    method: Method
    account: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Transfer:
    """One attempt of one payout. `known` is what the rail said of this very attempt before, by reference name.

    `is_repeat` says that the key may have been sent before: some refusals then prove nothing.

    `labels` are stored by rails that can, besides the ids that every attempt carries. They are the same each time.

    `amount_cents` is in US cents and positive. Raises ValueError for any other currency or amount.
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


def key_of(*, payout_id: UUID, attempt: int) -> str:
    """Return the name of an attempt that every rail knows it by; `attempt` counts from 1."""
    if attempt < 1:
        raise ValueError("attempts count from 1")
    return f"payout:{payout_id}:{attempt}"


def decimal_usd(amount_cents: int) -> str:
    """Return US cents as dollars with two decimals: 1234 is "12.34"."""
    dollars, cents = divmod(amount_cents, 100)
    return f"{dollars}.{cents:02d}"


@dataclass(frozen=True, slots=True)
class Paid:
    """The money has left. `references` holds every name of `REFERENCES` for the method."""

    references: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The rail has taken the transfer and will settle it later. Some references may be known already."""

    references: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Rejected:
    """No money is with the recipient and none will come under this key: do not send the key again.

    `code` is stable and lower case, `message` is for people.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Time-out, server error, lost connection, unreadable answer: the money may have left or not."""

    why: str


@dataclass(frozen=True, slots=True)
class NotFound:
    """The rail has no transfer under this key (the answer to a look-up alone)."""


Answer = Paid | Accepted | Rejected | Unknown | NotFound


def why_again(answer: object, *, asked: str) -> str | None:
    """Return, for operators, why `asked`, a rail or a funding source, is asked again after an answer; None if not.

    What is no answer is a refusal of our credentials in its own words.
    """
    match answer:
        case Accepted():
            return f"the {asked} has taken it and has not settled it yet"
        case Unknown(why):
            return f"the {asked} gave no clear answer: {why}"
        case NotFound():
            return f"the {asked} does not know the key"
        case Paid() | Rejected():
            return None
    return f"the {asked} refuses our credentials: {answer}"
