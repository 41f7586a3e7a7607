"""Numbers of a person's links across brands, or of one affiliate: by day or channel tag. Test rows never count.

Days are read from the daily totals (`daily_totals`), whatever the number of clicks and conversions; channel tags, which
have no totals, from the rows.
"""

from datetime import date, datetime
from uuid import UUID

from domain.programs.daily import NumbersPart
from models import conditions
from models.conditions import OF_PERSON
from models.prepared_statements import PreparedStatement
from models.table import Rows

_IS_VISIT = "not {0}.is_duplicate and {0}.outcome <> 'blocked'"
_PARTS_ROWS = Rows(NumbersPart)
_PERSONS = f"{OF_PERSON} and (%(program)s::uuid is null or m.program_id = %(program)s::uuid)"
_MINE = """
with mine as materialized (
  select m.organization_id, m.program_id, m.id from affiliate m
  where {whose}
)"""
_DAY_PARTS = "\n  union all\n  ".join(
    f"""select day::text, currency, clicks, leads, sales, commission_cents
  from mine join {table} d on d.organization_id = mine.organization_id and d.affiliate_id = mine.id
  where d.day between %(first)s and %(last)s"""
    for table in ("affiliate_day", "day_change")
)
_DAYS = f"""{_MINE}
select key, currency, sum(clicks)::bigint, sum(leads)::bigint, sum(sales)::bigint, sum(cents)::bigint
from (
  {_DAY_PARTS}
) part (key, currency, clicks, leads, sales, cents)
group by key, currency
having sum(clicks) <> 0 or sum(leads) <> 0 or sum(sales) <> 0 or sum(cents) <> 0
"""
_BY_DAY = PreparedStatement(_DAYS.format(whose=_PERSONS))
_OF_AFFILIATE = PreparedStatement(_DAYS.format(whose=conditions.OF_AFFILIATE))
# A row that occurred since a time was also created since then, and the index on an affiliate's conversions is by
# creation.
_BY_CHANNEL = PreparedStatement(f"""{_MINE.format(whose=_PERSONS)}
select key, currency, sum(clicks)::bigint, sum(leads)::bigint, sum(sales)::bigint, sum(cents)::bigint
from (
  select k.sub_id, null::text, count(*), 0, 0, 0
  from mine join click k on k.organization_id = mine.organization_id and k.affiliate_id = mine.id
  where k.occurred_at >= %(since)s and k.occurred_at < %(until)s and {_IS_VISIT.format("k")} group by 1
  union all
  select k.sub_id, null, sum(k.number), 0, 0, 0
  from mine join click_hour k on k.organization_id = mine.organization_id and k.program_id = mine.program_id
    and k.affiliate_id = mine.id
  where k.hour >= %(since)s and k.hour < %(until)s and {_IS_VISIT.format("k")} group by 1
  union all
  select c.sub_id, c.currency, 0,
    count(*) filter (where c.type = 'LeadReward' and c.parent_id is null),
    count(*) filter (where c.type in ('OneTime', 'Recurring') and c.parent_id is null),
    sum({conditions.earned_cents("c")})
  from mine join conversion c on c.organization_id = mine.organization_id and c.affiliate_id = mine.id
  where c.created_at >= %(since)s and c.occurred_at >= %(since)s and c.occurred_at < %(until)s
    and not c.is_test and c.status not in {conditions.EARNS_NOTHING} group by 1, 2
) part (key, currency, clicks, leads, sales, cents)
group by key, currency
""")


def any_org_list_by_day(
    *, account_id: UUID | None, email: str | None, program_id: UUID | None, first: date, last: date
) -> list[NumbersPart]:
    """Return the numbers from the first day to the last, by day (UTC); `program_id` None does not filter.

    `email` is the person's verified one, or None. Budget: 1 statement, whatever the number of clicks and conversions.
    """
    params = {"account": account_id, "email": email, "program": program_id, "first": first, "last": last}
    return _PARTS_ROWS.all(_BY_DAY, params)


def any_org_list_by_channel(
    *, account_id: UUID | None, email: str | None, program_id: UUID | None, since: datetime, until: datetime
) -> list[NumbersPart]:
    """Return the numbers from `since` until before `until` by channel tag; the key of rows without a tag is None.

    Budget: 1 statement.
    """
    params = {"account": account_id, "email": email, "program": program_id, "since": since, "until": until}
    return _PARTS_ROWS.all(_BY_CHANNEL, params)


def list_of_affiliate_by_day(
    *, organization_id: UUID, affiliate_id: UUID, first: date, last: date
) -> list[NumbersPart]:
    """Return one affiliate's numbers by day, like `any_org_list_by_day`. Budget: 1 statement."""
    params = {"org": organization_id, "affiliate": affiliate_id, "first": first, "last": last}
    return _PARTS_ROWS.all(_OF_AFFILIATE, params)
