"""Results of an organization's programs by day. Days are in UTC, money is minor units, test rows never count.

An override counts as commission and not as a sale.
"""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from domain.programs.days import DayRange
from models import conditions
from models.db import allowing_table_scans, db
from models.table import Rows

_IS_SALE = "c.type in ('OneTime', 'Recurring') and c.parent_id is null"


@dataclass(frozen=True, slots=True)
class DayScope:
    """The program and the affiliate whose days are read. None means all, including archived programs."""

    organization_id: UUID
    program_id: UUID | None = None
    affiliate_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class DaySum:
    """The sums of the conversions of one day and currency, net of later refunds."""

    day: date
    currency: str
    sales: int
    leads: int
    amount_cents: int
    commission_cents: int


_SUMS_ROWS = Rows(DaySum)
# By program, so that one month among many years is read by the index of the programs.
_SUMS = f"""
select (c.occurred_at at time zone 'UTC')::date, c.currency,
  count(*) filter (where {_IS_SALE}), count(*) filter (where c.type = 'LeadReward' and c.parent_id is null),
  coalesce(sum(c.amount_cents - c.refunded_cents) filter (where {_IS_SALE}), 0)::bigint,
  sum(c.commission_cents - c.reversed_cents)::bigint
from program p join conversion c on c.organization_id = p.organization_id and c.program_id = p.id
where p.organization_id = %(org)s and (%(program)s::uuid is null or p.id = %(program)s)
  and (%(affiliate)s::uuid is null or c.affiliate_id = %(affiliate)s)
  and c.occurred_at >= %(since)s and c.occurred_at < %(until)s
  and c.status not in {conditions.EARNS_NOTHING} and not c.is_test
group by 1, 2 order by 1, 2
"""


def list_sums(scope: DayScope, days: DayRange) -> list[DaySum]:
    """Return the sums of the conversions of these days."""
    with allowing_table_scans():
        return _SUMS_ROWS.all(_SUMS, _params(scope, days))


_CLICKS = """
select day, sum(number)::bigint from (
  select (k.occurred_at at time zone 'UTC')::date as day, count(*) as number
  from program p join click k on k.organization_id = p.organization_id and k.program_id = p.id
  where p.organization_id = %(org)s and (%(program)s::uuid is null or p.id = %(program)s)
    and (%(affiliate)s::uuid is null or k.affiliate_id = %(affiliate)s)
    and k.occurred_at >= %(since)s and k.occurred_at < %(until)s and not k.is_duplicate and k.outcome <> 'blocked'
  group by 1
  union all
  select (h.hour at time zone 'UTC')::date, sum(h.number)
  from program p join click_hour h on h.organization_id = p.organization_id and h.program_id = p.id
  where p.organization_id = %(org)s and (%(program)s::uuid is null or p.id = %(program)s)
    and (%(affiliate)s::uuid is null or h.affiliate_id = %(affiliate)s)
    and h.last_at >= %(since)s and h.hour < %(until)s and not h.is_duplicate and h.outcome <> 'blocked'
  group by 1
) clicks group by day
"""


def count_clicks(scope: DayScope, days: DayRange) -> dict[date, int]:
    """Return the number of visits of each day that has any, including clicks of which only a count is left."""
    with allowing_table_scans():
        return dict(db.run(_CLICKS, _params(scope, days)))


def _params(scope: DayScope, days: DayRange) -> dict[str, object]:
    return {
        "org": scope.organization_id,
        "program": scope.program_id,
        "affiliate": scope.affiliate_id,
        "since": days.start,
        "until": days.end,
    }
