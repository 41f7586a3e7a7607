"""Decides what a person's change of a commission makes of a conversion, its refunds and its override.

A person sets what the affiliate earns now, after refunds. The commission before refunds follows from it, so that later
refunds, and refunds that are undone, still take their share of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain import statuses
from domain.conversions import refund
from domain.conversions.manual_sales import MOST_TIMES_AMOUNT
from domain.conversions.review import Reached
from domain.money import money


@dataclass(frozen=True, slots=True)
class AdjustableConversion:
    """A conversion whose commission is to change. Units: minor units of its currency.

    `can_earn` is False for locked history, for a row that its campaign does not pay for, and for a recruiter's share.
    """

    amount_cents: int
    refunded_cents: int
    status: str
    can_earn: bool
    is_in_payout: bool


class AdjustmentRefused(Exception):
    """A change of a commission that the rules don't allow.

    `code` is conversion_not_adjustable, conversion_in_payout or commission_out_of_range; `message` is for a person.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


def commission(conversion: AdjustableConversion, *, wanted_cents: int) -> int:
    """Return the commission before refunds of which the affiliate earns `wanted_cents` after them.

    Raises AdjustmentRefused, checked in this order: conversion_not_adjustable, conversion_in_payout,
    commission_out_of_range.
    """
    if not conversion.can_earn or conversion.status not in statuses.UNPAID:
        message = "Only a conversion that is Pending or Approved and can still be paid can get another commission."
        raise AdjustmentRefused("conversion_not_adjustable", message)
    if conversion.is_in_payout:
        message = "A payout names this conversion. Void the payout first, or refund the conversion."
        raise AdjustmentRefused("conversion_in_payout", message)
    remaining_cents = conversion.amount_cents - conversion.refunded_cents
    if not 0 <= wanted_cents <= MOST_TIMES_AMOUNT * remaining_cents:
        message = f"The commission may be at most {MOST_TIMES_AMOUNT} times what is not refunded of the amount."
        raise AdjustmentRefused("commission_out_of_range", message)
    return before_refunds(wanted_cents, conversion.amount_cents, conversion.refunded_cents)


def override_commission(*, status: str, commission_cents: int, share_cents: int, paid_cents: int = 0) -> int:
    """Return the commission of an override whose sale's commission changed: its share. One that was paid out is not
    lowered, and one that grew since not below `paid_cents`, what it was before refunds when it was paid.
    """
    if status == statuses.ConversionStatus.Paid:
        return max(commission_cents, share_cents)
    return max(min(commission_cents, paid_cents), share_cents) if status in statuses.UNPAID else share_cents


def reversal_changes(*, commission_cents: int, amount_cents: int, refunds: Sequence[Reached]) -> list[tuple[UUID, int]]:
    """Return by how much each refund takes more (negative: less) of a commission that is now `commission_cents`.

    `refunds` are all that reached the row, in the order of acceptance; `amount_cents` is the sale's. Each takes what
    the running totals say, so the sum is what the last one says. Those that take what they took are left out.
    """
    changes, reversed_cents = [], 0
    for each in refunds:
        target_cents = refund.target(
            commission_cents=commission_cents,
            amount_cents=amount_cents,
            refunded_cents=each.cumulative_cents,
            is_full=each.is_full,
        )
        if change := target_cents - reversed_cents - each.taken_cents:
            changes.append((each.refund_id, change))
        reversed_cents = target_cents
    return changes


def before_refunds(wanted_cents: int, amount_cents: int, refunded_cents: int) -> int:
    """Return the commission of which `wanted_cents` are left when its refunded share is taken back."""
    if refunded_cents == 0:
        return wanted_cents
    nearest = money.divide_half_even(wanted_cents * amount_cents, amount_cents - refunded_cents)
    # With each cent more of commission the rest grows by a cent or not at all, so one of the neighbours is exact.
    for cents in (nearest, nearest - 1, nearest + 1):
        if cents - money.divide_half_even(cents * refunded_cents, amount_cents) == wanted_cents and cents >= 0:
            return cents
    raise AssertionError(f"no commission leaves {wanted_cents} of {amount_cents} less {refunded_cents}")
