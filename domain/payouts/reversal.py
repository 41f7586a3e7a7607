"""The effect of reversals on the lines of payouts, in integers.

Source: core spec, "Payout", line item (reversedAmountCents, reversedAt); tracking spec, section 3 (refunds).
"""

from dataclasses import dataclass
from fractions import Fraction

from domain.money import money


@dataclass(frozen=True, slots=True)
class ReversibleLine:
    """The state of a line; amounts are native minor units except `amount_cents`, which are US cents.

    `factor` converts native minor units into US cents. `can_shrink`: its payout was not yet sent to a rail.
    """

    native_cents: int
    amount_cents: int
    reversed_native_cents: int
    factor: Fraction
    can_shrink: bool


@dataclass(frozen=True, slots=True)
class LineChange:
    """The new state of a line, and the part of the reversal that it absorbed (native)."""

    native_cents: int
    amount_cents: int
    reversed_native_cents: int
    reversed_amount_cents: int
    absorbed_cents: int


def shrink(line: ReversibleLine, cents: int) -> LineChange:
    """Return a paying line after at most `cents` native minor units of it are taken back.

    A line that can still change pays less. A sent line keeps its amount and records the reversed part in the payout's
    currency: all of it once everything is reversed.
    """
    absorbed = min(cents, line.native_cents - line.reversed_native_cents)
    if line.can_shrink:
        return _with_amount(line, line.native_cents - absorbed, absorbed)
    return _with_reversal(line, line.reversed_native_cents + absorbed, absorbed)


def restore(line: ReversibleLine, cents: int) -> LineChange:
    """Return a paying line of which at most `cents` less count as reversed."""
    absorbed = max(min(cents, line.reversed_native_cents), 0)
    return _with_reversal(line, line.reversed_native_cents - absorbed, absorbed)


def reduce_failed(line: ReversibleLine) -> LineChange:
    """Return a line of a failed payout, reduced by what was reversed while it was on its way."""
    return _with_amount(line, line.native_cents - line.reversed_native_cents, 0)


def _with_amount(line: ReversibleLine, native: int, absorbed: int) -> LineChange:
    exact = native * line.factor
    return LineChange(
        native_cents=native,
        amount_cents=money.divide_half_even(exact.numerator, exact.denominator),
        reversed_native_cents=0,
        reversed_amount_cents=0,
        absorbed_cents=absorbed,
    )


def _with_reversal(line: ReversibleLine, reversed_native: int, absorbed: int) -> LineChange:
    return LineChange(
        native_cents=line.native_cents,
        amount_cents=line.amount_cents,
        reversed_native_cents=reversed_native,
        reversed_amount_cents=money.divide_half_even(line.amount_cents * reversed_native, line.native_cents),
        absorbed_cents=absorbed,
    )
