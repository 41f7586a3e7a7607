"""What taking money back does to the lines of payouts, in integers.

Source: core spec, "Payout", line item (reversedAmountCents, reversedAt); tracking spec, section 3 (refunds).
"""

from dataclasses import dataclass
from fractions import Fraction

from domain.money import money


@dataclass(frozen=True, slots=True)
class ReversibleLine:
    """A line as it stands; amounts are native minor units but for `amount_cents`, which are US cents.

    `factor` turns native minor units into US cents. `can_shrink`: its payout was not sent to a rail yet.
    """

    native_cents: int
    amount_cents: int
    reversed_native_cents: int
    factor: Fraction
    can_shrink: bool


@dataclass(frozen=True, slots=True)
class LineChange:
    """What becomes of a line, and how much of what was taken back it answers for (native)."""

    native_cents: int
    amount_cents: int
    reversed_native_cents: int
    reversed_amount_cents: int
    absorbed_cents: int


def shrink(line: ReversibleLine, cents: int) -> LineChange:
    """Return what a line that pays becomes when `cents` native minor units of it are taken back, as far as it goes.

    A line that can still change pays less. One that was sent stays as it was sent, and shows what was reversed in the
    payout's currency: all of it once everything was.
    """
    absorbed = min(cents, line.native_cents - line.reversed_native_cents)
    if line.can_shrink:
        return _unreversed(line, line.native_cents - absorbed, absorbed)
    return _reversed(line, line.reversed_native_cents + absorbed, absorbed)


def restore(line: ReversibleLine, cents: int) -> LineChange:
    """Return what a line that pays becomes when `cents` less of it count as reversed, as far as it goes."""
    absorbed = max(min(cents, line.reversed_native_cents), 0)
    return _reversed(line, line.reversed_native_cents - absorbed, absorbed)


def settled_down(line: ReversibleLine) -> LineChange:
    """Return what a line pays once its payout has failed: what was reversed while it was on its way is off."""
    return _unreversed(line, line.native_cents - line.reversed_native_cents, 0)


def _unreversed(line: ReversibleLine, native: int, absorbed: int) -> LineChange:
    exact = native * line.factor
    return LineChange(
        native_cents=native,
        amount_cents=money.divide_half_even(exact.numerator, exact.denominator),
        reversed_native_cents=0,
        reversed_amount_cents=0,
        absorbed_cents=absorbed,
    )


def _reversed(line: ReversibleLine, reversed_native: int, absorbed: int) -> LineChange:
    return LineChange(
        native_cents=line.native_cents,
        amount_cents=line.amount_cents,
        reversed_native_cents=reversed_native,
        reversed_amount_cents=money.divide_half_even(line.amount_cents * reversed_native, line.native_cents),
        absorbed_cents=absorbed,
    )
