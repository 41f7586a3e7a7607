"""Rules for the stored daily totals of programs and affiliates: they must equal the sums of the conversions.

The owed total of a day that is queued for recomputation, or that has unfolded changes, is not checked.
"""

from collections.abc import Mapping

_SUM_COLUMNS = ("leads", "sales", "refunds", "revenue_cents", "refunded_cents", "commission_cents", "override_cents")
_SUMS = ", ".join(f"sum({name}) as {name}" for name in _SUM_COLUMNS)
_EXPECTED = ", ".join(f"coalesce(expected.{name}, 0)" for name in _SUM_COLUMNS)
_STORED = ", ".join(f"coalesce(stored.{name}, 0)" for name in _SUM_COLUMNS)
_IS_SALE = "c.type in ('OneTime', 'Recurring') and c.parent_id is null"

# Written again, not by the function that maintains the totals, so that the function is checked too.
_CONVERSIONS = f"""
  select {{owner}}, (c.occurred_at at time zone 'UTC')::date as day, c.currency,
    count(*) filter (where c.type = 'LeadReward' and c.parent_id is null) as leads,
    count(*) filter (where {_IS_SALE}) as sales,
    count(*) filter (where {_IS_SALE} and c.refunded_cents > 0) as refunds,
    sum(c.amount_cents) filter (where {_IS_SALE}) as revenue_cents,
    sum(c.refunded_cents) filter (where {_IS_SALE}) as refunded_cents,
    sum(c.commission_cents - c.reversed_cents) as commission_cents,
    sum(c.commission_cents - c.reversed_cents) filter (where c.parent_id is not null) as override_cents
  from conversion c where {{{{org:c}}}} and not c.is_test and c.status not in {{{{earns_nothing}}}} group by 1, 2, 3
"""


def _day_rule(table: str, owner: str) -> str:
    conversions = _CONVERSIONS.format(owner=f"c.{owner}")
    return f"""
select format('%s %s %s', coalesce(stored.{owner}, expected.{owner}), coalesce(stored.day, expected.day),
  coalesce(stored.currency, expected.currency))
from (
  select {owner}, day, currency, {_SUMS} from (
    select {owner}, day, currency, {", ".join(_SUM_COLUMNS)} from {table} d where {{org:d}} and currency is not null
    union all
    select {owner}, day, currency, {", ".join(_SUM_COLUMNS)} from day_change d where {{org:d}} and currency is not null
  ) part group by 1, 2, 3
) stored full join ({conversions}) expected using ({owner}, day, currency)
where ({_STORED}) is distinct from ({_EXPECTED})"""


# Written again for the same reason, including the rounding. The fraction that valued a day is stored with it.
_OWED = """
select format('%s %s %s, held until %s: kept %s (at home %s), its conversions say %s (at home %s)', owed.program_id,
  owed.day, owed.currency, owed.hold, owed.stored, owed.stored_home, owed.expected, owed.expected_home)
from (
  select organization_id, program_id, day, currency, hold, stored.cents as stored, stored.home_cents as stored_home,
    expected.cents as expected, expected.home_cents as expected_home
  from (
    select d.*, coalesce(d.hold_day, '-infinity') as hold from owed_day d where {org:d}
  ) stored full join (
    select c.organization_id, c.program_id, c.day, c.currency, c.hold, sum(c.cents) as cents,
      sum(sign(c.cents) * (div(v.times, f.over)
        + (2 * mod(v.times, f.over) + mod(div(v.times, f.over), 2) > f.over)::int)) as home_cents
    from (
      select c.organization_id, c.program_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency,
        {earned} - c.paid_cents as cents,
        case when c.status <> 'Pending' or {earned} <= c.paid_cents then '-infinity'
          when c.needs_approval then 'infinity' else (c.hold_until at time zone 'UTC')::date end as hold
      from conversion c where {org:c} and not c.is_test and not c.payout_locked
        and (c.status in ('Pending', 'Approved') or c.paid_cents > {earned})
    ) c left join (
      select distinct d.organization_id, d.program_id, d.day, d.currency, d.times, d.over from owed_day d where {org:d}
    ) f using (organization_id, program_id, day, currency)
    cross join lateral (select abs(c.cents) * f.times as times) v
    group by 1, 2, 3, 4, 5
  ) expected using (organization_id, program_id, day, currency, hold)
) owed
where (owed.stored, owed.stored_home) is distinct from (owed.expected, owed.expected_home)
and not exists (select from day_to_reckon t
  where t.organization_id = owed.organization_id and t.program_id = owed.program_id and t.day = owed.day)
and not exists (select from day_change t where t.organization_id = owed.organization_id
  and t.program_id = owed.program_id and t.day = owed.day and t.currency is not null)"""

# The totals of an affiliate contain each day as it was counted; a day that is to be counted again, or whose changes are
# not folded yet, is in there as it was before. The fraction that valued a day is stored with it.
_COUNTED_VALUE = """(sign({0}) * (div(abs({0}) * d.times, d.over)
  + (2 * mod(abs({0}) * d.times, d.over) + mod(div(abs({0}) * d.times, d.over), 2) > d.over)::int))"""
_COUNTED_REVENUE, _COUNTED_COMMISSION = (
    f"case when d.times is null then {plain} else {valued} end"
    for plain, valued in (
        (
            "d.revenue_cents - d.refunded_cents",
            f"{_COUNTED_VALUE.format('d.revenue_cents')} - {_COUNTED_VALUE.format('d.refunded_cents')}",
        ),
        ("d.commission_cents", _COUNTED_VALUE.format("d.commission_cents")),
    )
)
_COUNTED_DAYS = f"""
select format('%s %s %s', d.affiliate_id, d.day, d.currency) from affiliate_day d where {{org:d}} and d.is_counted
  and (d.counted_clicks, d.counted_sales, d.counted_revenue, d.counted_commission)
    is distinct from (d.clicks, d.sales, {_COUNTED_REVENUE}, {_COUNTED_COMMISSION})"""
_TOTALS = """
select format('%s', t.affiliate_id) from affiliate_total t left join (
  select d.affiliate_id, sum(d.counted_clicks) as clicks, sum(d.counted_sales) as sales,
    sum(d.counted_revenue) filter (where d.times is not null) as revenue,
    sum(d.counted_commission) filter (where d.times is not null) as commission
  from affiliate_day d where {org:d} group by d.affiliate_id
) expected using (affiliate_id)
where {org:t} and (t.clicks, t.sales, t.revenue_cents, t.commission_cents) is distinct from
  (coalesce(expected.clicks, 0), coalesce(expected.sales, 0), coalesce(expected.revenue, 0),
    coalesce(expected.commission, 0))"""
_UNCONVERTED = """
select format('%s %s', affiliate_id, currency) from (
  select affiliate_id, currency, revenue_cents, commission_cents from affiliate_unconverted u where {org:u}
) stored full join (
  select d.affiliate_id, d.currency, sum(d.counted_revenue) as revenue, sum(d.counted_commission) as commission
  from affiliate_day d where {org:d} and d.times is null and d.currency is not null group by 1, 2
) expected using (affiliate_id, currency)
where (coalesce(stored.revenue_cents, 0), coalesce(stored.commission_cents, 0))
  is distinct from (coalesce(expected.revenue, 0), coalesce(expected.commission, 0))"""
_LAST_SALES = """
select format('%s: %s', t.affiliate_id, t.last_sale_on) from affiliate_total t
where {org:t} and not exists (select from affiliate_day d
    where {org:d} and d.affiliate_id = t.affiliate_id and not d.is_counted)
  and t.last_sale_on <> coalesce((select max(d.day) from affiliate_day d
    where {org:d} and d.affiliate_id = t.affiliate_id and d.sales > 0), '0001-01-01')"""

#: Rules for what is counted, earned and owed by day.
DAYS: Mapping[str, str] = {
    "an affiliate's daily totals are the sums of their conversions": _day_rule("affiliate_day", "affiliate_id"),
    "a program's daily totals are the sums of its conversions": _day_rule("program_day", "program_id"),
    "the owed total of a day is the sum of its conversions": _OWED,
    "an affiliate's day is counted with its figures, at its rate": _COUNTED_DAYS,
    "an affiliate's totals are the sums of their counted days": _TOTALS,
    "an affiliate's amounts without a rate are the sums of their counted days": _UNCONVERTED,
    "an affiliate's last sale is on their last day with a sale": _LAST_SALES,
}
