"""The effect of a manual change of a commission on a conversion, its refunds and its override.

A person sets what the affiliate earns now, after refunds. The commission before refunds follows from it, so that later
refunds, and undone refunds, still take their share of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain import statuses
from domain.conversions import refund
from domain.conversions.manual_sales import MAX_TIMES_AMOUNT
from domain.conversions.review import AppliedRefund
from domain.money import money


@dataclass(frozen=True, slots=True)
class AdjustableConversion:
    """A conversion whose commission is to be changed. Units: minor units of its currency.

    `can_earn` is False for locked history, for a row that its campaign does not pay, and for a recruiter's share.
    """

    amount_cents: int
    refunded_cents: int
    status: str
    can_earn: bool
    is_in_payout: bool


class AdjustmentRefused(Exception):
    """The rules do not allow this change of a commission.

    `code` is conversion_not_adjustable, conversion_in_payout or commission_out_of_range; `message` is for a person.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


def commission(conversion: AdjustableConversion, *, net_cents: int) -> int:
    """Return the commission before refunds of which the affiliate earns `net_cents` after them.

    Raises AdjustmentRefused, checked in this order: conversion_not_adjustable, conversion_in_payout,
    commission_out_of_range.
    """
    if not conversion.can_earn or conversion.status not in statuses.UNPAID:
        message = "Only the commission of a Pending or Approved conversion that can still be paid can be changed."
        raise AdjustmentRefused("conversion_not_adjustable", message)
    if conversion.is_in_payout:
        message = "This conversion is in a payout. Void the payout first, or refund the conversion."
        raise AdjustmentRefused("conversion_in_payout", message)
    remaining_cents = conversion.amount_cents - conversion.refunded_cents
    if not 0 <= net_cents <= MAX_TIMES_AMOUNT * remaining_cents:
        message = f"The commission can be at most {MAX_TIMES_AMOUNT} times the amount less its refunds."
        raise AdjustmentRefused("commission_out_of_range", message)
    return gross_commission(net_cents, conversion.amount_cents, conversion.refunded_cents)


def override_commission(*, status: str, commission_cents: int, share_cents: int, paid_cents: int = 0) -> int:
    """Return the commission of an override whose sale's commission changed: its share of it.

    A paid one is not lowered; one that grew after payment is not lowered below `paid_cents`, its commission before
    refunds when it was paid.
    """
    if status == statuses.ConversionStatus.Paid:
        return max(commission_cents, share_cents)
    return max(min(commission_cents, paid_cents), share_cents) if status in statuses.UNPAID else share_cents


def reversal_changes(
    *, commission_cents: int, amount_cents: int, refunds: Sequence[AppliedRefund]
) -> list[tuple[UUID, int]]:
    """Return how much more (negative: less) each refund takes of a commission that is now `commission_cents`.

    `refunds` are all refunds of the row in order of acceptance; `amount_cents` is the sale's. Each follows the running
    totals, so the sum is that of the last total. Refunds without a change are left out.
    """
    changes, reversed_cents = [], 0
    for applied in refunds:
        target_cents = refund.compute_reversal_target(
            commission_cents=commission_cents,
            amount_cents=amount_cents,
            refunded_cents=applied.cumulative_cents,
            is_full=applied.is_full,
        )
        if change := target_cents - reversed_cents - applied.taken_cents:
            changes.append((applied.refund_id, change))
        reversed_cents = target_cents
    return changes


def gross_commission(net_cents: int, amount_cents: int, refunded_cents: int) -> int:
    """Return the commission of which `net_cents` remain after its refunded share is taken back."""
    if refunded_cents == 0:
        return net_cents
    nearest = money.divide_half_even(net_cents * amount_cents, amount_cents - refunded_cents)
    # With each cent of commission the remainder grows by a cent or not at all, so one of the neighbours is exact.
    for cents in (nearest, nearest - 1, nearest + 1):
        if cents - money.divide_half_even(cents * refunded_cents, amount_cents) == net_cents and cents >= 0:
            return cents
    raise AssertionError(f"no commission leaves {net_cents} of {amount_cents} less {refunded_cents}")
