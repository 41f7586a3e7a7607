"""Lines of payouts: what each pays for a conversion, and what was reversed of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from domain.payouts import plan, reversal
from domain.payouts.reversal import LineChange
from domain.payouts.states import PayoutStatus
from models.db import db
from models.prepared_statements import FreshSelect
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class PayoutLine:
    """A line with the state of its payout. Native minor units, except for the two amounts in US cents.

    `was_exported`: the payout was exported to be paid by hand, so its amount is as fixed as one sent to a rail.
    """

    id: UUID
    payout_id: UUID
    conversion_id: UUID
    native_amount_cents: int
    native_currency: str
    fx_rate: Decimal
    fx_rate_date: date
    amount_cents: int
    reversed_native_cents: int
    reversed_amount_cents: int
    reversed_at: datetime | None
    is_open: bool
    payout_status: str
    was_exported: bool

    @property
    def as_it_stands(self) -> reversal.ReversibleLine:
        """The data that a reversal needs."""
        return reversal.ReversibleLine(
            native_cents=self.native_amount_cents,
            amount_cents=self.amount_cents,
            reversed_native_cents=self.reversed_native_cents,
            factor=plan.usd_factor(self.native_currency, self.fx_rate),
            can_shrink=self.is_open
            and self.payout_status in (PayoutStatus.Pending, PayoutStatus.Failed)
            and not self.was_exported,
        )


_OTHERS = {"payout_status": "p.status", "was_exported": "p.exported_at is not null"}
_SELECT = f"""
select {columns(PayoutLine, "l", **_OTHERS)}
from payout_line l join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
where l.organization_id = %s"""
_LOCK_PAYING = f"""{_SELECT} and l.conversion_id = any(%s) and l.released_at is null and l.native_amount_cents > 0
order by l.conversion_id, l.is_open desc, p.created_at desc, l.id for update of l, p
"""
_OF_PAYOUT = f"{_SELECT} and l.payout_id = %s order by l.id"
_HAS_ANY = FreshSelect("select from payout_line where organization_id = %s and conversion_id = %s limit 1")
_OPEN_CENTS = """
select native_amount_cents from payout_line where organization_id = %s and conversion_id = %s and is_open
"""
_lines = Rows(PayoutLine)


def has_any(*, organization_id: UUID, conversion_id: UUID) -> bool:
    """Return whether any payout ever contained this conversion."""
    return bool(db.run(_HAS_ANY, (organization_id, conversion_id)))


def lock_paying(*, organization_id: UUID, conversion_ids: Sequence[UUID]) -> dict[UUID, list[PayoutLine]]:
    """Return the lines that pay (or paid) for these locked conversions, newest first, locked with their payouts.

    Budget: 1 round trip.
    """
    lines: dict[UUID, list[PayoutLine]] = {conversion_id: [] for conversion_id in conversion_ids}
    for line in _lines.all(_LOCK_PAYING, (organization_id, list(conversion_ids))):
        lines[line.conversion_id].append(line)
    return lines


def find_open_cents(*, organization_id: UUID, conversion_id: UUID) -> int:
    """Return what the conversion's open line pays, or (negative) holds back, in native minor units; 0 without one."""
    row = db.row(_OPEN_CENTS, (organization_id, conversion_id))
    return int(row[0]) if row else 0


def list_of_payout(*, organization_id: UUID, payout_id: UUID) -> list[PayoutLine]:
    """Return the lines of a payout by id, including released ones."""
    return _lines.all(_OF_PAYOUT, (organization_id, payout_id))


_LOCK_CONVERSIONS = FreshSelect("""
select from conversion
where organization_id = %(org)s and id = any(array(
  select conversion_id from payout_line
  where organization_id = %(org)s and payout_id = any(%(payouts)s::uuid[]) and is_open))
order by id for update
""")


def stage_conversions_lock(*, organization_id: UUID, payout_ids: Sequence[UUID]) -> None:
    """Stage the lock of the conversions in payouts' open lines, by id: before the payouts, as refunds do."""
    db.stage(_LOCK_CONVERSIONS, {"org": organization_id, "payouts": list(payout_ids)})


_CHANGE = """
update payout_line l set native_amount_cents = v.native_cents, amount_cents = v.amount_cents,
  reversed_native_cents = v.reversed_native, reversed_amount_cents = v.reversed_amount,
  reversed_at = case when v.reversed_native > 0 then %(at)s end, is_open = l.is_open and v.native_cents <> 0,
  released_at = case when v.native_cents = 0 then %(at)s else l.released_at end
from unnest(%(ids)s::uuid[], %(native)s::bigint[], %(amounts)s::bigint[], %(reversed_native)s::bigint[],
  %(reversed_amounts)s::bigint[]) as v (id, native_cents, amount_cents, reversed_native, reversed_amount)
where l.organization_id = %(org)s and l.id = v.id
"""
_CHANGE_SUMS = """
update payout p set amount_cents = p.amount_cents + v.cents
from (select id, sum(cents) as cents from unnest(%(payouts)s::uuid[], %(changes)s::bigint[]) as c (id, cents)
  group by id) v
where p.organization_id = %(org)s and p.id = v.id and v.cents <> 0
"""


def stage_changes(*, organization_id: UUID, changes: Sequence[tuple[PayoutLine, LineChange]], at: datetime) -> None:
    """Stage changes of lines, and of their payouts' amounts. A line that pays nothing more is released."""
    if changes:
        params = {
            "org": organization_id,
            "at": at,
            "ids": [line.id for line, _ in changes],
            "native": [change.native_cents for _, change in changes],
            "amounts": [change.amount_cents for _, change in changes],
            "reversed_native": [change.reversed_native_cents for _, change in changes],
            "reversed_amounts": [change.reversed_amount_cents for _, change in changes],
            "payouts": [line.payout_id for line, _ in changes],
            "changes": [change.amount_cents - line.amount_cents for line, change in changes],
        }
        db.stage(_CHANGE, params)
        db.stage(_CHANGE_SUMS, params)


_RELEASE = """
update payout_line set is_open = false, released_at = %s where organization_id = %s and payout_id = %s and is_open
"""


def stage_release(*, organization_id: UUID, payout_id: UUID, at: datetime) -> None:
    """Stage the release of a payout's lines: their conversions are due again."""
    db.stage(_RELEASE, (at, organization_id, payout_id))
