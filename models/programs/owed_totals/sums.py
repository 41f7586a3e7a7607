"""The sums that an organization's programs owe now, valued conversion by conversion.

Computed days (`daily`) are looked up; the conversions of all others are summed, and so are those of days on which a
hold ends today or whose rate has changed. Amounts in a payout are subtracted by its open lines.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from domain.money.valuation import Factors
from domain.programs.numbers import SumPart
from models.money import fx_sums
from models.programs.owed_totals import due_sql
from models.table import Rows


class _SumRow(NamedTuple):
    program_id: UUID
    bucket: str
    currency: str
    home: Decimal | None
    unvalued: Decimal | None

    def part(self) -> SumPart:
        """Return it in whole minor units."""
        home, unvalued = (None if cents is None else int(cents) for cents in (self.home, self.unvalued))
        return SumPart(self.currency, home, unvalued)


class ProgramSum(NamedTuple):
    """The amount that one program owes in one currency and bucket, or a part of it.

    `bucket` is "pending", "available" or "settling" (in a payout that is not Paid yet).
    """

    program_id: UUID
    bucket: str
    money: SumPart


# An amount on hold is pending until the hold ends.
_BUCKET = "case when due.held_until > %(now)s then 'pending' else 'available' end"
_TO_RECOMPUTE = """
  select program_id, day from day_change where organization_id = %(org)s and currency is not null
  union
  select program_id, day from day_to_reckon where organization_id = %(org)s
  union
  select program_id, day from kept where is_past"""
# An open line belongs to one conversion: its due amount is settling, and is subtracted from the bucket that counted it.
_LINES = f"""(
    select c.program_id, part.bucket, c.currency, c.day, part.sign * c.cents as cents from payout_line l
    cross join lateral (
      select c.program_id, c.currency, ({fx_sums.DAY}) as day, {due_sql.CENTS} as cents, {due_sql.IS_OWED} as is_owed,
        {due_sql.HELD_UNTIL} as held_until
      from conversion c where c.organization_id = %(org)s and c.id = l.conversion_id and {due_sql.IS_COUNTED} offset 0
    ) c
    cross join lateral (values
      ('settling', 1, true), (case when c.held_until > %(now)s then 'pending' else 'available' end, -1, c.is_owed)
    ) as part (bucket, sign, is_due)
    where l.organization_id = %(org)s and l.is_open and part.is_due
  ) due"""
_ROWS = Rows(_SumRow)
_SUMS = f"""
with {due_sql.RATES}, kept as materialized (
  select due.program_id, due.day, due.currency, due.cents, due.home_cents,
    case when due.hold_day > %(today)s then 'pending' else 'available' end as bucket,
    coalesce(due.hold_day = %(today)s, false)
      or (due.times, due.over) is distinct from ({due_sql.fraction_sql("due.currency")})
      as is_past
  from owed_day due {due_sql.RATED} where due.organization_id = %(org)s
), to_reckon as materialized ({_TO_RECOMPUTE}
)
select program_id, bucket, currency, sum(home), sum(cents) filter (where home is null) from (
  select program_id, bucket, currency, home_cents as home, cents from kept
  where not exists (select from to_reckon t where t.program_id = kept.program_id and t.day = kept.day)
  union all
  select due.program_id, {_BUCKET}, due.currency, {due_sql.HOME}, due.cents
  from {due_sql.days_sql("to_reckon")} {due_sql.RATED}
  union all
  select due.program_id, due.bucket, due.currency, {due_sql.HOME}, due.cents from {_LINES} {due_sql.RATED}
) part group by program_id, bucket, currency
"""


def list_sums(*, organization_id: UUID, factors: Factors, now: datetime) -> list[ProgramSum]:
    """Return the sums that the organization's programs owe now, archived ones too.

    Budget: 1 statement, over a row per program, day and currency that owes anything, and the conversions of queued
    days.
    """
    today = now.astimezone(UTC).date()
    rows = _ROWS.all(_SUMS, {"org": organization_id, "now": now, "today": today, **due_sql.rate_params(factors)})
    return [ProgramSum(row.program_id, row.bucket, row.part()) for row in rows]
