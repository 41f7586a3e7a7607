"""A conversion whose amount increases, by a further payment of its order or a higher total of the order.

The increase earns by the terms of the first payment: its rate, and whether that payment earned at all. A fixed
commission is earned once. `refund` covers money that goes back; a lower total is a refund.
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
    """Return the commission before refunds of a conversion whose amount is now `amount_cents`; never less than before.

    A conversion that earned nothing at a rate above 0 was outside its customer's window, and still earns nothing. A
    commission that differs from its rate keeps the difference.
    """
    if amount_cents <= earned.amount_cents:
        return earned.commission_cents
    if earned.rate_type is None or earned.rate_value is None:
        return _scale_commission(earned, amount_cents)
    rate = CommissionRate(CommissionType(earned.rate_type), earned.rate_value, source="first payment")
    before_cents = commission.price(rate=rate, amount_cents=earned.amount_cents, currency=earned.currency)
    if before_cents > 0 and earned.commission_cents == 0:
        return 0
    after_cents = commission.price(rate=rate, amount_cents=amount_cents, currency=earned.currency)
    return max(earned.commission_cents + after_cents - before_cents, earned.commission_cents)


def count_payment(*, amount_cents: int, paid_cents: int, more_paid_cents: int, more_net_cents: int | None) -> int:
    """Return the part of `more_paid_cents` that counts as the sale, in the way that the earlier payments were counted.

    Units: minor units. `amount_cents` is the counted part of the earlier `paid_cents`. If those counted in full, so
    does the new payment; otherwise `more_net_cents` (without tax and shipping) counts, or the same share if it is
    unknown.
    """
    if amount_cents == paid_cents:
        return more_paid_cents
    if more_net_cents is not None:
        return max(more_net_cents, 0)
    return money.divide_half_even(amount_cents * more_paid_cents, paid_cents) if paid_cents else 0


def status_of(status: str, *, net_cents: int, paid_cents: int) -> str:
    """Return the status of a conversion that now earns `net_cents`, of which payouts have paid `paid_cents`.

    A Paid one that is not paid in full becomes Approved: the rest is due. Every other keeps its status.
    """
    if status == statuses.ConversionStatus.Paid and net_cents > paid_cents:
        return statuses.ConversionStatus.Approved.value
    return status


def _scale_commission(earned: EarnedAmount, amount_cents: int) -> int:
    if earned.amount_cents == 0:
        return earned.commission_cents
    return money.divide_half_even(earned.commission_cents * amount_cents, earned.amount_cents)
