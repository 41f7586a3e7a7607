"""The all-time totals of affiliates in the home currency, which lists sort by.

Totals contain the stored days of `affiliate_day`. Days that changed are counted again by a job, which adds the
difference: a statement never adds up an affiliate's history.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from domain.money.valuation import Factors
from models import advisory_locks
from models.db import db
from models.money import fx_sums
from models.table import Rows

#: The day of the last sale of an affiliate without sales.
NEVER = date.min

_RATES = f"rate as materialized (select * from {fx_sums.TABLE})"
_RATED = "left join rate r on r.currency = d.currency and r.day = d.day"
_IS_HOME = "d.currency = %(fx_home)s"
_TIMES, _OVER = (f"case when {_IS_HOME} then 1 else r.{name} end" for name in ("wide_times", "wide_over"))


def _valued_sql(cents: str) -> str:
    """Return SQL of an amount of a day `d` in the home currency, rounded by itself; null without a rate."""
    by_rate = f"coalesce({fx_sums.narrow_sql(cents=cents)}, {fx_sums.wide_sql(cents=cents)})"
    return f"case when {_IS_HOME} then {cents} else {by_rate} end"


_REVENUE = f"{_valued_sql('d.revenue_cents::bigint')} - {_valued_sql('d.refunded_cents::bigint')}"
# What a day adds to the totals, and to the amounts without a rate, less what it added before.
_HOME_CHANGE = "sum({0} * (new_times is not null)::int - counted_{0} * (times is not null)::int)"
_UNCONVERTED_CHANGE = "sum({0} * (new_times is null)::int - counted_{0} * (times is null)::int)"
_COUNT = f"""
with {_RATES}, due as materialized (
  select ctid as place, d.* from affiliate_day d
  where organization_id = %(org)s and not is_counted order by affiliate_id, day limit %(limit)s
), v as materialized (
  select d.*, {_TIMES} as new_times, {_OVER} as new_over,
    coalesce({_REVENUE}, d.revenue_cents - d.refunded_cents) as revenue,
    coalesce({_valued_sql("d.commission_cents::bigint")}, d.commission_cents) as commission
  from due d {_RATED}
), counted as (
  update affiliate_day d set is_counted = true, counted_clicks = v.clicks, counted_sales = v.sales,
    counted_revenue = v.revenue, counted_commission = v.commission, times = v.new_times, over = v.new_over
  from v where d.ctid = v.place and d.organization_id = %(org)s
), unconverted as (
  insert into affiliate_unconverted as kept (organization_id, affiliate_id, currency, revenue_cents, commission_cents)
  select %(org)s, affiliate_id, currency, {_UNCONVERTED_CHANGE.format("revenue")},
    {_UNCONVERTED_CHANGE.format("commission")}
  from v where currency is not null and (new_times is null or times is null)
  group by affiliate_id, currency
  having {_UNCONVERTED_CHANGE.format("revenue")} <> 0 or {_UNCONVERTED_CHANGE.format("commission")} <> 0
  order by affiliate_id, currency
  on conflict (organization_id, affiliate_id, currency) do update set
    revenue_cents = kept.revenue_cents + excluded.revenue_cents,
    commission_cents = kept.commission_cents + excluded.commission_cents
), totals as (
  update affiliate_total t set clicks = t.clicks + change.clicks, sales = t.sales + change.sales,
    revenue_cents = t.revenue_cents + change.revenue, commission_cents = t.commission_cents + change.commission,
    last_sale_on = change.last_sale_on
  from (
    select affiliate_id, sum(clicks - counted_clicks) as clicks, sum(sales - counted_sales) as sales,
      {_HOME_CHANGE.format("revenue")} as revenue, {_HOME_CHANGE.format("commission")} as commission,
      coalesce((select max(s.day) from affiliate_day s where s.organization_id = %(org)s
        and s.affiliate_id = v.affiliate_id and s.sales > 0), %(never)s) as last_sale_on
    from v group by affiliate_id order by affiliate_id
  ) change
  where t.organization_id = %(org)s and t.affiliate_id = change.affiliate_id
)
select count(*) from due
"""


def count_days(organization_id: UUID, *, factors: Factors, limit: int) -> int:
    """Add up to `limit` changed days to the totals of their affiliates; return how many.

    Nothing is folded meanwhile; sales and clicks continue. Budget: 1 statement.
    """
    advisory_locks.stage_owed_totals_lock(organization_id)
    params = {"org": organization_id, "limit": limit, "never": NEVER, **fx_sums.table_params(factors)}
    row = db.row(_COUNT, params)
    assert row is not None
    return int(row[0])


_REVALUE = f"""
with {_RATES}
update affiliate_day u set is_counted = false
from (
  select d.ctid as place from affiliate_day d {_RATED}
  where d.organization_id = %(org)s and d.day >= %(since)s and d.currency is not null and d.is_counted
    and (d.times, d.over) is distinct from ({_TIMES}, {_OVER})
) changed
where u.ctid = changed.place and u.organization_id = %(org)s
"""


def stage_revaluation(organization_id: UUID, *, since: date, factors: Factors) -> None:
    """Stage that the days since a day whose rate is another one now are counted again."""
    advisory_locks.stage_owed_totals_lock(organization_id)
    db.stage("set local statement_timeout = '10min'")
    db.stage(_REVALUE, {"org": organization_id, "since": since, **fx_sums.table_params(factors)})


_STATE = """
insert into affiliate_total_state as kept (organization_id, counted_until) values (%(org)s, %(until)s)
on conflict (organization_id) do update set counted_until = greatest(kept.counted_until, excluded.counted_until)
"""


def stage_counted_until(organization_id: UUID, until: datetime) -> None:
    """Stage the time until which all changes are contained in the organization's totals."""
    db.stage(_STATE, {"org": organization_id, "until": until})


class AffiliateTotals(NamedTuple):
    """An affiliate's totals in the home currency (`currency`), and the amounts without a rate.

    `as_of` is the time until which all changes are contained: now, if none is left to count; None before the first
    count.
    """

    id: str
    currency: str
    clicks: int
    sales: int
    revenue_cents: int
    commission_cents: int
    last_sale_on: date | None
    unconverted: Sequence[Mapping[str, Any]]
    as_of: datetime | None


_TOTALS_ROWS = Rows(AffiliateTotals)
_LIST = """
select t.affiliate_id::text, o.home_currency, t.clicks, t.sales, t.revenue_cents::bigint, t.commission_cents::bigint,
  nullif(t.last_sale_on, %(never)s), coalesce((
    select json_agg(json_build_object('currency', u.currency, 'revenue_cents', u.revenue_cents,
      'commission_cents', u.commission_cents) order by u.currency)
    from affiliate_unconverted u where u.organization_id = t.organization_id and u.affiliate_id = t.affiliate_id
      and (u.revenue_cents <> 0 or u.commission_cents <> 0)
  ), '[]'), state.as_of
from affiliate_total t join organization o on o.id = t.organization_id
cross join (
  select case when exists (select from day_change where organization_id = %(org)s)
      or exists (select from affiliate_day where organization_id = %(org)s and not is_counted)
    then (select counted_until from affiliate_total_state where organization_id = %(org)s)
    else statement_timestamp() end as as_of
) state
where t.organization_id = %(org)s and t.affiliate_id = any(%(affiliates)s::uuid[])
"""


def list_totals(*, organization_id: UUID, affiliate_ids: Sequence[str]) -> dict[str, AffiliateTotals]:
    """Return the totals of some affiliates by id. Budget: 1 statement, over a row per affiliate."""
    params = {"org": organization_id, "affiliates": list(affiliate_ids), "never": NEVER}
    return {row.id: row for row in _TOTALS_ROWS.all(_LIST, params)}
