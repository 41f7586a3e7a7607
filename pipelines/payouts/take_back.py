"""What payouts make of money that is taken back from a conversion (a refund, a denial, a quarantine).

A payout that was not sent yet pays less. One that was sent stays what it was: its line shows what was reversed, and
what the affiliate owes then is held back from their next payout, for the conversion was paid more than it earned.
Source: tracking spec, section 3 (refunds); core spec, "Payout", line item.
"""

from datetime import datetime

from domain.payouts import reversal
from models.conversions.conversions import Conversion
from models.payouts import lines


def take_back_if_named(conversion: Conversion, cents: int, *, now: datetime) -> None:
    """Do what `take_back` does, for a conversion that may never have been in a payout.

    Budget: one round trip, and a second one for a conversion that a payout names; none for nothing.
    """
    where = {"organization_id": conversion.organization_id, "conversion_id": conversion.id}
    if cents > 0 and lines.has_any(**where):
        take_back(conversion, cents, now=now)


def take_back(conversion: Conversion, cents: int, *, now: datetime) -> None:
    """Take `cents` native minor units off the lines that pay for a locked conversion, the open one first.

    `conversion` is as it was before. What it earned and no line pays goes first, as of one that grew; what the lines do
    not cover is left. Budget: one round trip.
    """
    paying = lines.lock_paying(organization_id=conversion.organization_id, conversion_id=conversion.id)
    paid_cents = sum(line.native_amount_cents - line.reversed_native_cents for line in paying)
    cents = max(cents - max(conversion.net_commission_cents - paid_cents, 0), 0)
    for line in paying:
        change = reversal.shrink(line.as_it_stands, cents)
        if change.absorbed_cents:
            lines.stage_change(organization_id=conversion.organization_id, line=line, change=change, at=now)
            cents -= change.absorbed_cents


def give_back_if_named(conversion: Conversion, *, now: datetime) -> None:
    """Show no more as reversed than was, on the lines of a locked conversion that earns again.

    What a payout holds back, or held back, stays reversed: it is due again. So does all of it while the conversion is
    disputed. Budget: one round trip, or three.
    """
    if conversion.is_disputed:
        return
    where = {"organization_id": conversion.organization_id, "conversion_id": conversion.id}
    if not lines.has_any(**where):
        return
    paying = lines.lock_paying(**where)
    kept = min(conversion.net_commission_cents, conversion.paid_cents + lines.find_open_cents(**where))
    reversed_cents = sum(line.native_amount_cents for line in paying) - kept
    excess = sum(line.reversed_native_cents for line in paying) - reversed_cents
    for line in reversed(paying):
        change = reversal.restore(line.as_it_stands, excess)
        if change.absorbed_cents:
            lines.stage_change(organization_id=conversion.organization_id, line=line, change=change, at=now)
            excess -= change.absorbed_cents
