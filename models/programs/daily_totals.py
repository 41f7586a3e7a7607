"""What every day of a program and of an affiliate came to, as the database keeps it beside conversions and clicks.

A change of a row adds a change of its day, in the same transaction and by trigger. What a day comes to is what it holds
(`program_day`, `affiliate_day`) and the changes that are not folded into it yet (`day_change`): `metrics` reads both.
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

#: What a day holds, as the columns of its tables.
FIGURES = ", ".join(_COUNTS)
#: The same, summed.
SUMS = ", ".join(f"sum({name}) as {name}" for name in _COUNTS)

_ADDED = ", ".join(f"{name} = kept.{name} + excluded.{name}" for name in _COUNTS)
_OF_PROGRAM = "organization_id, program_id, day, currency, country"
_OF_AFFILIATE = "organization_id, program_id, affiliate_id, day, currency, country"


def _into(table: str, key: str, unique: str) -> str:
    return f"""insert into {table} as kept ({key}, {FIGURES})
  select {key}, {SUMS} from gone group by {key} order by {key}
  on conflict ({unique}) do update set {_ADDED}"""


_FOLD = f"""
with gone as (
  delete from day_change where (organization_id, id) in (
    select organization_id, id from day_change order by organization_id, id limit %(limit)s
  ) returning *
), of_affiliates as (
  {_into("affiliate_day", _OF_AFFILIATE, "organization_id, affiliate_id, day, currency, country")}
), of_programs as (
  {_into("program_day", _OF_PROGRAM, "organization_id, day, program_id, currency, country")}
)
select count(*) from gone
"""


def any_org_fold(*, limit: int) -> int:
    """Fold up to `limit` changes into their days; return how many. What a day comes to is the same before and after."""
    advisory_locks.any_org_stage_daily_totals_lock()
    row = db.row(_FOLD, {"limit": limit})
    assert row is not None
    return int(row[0])


_OF_CONVERSIONS = _COUNTS[1:]
# One statement looks at one moment: what is committed meanwhile has a change of its own, which is left alone.
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
) said group by {_OF_AFFILIATE}
"""


def stage_recount(organization_id: UUID) -> None:
    """Stage that an organization's days are counted anew, out of its conversions and clicks.

    They are folded with the next tick, which has what they owe reckoned. While it runs nothing is folded; sales and
    clicks go on.
    """
    advisory_locks.any_org_stage_daily_totals_lock()
    db.stage("set local statement_timeout = '10min'")
    with allowing_table_scans():
        db.stage(_RECOUNT, {"org": organization_id})
        daily.stage_forget(organization_id)
