"""Maintains the owed total of every day of a program: the queue of days to recompute, and their recomputation.

A trigger of day_change queues each changed day, and the stored total of a queued day is not used until it is
recomputed. So used totals always equal the sums of the conversions.
"""

from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

from domain.money.valuation import Factors
from models import advisory_locks
from models.db import db
from models.programs.owed_totals import due_sql
from models.table import Rows

_BEFORE_ALL = UUID(int=0)


class HomeCurrency(NamedTuple):
    """The home currency of an organization, and when its first conversion occurred (None: never)."""

    currency: str
    first_at: datetime | None


_HOME_ROWS = Rows(HomeCurrency)
_HOME = """
select o.home_currency, (
  select min(f.at) from program p cross join lateral (
    select min(occurred_at) as at from conversion c where c.organization_id = p.organization_id and c.program_id = p.id
  ) f where p.organization_id = o.id)
from organization o where o.id = %s
"""


def find_home_currency(organization_id: UUID) -> HomeCurrency:
    """Return the organization's home currency, and the time of its first conversion."""
    home = _HOME_ROWS.first(_HOME, (organization_id,))
    assert home is not None
    return home


_PAST = f"""
with {due_sql.RATES}, past as (
  select distinct due.day, due.program_id from owed_day due {due_sql.RATED}
  where due.organization_id = %(org)s
    and (due.times, due.over) is distinct from ({due_sql.fraction_sql("due.currency")})
), gone as (
  delete from owed_day o using past
  where o.organization_id = %(org)s and o.day = past.day and o.program_id = past.program_id
)
insert into day_to_reckon (organization_id, day, program_id)
select %(org)s, day, program_id from past on conflict do nothing
"""
_RECOMPUTE = f"""
with {due_sql.RATES}, taken as (
  delete from day_to_reckon t using (
    select day, program_id from day_to_reckon where organization_id = %(org)s order by day, program_id limit %(limit)s
  ) following
  where t.organization_id = %(org)s and t.day = following.day and t.program_id = following.program_id
  returning t.program_id, t.day
), kept as (
  insert into owed_day (organization_id, program_id, day, currency, hold_day, cents, times, over, home_cents)
  select %(org)s, due.program_id, due.day, due.currency, (due.held_until at time zone 'UTC')::date, sum(due.cents),
    {due_sql.fraction_sql("due.currency")}, sum({due_sql.HOME})
  from {due_sql.days_sql("taken")} {due_sql.RATED}
  group by due.program_id, due.day, due.currency, 5, r.wide_times, r.wide_over
)
select count(*) from taken
"""


def recompute(organization_id: UUID, *, factors: Factors, limit: int) -> int:
    """Recompute up to `limit` queued days of the organization; return how many. Days with a changed rate are queued.

    Nothing is folded meanwhile; sales continue. A change made after a day was read queues the day again.
    """
    advisory_locks.stage_owed_totals_lock(organization_id)
    db.stage("set local statement_timeout = '10min'")
    params = {"org": organization_id, "limit": limit, **due_sql.rate_params(factors)}
    db.stage(_PAST, params)
    row = db.row(_RECOMPUTE, params)
    assert row is not None
    return int(row[0])


_FORGET = """
with gone as (delete from owed_day where organization_id = %(org)s)
insert into day_to_reckon (organization_id, day, program_id)
select distinct organization_id, (occurred_at at time zone 'UTC')::date, program_id from conversion
where organization_id = %(org)s on conflict do nothing
"""


def stage_forget(organization_id: UUID) -> None:
    """Stage that every day of an organization is recomputed; the caller holds the lock of the daily totals."""
    db.stage(_FORGET, {"org": organization_id})


_NEXT_TO_RECOMPUTE = """
select o.id from organization o where o.id > %(after)s
  and (exists (select from day_to_reckon t where t.organization_id = o.id)
    or exists (select from affiliate_day d where d.organization_id = o.id and not d.is_counted))
order by o.id limit %(limit)s
"""
_NEXT_SINCE = """
select o.id from organization o where o.id > %(after)s
  and (exists (select from owed_day d where d.organization_id = o.id and d.day >= %(since)s)
    or exists (select from affiliate_day d
      where d.organization_id = o.id and d.day >= %(since)s and d.currency is not null))
order by o.id limit %(limit)s
"""


def any_org_list_next(*, since: date | None, after: UUID = _BEFORE_ALL, limit: int) -> list[UUID]:
    """Return the next organizations with days to compute or count, by id; with `since`, those with sales since then."""
    sql = _NEXT_TO_RECOMPUTE if since is None else _NEXT_SINCE
    return [organization_id for (organization_id,) in db.run(sql, {"after": after, "since": since, "limit": limit})]
