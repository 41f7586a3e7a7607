"""Daily totals of programs and affiliates, which the database maintains in addition to conversions and clicks.

A trigger adds a change of a row's day (`day_change`) in the same transaction. The total of a day is the stored one
(`program_day`, `affiliate_day`) plus the changes that are not folded into it yet: `metrics` reads both.
"""

from uuid import UUID

from models import advisory_locks
from models.conditions import EARNS_NOTHING
from models.db import allowing_table_scans, db
from models.programs.owed_totals import daily

_COUNTS = (
    "clicks",
    "leads",
    "sales",
    "refunds",
    "revenue_cents",
    "refunded_cents",
    "commission_cents",
    "override_cents",
)

#: The columns of a daily total.
FIGURES = ", ".join(_COUNTS)
#: The same, summed.
SUMS = ", ".join(f"sum({name}) as {name}" for name in _COUNTS)

_ADDED = ", ".join(f"{name} = kept.{name} + excluded.{name}" for name in _COUNTS)
_OF_PROGRAM = "organization_id, program_id, day, currency, country"
_OF_AFFILIATE = "organization_id, program_id, affiliate_id, day, currency, country"


def _add_sql(table: str, key: str, unique: str) -> str:
    return f"""insert into {table} as kept ({key}, {FIGURES})
  select {key}, {SUMS} from gone group by {key} order by {key}
  on conflict ({unique}) do update set {_ADDED}"""


_FOLD = f"""
with gone as (
  delete from day_change where (organization_id, id) in (
    select organization_id, id from day_change order by organization_id, id limit %(limit)s
  ) returning *
), of_affiliates as (
  {_add_sql("affiliate_day", _OF_AFFILIATE, "organization_id, affiliate_id, day, currency, country")}
), of_programs as (
  {_add_sql("program_day", _OF_PROGRAM, "organization_id, day, program_id, currency, country")}
)
select count(*) from gone
"""


def any_org_fold(*, limit: int) -> int:
    """Fold up to `limit` changes into their days; return how many. The totals are the same before and after."""
    advisory_locks.any_org_stage_daily_totals_lock()
    row = db.row(_FOLD, {"limit": limit})
    assert row is not None
    return int(row[0])


_OF_CONVERSIONS = _COUNTS[1:]
# One statement reads one snapshot: rows committed meanwhile have their own change, which is kept.
_RECOUNT = f"""
with no_changes as (delete from day_change where organization_id = %(org)s),
no_affiliates as (delete from affiliate_day where organization_id = %(org)s),
no_programs as (delete from program_day where organization_id = %(org)s)
insert into day_change ({_OF_AFFILIATE}, {FIGURES})
select {_OF_AFFILIATE}, {SUMS} from (
  select c.organization_id, c.program_id, c.affiliate_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency,
    null::text as country, 0::bigint as clicks, {", ".join(f"f.{name}" for name in _OF_CONVERSIONS)}
  from conversion c cross join lateral day_figures(c) f
  where c.organization_id = %(org)s and not c.is_test and c.status not in {EARNS_NOTHING}
  union all
  select organization_id, program_id, affiliate_id, (occurred_at at time zone 'UTC')::date, null, country, 1,
    {", ".join("0" for _ in _OF_CONVERSIONS)}
  from click where organization_id = %(org)s and not is_duplicate and outcome <> 'blocked'
  union all
  select organization_id, program_id, affiliate_id, (hour at time zone 'UTC')::date, null, country, number,
    {", ".join("0" for _ in _OF_CONVERSIONS)}
  from click_hour where organization_id = %(org)s and not is_duplicate and outcome <> 'blocked'
) counted group by {_OF_AFFILIATE}
"""
# The totals of affiliates contain their days as they were counted: without days they start at zero.
_FORGET_TOTALS = """
update affiliate_total
set clicks = 0, sales = 0, revenue_cents = 0, commission_cents = 0, last_sale_on = '0001-01-01'
where organization_id = %(org)s
"""
_FORGET_UNCONVERTED = "delete from affiliate_unconverted where organization_id = %(org)s"


def stage_recount(organization_id: UUID) -> None:
    """Stage the recount of an organization's days from its conversions and clicks.

    The next tick folds them, recomputes what they owe, and counts the totals of affiliates again. While the recount
    runs nothing is folded; sales and clicks continue.
    """
    advisory_locks.any_org_stage_daily_totals_lock()
    db.stage("set local statement_timeout = '10min'")
    with allowing_table_scans():
        db.stage(_RECOUNT, {"org": organization_id})
        for sql in (_FORGET_TOTALS, _FORGET_UNCONVERTED):
            db.stage(sql, {"org": organization_id})
        daily.stage_forget(organization_id)
