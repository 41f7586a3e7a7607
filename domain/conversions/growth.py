"""Computes a conversion whose amount went up: a further payment of its order, or a higher total of the order.

What is added earns by the terms of the first payment: its rate, and whether that payment earned at all. A fixed
commission is earned once. Money that goes back is in `refund`; a lower total is a refund.
"""

from dataclasses import dataclass
from decimal import Decimal

from domain import statuses
from domain.conversions import commission
from domain.conversions.commission import CommissionRate, CommissionType
from domain.money import money


@dataclass(frozen=True, slots=True)
class EarnedAmount:
    """A conversion's amount and commission before refunds, with the rate that the commission was computed by.

    Units: minor units of `currency`. `rate_type` and `rate_value` are None where the source itself named the
    commission.
    """

    amount_cents: int
    commission_cents: int
    currency: str
    rate_type: str | None
    rate_value: Decimal | None


def commission_at(earned: EarnedAmount, *, amount_cents: int) -> int:
    """Return the commission of a conversion whose amount is `amount_cents` now, before refunds; never less than it was.

    A conversion that earned nothing at a rate that pays was outside its customer's window, and still earns nothing. A
    commission that does not follow from its rate keeps the difference.
    """
    if amount_cents <= earned.amount_cents:
        return earned.commission_cents
    if earned.rate_type is None or earned.rate_value is None:
        return _in_proportion(earned, amount_cents)
    rate = CommissionRate(CommissionType(earned.rate_type), earned.rate_value, source="first payment")
    before_cents = commission.price(rate=rate, amount_cents=earned.amount_cents, currency=earned.currency)
    if before_cents > 0 and earned.commission_cents == 0:
        return 0
    after_cents = commission.price(rate=rate, amount_cents=amount_cents, currency=earned.currency)
    return max(earned.commission_cents + after_cents - before_cents, earned.commission_cents)


def count_payment(*, amount_cents: int, paid_cents: int, more_paid_cents: int, more_net_cents: int | None) -> int:
    """Return how much of `more_paid_cents` counts as the sale, by how the payments before were counted.

    Units: minor units. `amount_cents` is what counts of the `paid_cents` before. All of it counts where all of those
    did; otherwise `more_net_cents`, what is paid without tax and shipping, or the same share where that is unknown.
    """
    if amount_cents == paid_cents:
        return more_paid_cents
    if more_net_cents is not None:
        return max(more_net_cents, 0)
    return money.divide_half_even(amount_cents * more_paid_cents, paid_cents) if paid_cents else 0


def status_of(status: str, *, net_cents: int, paid_cents: int) -> str:
    """Return the status of a conversion that earns `net_cents` now, of which payouts have paid `paid_cents`.

    A Paid one that payouts have not paid whole is Approved: the rest is due. Every other keeps its status.
    """
    if status == statuses.ConversionStatus.Paid and net_cents > paid_cents:
        return statuses.ConversionStatus.Approved.value
    return status


def _in_proportion(earned: EarnedAmount, amount_cents: int) -> int:
    if earned.amount_cents == 0:
        return earned.commission_cents
    return money.divide_half_even(earned.commission_cents * amount_cents, earned.amount_cents)
