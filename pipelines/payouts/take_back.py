"""Updates payouts when money is taken back from a conversion (a refund, a denial, a quarantine).

A payout that was not sent yet is reduced. A payout that was sent is not changed: its line records the reversed amount,
and the affiliate's next payout holds it back, because the conversion was paid more than it earned.
Source: tracking spec, section 3 (refunds); core spec, "Payout", line item.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts import reversal
from domain.payouts.reversal import LineChange
from models.conversions.conversions import Conversion
from models.payouts import lines
from models.payouts.lines import PayoutLine


def take_back_if_in_payout(conversion: Conversion, cents: int, *, now: datetime) -> None:
    """Do as `take_back`, for a conversion that may never have been in a payout.

    Budget: one round trip, and a second one for a conversion in a payout; none for 0 cents.
    """
    where = {"organization_id": conversion.organization_id, "conversion_id": conversion.id}
    if cents > 0 and lines.has_any(**where):
        take_back(conversion, cents, now=now)


def take_back(conversion: Conversion, cents: int, *, now: datetime) -> None:
    """Take `cents` native minor units off the lines that pay for a locked conversion, the open one first.

    `conversion` is as it was before. Commission that no line pays yet is taken first, for example of a conversion that
    grew; an amount that the lines do not cover is ignored. Budget: one round trip.
    """
    taken = TakenCommission(conversion.id, conversion.net_commission_cents, cents)
    take_back_all([taken], organization_id=conversion.organization_id, now=now)


@dataclass(frozen=True, slots=True)
class TakenCommission:
    """What is taken from a locked conversion, and what it earned before, in native minor units."""

    conversion_id: UUID
    net_cents: int
    taken_cents: int


def take_back_all(taken: Sequence[TakenCommission], *, organization_id: UUID, now: datetime) -> None:
    """Do as `take_back` for several conversions, each given once. Budget: one round trip for any number of them."""
    if not taken:
        return
    paying_lines = lines.lock_paying(
        organization_id=organization_id, conversion_ids=sorted(each.conversion_id for each in taken)
    )
    changes = [
        changed
        for each in taken
        for changed in _shrink(paying_lines[each.conversion_id], each.net_cents, each.taken_cents)
    ]
    lines.stage_changes(organization_id=organization_id, changes=changes, at=now)


def _shrink(paying_lines: Sequence[PayoutLine], net_cents: int, cents: int) -> Iterator[tuple[PayoutLine, LineChange]]:
    paid_cents = sum(line.native_amount_cents - line.reversed_native_cents for line in paying_lines)
    cents = max(cents - max(net_cents - paid_cents, 0), 0)
    for line in paying_lines:
        change = reversal.shrink(line.as_it_stands, cents)
        if change.absorbed_cents:
            yield line, change
            cents -= change.absorbed_cents


def give_back_if_in_payout(conversion: Conversion, *, now: datetime) -> None:
    """Lower the reversed amounts on the lines of a locked conversion that earns again.

    Amounts that a payout holds back or held back stay reversed: they are due again. Everything stays reversed while the
    conversion is disputed. Budget: one round trip, or three.
    """
    if conversion.is_disputed:
        return
    where = {"organization_id": conversion.organization_id, "conversion_id": conversion.id}
    if not lines.has_any(**where):
        return
    organization_id = conversion.organization_id
    paying_lines = lines.lock_paying(organization_id=organization_id, conversion_ids=[conversion.id])[conversion.id]
    payable_cents = min(conversion.net_commission_cents, conversion.paid_cents + lines.find_open_cents(**where))
    reversed_cents = sum(line.native_amount_cents for line in paying_lines) - payable_cents
    excess_cents = sum(line.reversed_native_cents for line in paying_lines) - reversed_cents
    changes = []
    for line in reversed(paying_lines):
        change = reversal.restore(line.as_it_stands, excess_cents)
        if change.absorbed_cents:
            changes.append((line, change))
            excess_cents -= change.absorbed_cents
    lines.stage_changes(organization_id=organization_id, changes=changes, at=now)
