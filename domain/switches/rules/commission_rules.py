"""What becomes of a commission of the old system: its state here, and why it is left out.

Source: the switch-over rules, "How rows become records" (Commissions) and "Both systems at once".
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from domain.money import currencies
from domain.money.money import MAX_AMOUNT_CENTS
from domain.statuses import ConversionStatus
from domain.switches.reasons import LeftOutReason
from domain.switches.records import CommissionKind

#: How long two bookings of one sale may lie apart in two systems, in seconds.
SAME_SALE_S = 3_600


@dataclass(frozen=True, slots=True)
class InitialStatus:
    """The status of a brought conversion; `is_locked`: it never enters a payout. `has_hold`: it waits for a date."""

    status: ConversionStatus
    is_locked: bool
    has_hold: bool = False


_HISTORY = {
    CommissionKind.Paid: InitialStatus(ConversionStatus.Paid, True),
    CommissionKind.Owed: InitialStatus(ConversionStatus.Pending, True),
    CommissionKind.Pending: InitialStatus(ConversionStatus.Pending, True),
    CommissionKind.Held: InitialStatus(ConversionStatus.Pending, True),
    CommissionKind.Refunded: InitialStatus(ConversionStatus.Refunded, True),
    CommissionKind.Denied: InitialStatus(ConversionStatus.Denied, True),
}
_PAYABLE = _HISTORY | {
    CommissionKind.Owed: InitialStatus(ConversionStatus.Approved, False),
    CommissionKind.Pending: InitialStatus(ConversionStatus.Pending, False, has_hold=True),
    CommissionKind.Held: InitialStatus(ConversionStatus.Invalidated, False),
}
#: The sums of the preview that a kind belongs to; an unknown word counts as pending.
SUM_OF_KIND = {
    CommissionKind.Paid: "paid_cents",
    CommissionKind.Owed: "owed_cents",
    CommissionKind.Pending: "pending_cents",
    CommissionKind.Held: "pending_cents",
    CommissionKind.Refunded: "lost_cents",
    CommissionKind.Denied: "lost_cents",
}
_UNPAID = (ConversionStatus.Pending, ConversionStatus.Approved, ConversionStatus.Invalidated)
_LOST = {CommissionKind.Refunded: ConversionStatus.Refunded, CommissionKind.Denied: ConversionStatus.Denied}


def initial_status(kind: CommissionKind, *, unpaid: Literal["history", "payable"]) -> InitialStatus:
    """Return the status of a new conversion of this kind, by the option `unpaid`."""
    return (_PAYABLE if unpaid == "payable" else _HISTORY)[kind]


def reason_for_amounts(
    *, kind: str | None, currency: str | None, amount_cents: int, commission_cents: int
) -> LeftOutReason | None:
    """Return why the word, the currency or the amounts leave a commission out; None if they do not.

    `currency` must be a supported code in upper case. Amounts may be negative: such a row takes back.
    """
    if kind is None:
        return LeftOutReason.UnknownStatus
    if currency is None or currency not in currencies.EXPONENTS:
        return LeftOutReason.UnsupportedCurrency
    if max(abs(amount_cents), abs(commission_cents)) > MAX_AMOUNT_CENTS:
        return LeftOutReason.AmountOutOfRange
    if amount_cents < 0 <= commission_cents:
        return LeftOutReason.AmountOutOfRange
    return None


def reason_for_time(*, occurred_at: datetime | None, cut_over_at: datetime, now: datetime) -> LeftOutReason | None:
    """Return why the time leaves a commission out; None if it does not."""
    if occurred_at is None:
        return LeftOutReason.UnreadableRow
    if occurred_at > now:
        return LeftOutReason.InFuture
    return LeftOutReason.AfterCutOver if occurred_at > cut_over_at else None


def changed_status(kind: CommissionKind, *, status: str, is_paid_here: bool = False) -> ConversionStatus | None:
    """Return the status that a conversion from an earlier switch gets by its kind now; None if it stays.

    Unpaid becomes Paid once the old system paid it. Refunded and Denied follow from anything but themselves. What is
    paid here, or is in a payout of ours, cannot be denied, as elsewhere in the service: it is refunded, so that the
    affiliate owes it back.
    """
    if kind == CommissionKind.Paid:
        return ConversionStatus.Paid if status in _UNPAID else None
    lost = _LOST.get(kind)
    if lost is not None and is_paid_here:
        lost = ConversionStatus.Refunded
    return None if lost is None or status in _LOST.values() else lost
