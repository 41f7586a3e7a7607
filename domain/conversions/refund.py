"""The effect of a refund, or of its restoration, on a sale's own commission and on the override above it.

Source: tracking spec, "Refund body", section 3 "States and transitions" and section 7 "Errors". Reversals follow the
running total, never the single refund, so any grouping of the same refunds reverses the same sum and the completing
one leaves no remainder.
"""

from dataclasses import dataclass
from enum import StrEnum

from domain import statuses
from domain.money import money


class RefundOrigin(StrEnum):
    """Who booked or undid a refund: the brand, by an API call or a person; or the gateway of the sale."""

    brand = "brand"
    gateway = "gateway"


class Reason(StrEnum):
    """The reason that a person gives for a refund or a changed commission."""

    refunded = "refunded"
    chargeback = "chargeback"
    fraud = "fraud"
    mistake = "mistake"
    other = "other"


@dataclass(frozen=True, slots=True)
class RefundBalance:
    """The state of a conversion before a refund.

    Units: minor units of its currency. `amount_cents` and `commission_cents` are the original ones; `refunded_cents`
    and `reversed_cents` are what earlier refunds took from each. `status` is a ConversionStatus value. `is_refunded`:
    a refund completed it, which the cents of a conversion of amount 0 do not show. `is_indivisible`: it is a bonus, a
    lead or a click reward, which is refunded only as a whole.
    """

    amount_cents: int
    commission_cents: int
    refunded_cents: int
    reversed_cents: int
    status: str
    is_refunded: bool = False
    is_indivisible: bool = False


@dataclass(frozen=True, slots=True)
class RefundOutcome:
    """The effect of a refund.

    Units: minor units. `refund_cents` and `reversal_cents` are this refund's own, `cumulative_cents` is the total
    refunded so far. `status` is the status afterwards.
    """

    refund_cents: int
    cumulative_cents: int
    reversal_cents: int
    is_full: bool
    status: str


class RefundRefused(Exception):
    """The rules do not allow this refund.

    `code` is refund_amount_invalid, already_fully_refunded or amount_exceeds_original; `message` is for a human.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


def apply(balance: RefundBalance, *, requested_cents: int | None) -> RefundOutcome:
    """Return the effect of a refund of the requested amount; None requests all that remains.

    The commission follows the refunded share of the amount, half to even; the completing refund reverses the exact
    remainder and turns the status to Refunded, Paid included. A Denied or Invalidated conversion records the refund,
    reverses nothing and keeps its status. An amount of 0 is refunded only as a whole, by omitting the amount, and so is
    a bonus, a lead and a click reward.
    Raises RefundRefused, checked in this order: refund_amount_invalid, already_fully_refunded, amount_exceeds_original.
    Source: tracking spec, "Refund body" and section 3, "Conversion".
    """
    _check(balance, requested_cents)
    remaining_cents = balance.amount_cents - balance.refunded_cents
    refund_cents = remaining_cents if requested_cents is None else requested_cents
    cumulative_cents = balance.refunded_cents + refund_cents
    is_full = cumulative_cents == balance.amount_cents
    earns_nothing = balance.status in statuses.EARNS_NOTHING
    reversal_cents = 0 if earns_nothing else _own_reversal_cents(balance, cumulative_cents, is_full)
    return RefundOutcome(
        refund_cents=refund_cents,
        cumulative_cents=cumulative_cents,
        reversal_cents=reversal_cents,
        is_full=is_full,
        status=statuses.ConversionStatus.Refunded if is_full and not earns_nothing else balance.status,
    )


def compute_override_reversal(
    *,
    commission_cents: int,
    reversed_cents: int,
    parent_amount_cents: int,
    parent_cumulative_cents: int,
    parent_is_full: bool,
) -> int:
    """Return how much more to reverse on an override, given the total refunded on its parent so far.

    Units: minor units. `commission_cents` is the override's original commission, `reversed_cents` the part already
    reversed.
    The target is the parent's refunded share, half to even; a full refund takes the exact remainder; a parent amount
    of 0 reverses only when full. Never negative, and 0 once the returned amount is reversed: safe to repeat.
    The caller must leave a paid override untouched.
    Source: tracking spec, section 3, "Override conversion".
    """
    return compute_reversal_change(
        commission_cents=commission_cents,
        reversed_cents=reversed_cents,
        parent_amount_cents=parent_amount_cents,
        parent_cumulative_cents=parent_cumulative_cents,
        parent_is_full=parent_is_full,
        is_restoration=False,
    )


def compute_reversal_change(
    *,
    commission_cents: int,
    reversed_cents: int,
    parent_amount_cents: int,
    parent_cumulative_cents: int,
    parent_is_full: bool,
    is_restoration: bool,
) -> int:
    """Return the result of `cascade` for a refund; for a restoration the amount to give back, as a negative.

    A refund never gives back, and a restoration never takes.
    """
    more_cents = (
        compute_reversal_target(
            commission_cents=commission_cents,
            amount_cents=parent_amount_cents,
            refunded_cents=parent_cumulative_cents,
            is_full=parent_is_full,
        )
        - reversed_cents
    )
    return min(0, more_cents) if is_restoration else max(0, more_cents)


def compute_reversal_target(*, commission_cents: int, amount_cents: int, refunded_cents: int, is_full: bool) -> int:
    """Return how much of a commission is reversed once `refunded_cents` of the sale's amount are refunded.

    Rounds half to even. All of it after a full refund; nothing before that where the amount is 0.
    """
    if is_full:
        return commission_cents
    if amount_cents == 0:
        return 0
    return money.divide_half_even(commission_cents * refunded_cents, amount_cents)


def restored_status(
    status: str, *, before: str | None, net_cents: int, paid_cents: int, is_locked: bool = False
) -> str:
    """Return the status of a conversion that earns `net_cents` again because refunded money came back.

    It is the status before the refund that completed it (`before`; None: that of a new one), and Paid exactly where
    payouts have paid that much: the unpaid part is due. A Denied or Invalidated one keeps its status. Locked history
    was paid elsewhere, so it returns to its earlier status.
    """
    if status in statuses.EARNS_NOTHING:
        return status
    if is_locked:
        return (before or status) if status == statuses.ConversionStatus.Refunded else status
    if 0 < net_cents <= paid_cents:
        return statuses.ConversionStatus.Paid
    earlier = (before or statuses.ConversionStatus.Pending) if status == statuses.ConversionStatus.Refunded else status
    return (
        statuses.ConversionStatus.Approved if earlier == statuses.ConversionStatus.Paid and net_cents > 0 else earlier
    )


def _own_reversal_cents(balance: RefundBalance, cumulative_cents: int, is_full: bool) -> int:
    return compute_override_reversal(
        commission_cents=balance.commission_cents,
        reversed_cents=balance.reversed_cents,
        parent_amount_cents=balance.amount_cents,
        parent_cumulative_cents=cumulative_cents,
        parent_is_full=is_full,
    )


def _check(balance: RefundBalance, requested_cents: int | None) -> None:
    """Raise RefundRefused if the rules do not allow the refund."""
    if requested_cents is not None and requested_cents <= 0:
        raise RefundRefused("refund_amount_invalid", "The refund amount must be positive.")
    if _is_fully_refunded(balance):
        raise RefundRefused("already_fully_refunded", "The conversion is already refunded in full.")
    if requested_cents is not None and (balance.is_indivisible or balance.amount_cents == 0):
        message = "This conversion can only be refunded as a whole. Leave the amount out."
        raise RefundRefused("refund_amount_invalid", message)
    if requested_cents is not None and balance.refunded_cents + requested_cents > balance.amount_cents:
        raise RefundRefused("amount_exceeds_original", "The refunds would exceed the conversion's amount.")


def _is_fully_refunded(balance: RefundBalance) -> bool:
    if balance.amount_cents == 0:
        return balance.is_refunded or balance.status == statuses.ConversionStatus.Refunded
    return balance.refunded_cents >= balance.amount_cents
