"""Reverses the booking of a lost payout: its money came back, or it was booked to the wrong affiliate."""

from dataclasses import dataclass
from datetime import datetime

from models.db import db
from models.ledger import entries
from models.payouts.payouts import Payout
from models.restores.advances import SOURCE
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class BookedSum:
    """The sum that a booked payout paid in one currency, native minor units. `is_netted`: a later payout nets it."""

    currency: str
    cents: int
    is_netted: bool


_SUMS = f"""
select {
    columns(
        BookedSum,
        "l",
        currency="l.native_currency",
        cents="l.native_amount_cents",
        is_netted=f'''c.source <> '{SOURCE}' or c.paid_cents <> l.native_amount_cents or exists (
    select from payout_line open where open.organization_id = c.organization_id and open.conversion_id = c.id
      and open.is_open)''',
    )
}
from payout_line l join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
where l.organization_id = %s and l.payout_id = %s order by l.native_currency
"""
_sums = Rows(BookedSum)


def list_sums(payout: Payout) -> list[BookedSum]:
    """Return the sums that a locked booked payout paid, by currency."""
    return _sums.all(_SUMS, (payout.organization_id, payout.id))


_ENTRIES = entries.insert_sql(
    kind="'clawback'", cents="l.native_amount_cents", cause="l.payout_id", at="%(at)s::timestamptz"
)
_UNBOOK = f"""
with given_back as (
  {_ENTRIES}
  from payout_line l join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
  where l.organization_id = %(org)s and l.payout_id = %(payout)s
)
update conversion c set paid_cents = c.paid_cents - l.native_amount_cents from payout_line l
where l.organization_id = %(org)s and l.payout_id = %(payout)s
  and c.organization_id = l.organization_id and c.id = l.conversion_id
"""
_RELEASED = "update payout_line set released_at = %s where organization_id = %s and payout_id = %s"


def stage_reversal(payout: Payout, *, at: datetime) -> None:
    """Stage the reversal of all sums of a locked payout, whose conversions are locked."""
    db.stage(_UNBOOK, {"org": payout.organization_id, "payout": payout.id, "at": at})
    db.stage(_RELEASED, (at, payout.organization_id, payout.id))
