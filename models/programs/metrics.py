"""Reads the daily totals of programs and affiliates, valued in the home currency by the rate of each day.

The total of a program or an affiliate for one day and currency is valued as a whole and rounded once.
"""

import functools
from dataclasses import dataclass
from uuid import UUID

from domain.money.valuation import Factors
from domain.programs.days import DayRange, PeriodPair
from domain.programs.metrics import MAX_ROWS, BoardEntry, BoardMetric, MetricsGroup, MetricsPart, PeriodPart
from models.db import allowing_table_scans
from models.money import fx_sums
from models.programs.daily_totals import FIGURES
from models.table import Rows

_MONEY = ("revenue", "refunded", "commission", "override")
_COUNTED = ("clicks", "leads", "sales", "refunds")
_HOME_AND_HELD = tuple(f"{name}_{kind}" for name in _MONEY for kind in ("home", "held"))

_KEYS = {
    MetricsGroup.day: "day::text",
    MetricsGroup.week: "date_trunc('week', day)::date::text",
    MetricsGroup.month: "date_trunc('month', day)::date::text",
    MetricsGroup.program: "program_id::text",
    MetricsGroup.affiliate: "affiliate_id::text",
    MetricsGroup.country: "country",
}
_NAMES = {
    MetricsGroup.program: "select name from program where organization_id = %(org)s and id = key::uuid",
    MetricsGroup.affiliate: "select full_name from affiliate where organization_id = %(org)s and id = key::uuid",
}


@dataclass(frozen=True, slots=True)
class MetricsScope:
    """Whose metrics are read; None is every program, archived ones too, and every affiliate."""

    organization_id: UUID
    program_id: UUID | None = None
    affiliate_id: UUID | None = None


def _value_sql(name: str) -> str:
    cents = f"cell.{name}_cents"
    by_rate = f"coalesce({fx_sums.narrow_sql(cents=cents)}, {fx_sums.wide_sql(cents=cents)})"
    return f"""sum(case when cell.currency = %(fx_home)s then {cents} else {by_rate} end) as {name}_home,
  sum({cents}) filter (where cell.currency <> %(fx_home)s and r.over is null) as {name}_held"""


_CELLS = f"""
with part as (
  {{parts}}
), cell as (
  select key, currency, day, {", ".join(f"sum({name}) as {name}" for name in _COUNTED)},
    {", ".join(f"sum({name}_cents)::bigint as {name}_cents" for name in _MONEY)}
  from part group by key, owner, day, currency
), valued as (
  select key, cell.currency, {", ".join(f"sum({name})::bigint as {name}" for name in _COUNTED)},
    {", ".join(map(_value_sql, _MONEY))}
  from cell left join {fx_sums.TABLE} on r.currency = cell.currency and r.day = cell.day
  group by key, cell.currency
)"""
_PART = f"""select {{owner}} as owner, {{key}} as key, day, currency, {FIGURES} from {{table}}
  where organization_id = %(org)s and day between %(first)s and %(last)s
    and (%(program)s::uuid is null or program_id = %(program)s){{narrowed}}"""
_OF_ONE = " and (%(affiliate)s::uuid is null or affiliate_id = %(affiliate)s)"
_SHOWN = ", ".join((*_COUNTED, *(f"{name}::bigint" for name in _HOME_AND_HELD)))
_SUMMED = ", ".join(
    (*(f"sum({name})::bigint" for name in _COUNTED), *(f"sum({name})::bigint" for name in _HOME_AND_HELD))
)
_PARTS = f"""{_CELLS}
select false, key, ({{name}}), currency, {_SHOWN} from valued where {{limited}}
union all
select true, null, null, currency, {_SUMMED} from valued group by currency
"""
_MOST_REVENUE = f"""key in (select key from valued group by key
  order by coalesce(sum(revenue_home), 0) desc, coalesce(sum(commission_home), 0) desc, sum(clicks) desc, key
  limit {MAX_ROWS})"""
_PARTS_ROWS = Rows(MetricsPart)


@functools.cache
def _cells_sql(key: str, *, by_affiliate: bool, part: str = _PART) -> str:
    """Return SQL of the totals by a key: the days of affiliates or programs, and the changes not folded yet."""
    totals, owner = ("affiliate_day", "affiliate_id") if by_affiliate else ("program_day", "program_id")
    narrowed = _OF_ONE if by_affiliate else ""
    parts = (part.format(owner=owner, key=key, table=table, narrowed=narrowed) for table in (totals, "day_change"))
    return "\n  union all\n  ".join(parts)


def list_parts(scope: MetricsScope, days: DayRange, group: MetricsGroup, factors: Factors) -> list[MetricsPart]:
    """Return the totals of the days by key and currency, and overall. At most MOST_ROWS affiliates have a key.

    Budget: 1 statement, over a row per program or affiliate, day and currency, whatever the number of sales.
    """
    is_of_affiliates = group is MetricsGroup.affiliate
    cells = _cells_sql(_KEYS[group], by_affiliate=is_of_affiliates or scope.affiliate_id is not None)
    sql = _PARTS.format(
        parts=cells, name=_NAMES.get(group, "null::text"), limited=_MOST_REVENUE if is_of_affiliates else "true"
    )
    with allowing_table_scans():
        return _PARTS_ROWS.all(sql, _params(scope, days, factors))


_PERIOD_ROWS = Rows(PeriodPart)
_PERIODS = f"""
with period (is_current, first, last, last_compared) as (
  values (true, %(first)s::date, %(last)s::date, %(last_compared)s::date),
    (false, %(first_before)s::date, %(last_before)s::date, %(last_compared_before)s::date)
), part as (
  {{parts}}
), cell as (
  select is_current, is_compared, key, currency, day, {", ".join(f"sum({name}) as {name}" for name in _COUNTED)},
    {", ".join(f"sum({name}_cents)::bigint as {name}_cents" for name in _MONEY)}
  from part group by is_current, is_compared, key, owner, day, currency
), valued as (
  select is_current, is_compared, key, cell.currency,
    {", ".join(f"sum({name})::bigint as {name}" for name in _COUNTED)},
    {", ".join(map(_value_sql, _MONEY))}
  from cell left join {fx_sums.TABLE} on r.currency = cell.currency and r.day = cell.day
  group by is_current, is_compared, key, cell.currency
)
select is_current, is_compared, false, key, null, currency, {_SHOWN} from valued
"""
_PERIOD_PART = f"""select is_current, coalesce(day <= last_compared, false) as is_compared, {{owner}} as owner,
    {{key}} as key, day, currency, {FIGURES}
  from period join {{table}} on organization_id = %(org)s and day between period.first and period.last
    and (%(program)s::uuid is null or program_id = %(program)s){{narrowed}}"""


def list_period_parts(
    scope: MetricsScope, periods: PeriodPair, group: MetricsGroup, factors: Factors
) -> list[PeriodPart]:
    """Return the totals of two ranges by day, week or month and currency. A day may be in both.

    Budget: 1 statement, over a row per program or affiliate, day and currency, whatever the number of sales.
    """
    by_affiliate = scope.affiliate_id is not None
    sql = _PERIODS.format(parts=_cells_sql(_KEYS[group], by_affiliate=by_affiliate, part=_PERIOD_PART))
    compared, compared_before = periods.compared or (None, None)
    params = _params(scope, periods.days, factors) | {
        "first_before": periods.before.first,
        "last_before": periods.before.last,
        "last_compared": compared and compared.last,
        "last_compared_before": compared_before and compared_before.last,
    }
    with allowing_table_scans():
        return _PERIOD_ROWS.all(sql, params)


_NET_REVENUE = "coalesce(revenue_home, 0) - coalesce(refunded_home, 0)"
_VALUES = {
    BoardMetric.revenue: (_NET_REVENUE, "revenue_held - refunded_held"),
    BoardMetric.commission: ("coalesce(commission_home, 0)", "commission_held"),
}
_BOARD_ROWS = Rows(BoardEntry)
_BOARD = f"""{_CELLS}, scored as (
  select key::uuid as id, sum({{value}})::bigint as value, jsonb_object_agg(currency, {{held}}) filter (
    where {{held}} <> 0) as held, sum(clicks)::bigint as clicks, sum(leads)::bigint as leads,
    sum(sales)::bigint as sales, sum({_NET_REVENUE})::bigint as net_revenue,
    sum(coalesce(commission_home, 0))::bigint as commission
  from valued group by key
)
select rank() over (order by s.value desc), a.id::text, a.full_name, a.program_id::text, s.value, s.held, s.clicks,
  s.leads, s.sales, s.net_revenue, s.commission
from scored s join affiliate a on a.organization_id = %(org)s and a.id = s.id
where s.value > 0 and a.deleted_at is null and not a.is_test
order by 1, a.full_name, a.id limit %(limit)s
"""


def list_board(
    scope: MetricsScope, days: DayRange, metric: BoardMetric, factors: Factors, *, limit: int
) -> list[BoardEntry]:
    """Return up to `limit` affiliates with a nonzero metric in these days, highest first.

    Deleted and test affiliates are left out. Budget: 1 statement.
    """
    value, unvalued = _VALUES.get(metric, (str(metric), "null::bigint"))
    sql = _BOARD.format(parts=_cells_sql(_KEYS[MetricsGroup.affiliate], by_affiliate=True), value=value, held=unvalued)
    with allowing_table_scans():
        return _BOARD_ROWS.all(sql, {**_params(scope, days, factors), "limit": limit})


def _params(scope: MetricsScope, days: DayRange, factors: Factors) -> dict[str, object]:
    return {
        "org": scope.organization_id,
        "program": scope.program_id,
        "affiliate": scope.affiliate_id,
        "first": days.first,
        "last": days.last,
        **fx_sums.table_params(factors),
    }
