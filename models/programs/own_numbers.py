"""Numbers of a person's links across brands, or of one affiliate: by day or channel tag. Test rows never count."""

from datetime import datetime
from uuid import UUID

from domain.programs.daily import NumbersPart
from models import conditions
from models.conditions import OF_PERSON
from models.prepared_statements import PreparedStatement
from models.table import Rows

_IS_VISIT = "not {0}.is_duplicate and {0}.outcome <> 'blocked'"
_PARTS_ROWS = Rows(NumbersPart)
# A row that occurred since a time was also created since then, and the index on an affiliate's conversions is by
# creation.
_PARTS = f"""
with mine as materialized (
  select m.organization_id, m.program_id, m.id from affiliate m
  where {{whose}}
)
select key, currency, sum(clicks)::bigint, sum(leads)::bigint, sum(sales)::bigint, sum(cents)::bigint
from (
  select {{click_key}}, null::text, count(*), 0, 0, 0
  from mine join click k on k.organization_id = mine.organization_id and k.affiliate_id = mine.id
  where k.occurred_at >= %(since)s and k.occurred_at < %(until)s and {_IS_VISIT.format("k")} group by 1
  union all
  select {{hour_key}}, null, sum(k.number), 0, 0, 0
  from mine join click_hour k on k.organization_id = mine.organization_id and k.program_id = mine.program_id
    and k.affiliate_id = mine.id
  where k.hour >= %(since)s and k.hour < %(until)s and {_IS_VISIT.format("k")} group by 1
  union all
  select {{conversion_key}}, c.currency, 0,
    count(*) filter (where c.type = 'LeadReward' and c.parent_id is null),
    count(*) filter (where c.type in ('OneTime', 'Recurring') and c.parent_id is null),
    sum({conditions.earned_cents("c")})
  from mine join conversion c on c.organization_id = mine.organization_id and c.affiliate_id = mine.id
  where c.created_at >= %(since)s and c.occurred_at >= %(since)s and c.occurred_at < %(until)s
    and not c.is_test and c.status not in {conditions.EARNS_NOTHING} group by 1, 2
) part (key, currency, clicks, leads, sales, cents)
group by key, currency
"""
_PERSONS = f"{OF_PERSON} and (%(program)s::uuid is null or m.program_id = %(program)s::uuid)"
_DAY = "({} at time zone 'UTC')::date::text"
_DAYS = {
    "click_key": _DAY.format("k.occurred_at"),
    "hour_key": _DAY.format("k.hour"),
    "conversion_key": _DAY.format("c.occurred_at"),
}
_BY_DAY = PreparedStatement(_PARTS.format(whose=_PERSONS, **_DAYS))
_BY_CHANNEL = PreparedStatement(
    _PARTS.format(whose=_PERSONS, click_key="k.sub_id", hour_key="k.sub_id", conversion_key="c.sub_id")
)
_OF_AFFILIATE = PreparedStatement(_PARTS.format(whose=conditions.OF_AFFILIATE, **_DAYS))


def any_org_list_by_day(
    *, account_id: UUID | None, email: str | None, program_id: UUID | None, since: datetime, until: datetime
) -> list[NumbersPart]:
    """Return the numbers from `since` until before `until`, by day (UTC); `program_id` None does not filter.

    `email` is the person's verified one, or None. Budget: 1 statement.
    """
    params = {"account": account_id, "email": email, "program": program_id, "since": since, "until": until}
    return _PARTS_ROWS.all(_BY_DAY, params)


def any_org_list_by_channel(
    *, account_id: UUID | None, email: str | None, program_id: UUID | None, since: datetime, until: datetime
) -> list[NumbersPart]:
    """Return the same by channel tag; the key of rows without a tag is None. Budget: 1 statement."""
    params = {"account": account_id, "email": email, "program": program_id, "since": since, "until": until}
    return _PARTS_ROWS.all(_BY_CHANNEL, params)


def list_of_affiliate_by_day(
    *, organization_id: UUID, affiliate_id: UUID, since: datetime, until: datetime
) -> list[NumbersPart]:
    """Return one affiliate's numbers by day, like `any_org_list_by_day`. Budget: 1 statement."""
    params = {"org": organization_id, "affiliate": affiliate_id, "since": since, "until": until}
    return _PARTS_ROWS.all(_OF_AFFILIATE, params)
