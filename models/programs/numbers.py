"""Statistics of programs: counts, traffic, last events and spending. Money is in minor units.

Rows of test keys are never counted. Overrides are not counted as conversions.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from domain.money.valuation import Factors
from domain.programs.numbers import SumPart
from models import conditions
from models.db import allowing_table_scans
from models.money import fx_sums
from models.table import Rows

_NET = "commission_cents - reversed_cents"
_COUNTED = f"parent_id is null and status not in {conditions.EARNS_NOTHING}"
# Counts since a time, by program: rows of the first day are counted one by one, later days have stored totals.
_FIRST_DAY = "(%(since)s::timestamptz at time zone 'UTC')::date"
_ON_FIRST_DAY = f"""occurred_at >= %(since)s
      and occurred_at < ({_FIRST_DAY} + 1)::timestamp at time zone 'UTC'"""


def _since_sql(figures: str, one_by_one: str) -> str:
    later_days = f"select program_id, {figures} from {{}} where organization_id = %(org)s and day > {_FIRST_DAY}"
    sums = ", ".join(f"sum({name})::bigint as {name}" for name in figures.split(", "))
    return f"""
  select program_id, {sums} from (
    {later_days.format("program_day")}
    union all
    {later_days.format("day_change")}
    union all
    {one_by_one}
  ) counts group by program_id
"""


_VISITS = _since_sql(
    "clicks",
    f"""select program_id, count(*) from click
    where organization_id = %(org)s and {_ON_FIRST_DAY} and not is_duplicate and outcome <> 'blocked'
    group by program_id""",
)
# By program, since conversions have an index on it.
_EARNING = _since_sql(
    "sales, leads",
    f"""select c.program_id, count(*) filter (where type in ('OneTime', 'Recurring')),
      count(*) filter (where type = 'LeadReward')
    from program p join conversion c on c.organization_id = p.organization_id and c.program_id = p.id
    where p.organization_id = %(org)s and {_ON_FIRST_DAY} and {_COUNTED} and not c.is_test group by c.program_id""",
)
# One conversion pays for all clicks of an hour, so paid clicks are counted by click.
_PAID_CLICKS = f"""
from click k join conversion c on c.organization_id = k.organization_id and c.id = k.conversion_id
where k.organization_id = %(org)s and k.occurred_at >= %(since)s and k.conversion_id is not null
  and c.status not in {conditions.EARNS_NOTHING} and not c.is_test
"""


@dataclass(frozen=True, slots=True)
class ProgramCounts:
    """A program with its counts. `first_conversion_at` None: no conversion yet."""

    id: UUID
    home_currency: str
    first_conversion_at: datetime | None
    affiliates: int
    clicks: int
    sales: int
    leads: int
    paid_clicks: int


_COUNTS_ROWS = Rows(ProgramCounts)
_COUNTS = f"""
select p.id, o.home_currency,
  (select min(occurred_at) from conversion c where c.organization_id = p.organization_id and c.program_id = p.id),
  coalesce(a.number, 0), coalesce(k.clicks, 0), coalesce(e.sales, 0), coalesce(e.leads, 0), coalesce(paid.number, 0)
from program p
join organization o on o.id = p.organization_id
left join (
  select program_id, count(*) as number from affiliate
  where organization_id = %(org)s and deleted_at is null and not is_test group by program_id
) a on a.program_id = p.id
left join ({_VISITS}) k on k.program_id = p.id
left join ({_EARNING}) e on e.program_id = p.id
left join (select k.program_id, count(*) as number {_PAID_CLICKS} group by k.program_id) paid on paid.program_id = p.id
where p.organization_id = %(org)s and p.archived_at is null
order by p.created_at desc, p.id desc
"""


def list_counts(*, organization_id: UUID, since: datetime) -> list[ProgramCounts]:
    """Return the unarchived programs, newest first, with the counts of affiliates and of rows since a time.

    A click counts as paid as long as the row that pays for it counts.
    """
    with allowing_table_scans():
        return _COUNTS_ROWS.all(_COUNTS, {"org": organization_id, "since": since})


class _SumRow(NamedTuple):
    """The result of `fx_sums.sums_sql`, with its currency."""

    currency: str
    home: Decimal | None
    unvalued: Decimal | None

    def to_part(self) -> SumPart:
        """Return the sums in whole minor units."""
        return SumPart(
            self.currency,
            None if self.home is None else int(self.home),
            None if self.unvalued is None else int(self.unvalued),
        )


@dataclass(frozen=True, slots=True)
class Traffic:
    """A program's tracking: the last click and tracked conversion, and the counts since a time.

    `is_installed`: a page with the program's tag was seen.
    """

    last_click_at: datetime | None
    last_conversion_at: datetime | None
    total_clicks: int
    total_conversions: int
    is_installed: bool
    script_seen_at: datetime | None
    script_origin: str | None

    @property
    def verified_by(self) -> list[str]:
        """The evidence that tracking works: a page with the tag, a click, a tracked conversion."""
        seen = {
            "tag": self.is_installed,
            "click": self.last_click_at is not None,
            "conversion": self.last_conversion_at is not None,
        }
        return [name for name, is_seen in seen.items() if is_seen]

    @property
    def is_verified(self) -> bool:
        """Whether there is any evidence that tracking works."""
        return bool(self.verified_by)


#: The time of a program's last click, including deleted ones, and of its last tracked conversion: imported, manual and
#: restored conversions are no evidence of tracking.
LAST_CLICK_AT = """greatest(
    (select max(occurred_at) from click where organization_id = %(org)s and program_id = %(program)s),
    (select max(last_at) from click_hour where organization_id = %(org)s and program_id = %(program)s))"""
LAST_CONVERSION_AT = """(select max(occurred_at) from conversion
   where organization_id = %(org)s and program_id = %(program)s and parent_id is null
     and source not in ('import', 'manual', 'restore'))"""
#: The source of that conversion: `s2s`, `lead`, `cpc`, or the name of a gateway.
LAST_CONVERSION_SOURCE = """(select source from conversion
   where organization_id = %(org)s and program_id = %(program)s and parent_id is null
     and source not in ('import', 'manual', 'restore') order by occurred_at desc, id desc limit 1)"""
_TRAFFIC_ROWS = Rows(Traffic)
_TRAFFIC = f"""
select
  {LAST_CLICK_AT},
  {LAST_CONVERSION_AT},
  coalesce((select clicks from ({_VISITS}) k where program_id = %(program)s), 0),
  (select count(*) from conversion
   where organization_id = %(org)s and program_id = %(program)s and occurred_at >= %(since)s and {_COUNTED}
     and type not in ('Bonus', 'ClickReward') and not is_test)
  + (select count(*) {_PAID_CLICKS} and k.program_id = %(program)s),
  p.install_seen_at is not null, p.script_seen_at, p.script_origin
from program p where p.organization_id = %(org)s and p.id = %(program)s
"""


def find_traffic(*, organization_id: UUID, program_id: UUID, since: datetime) -> Traffic | None:
    """Return a program's traffic, or None without one of this id.

    A test key's conversion is evidence of tracking, but is not counted.
    """
    return _TRAFFIC_ROWS.first(_TRAFFIC, {"org": organization_id, "program": program_id, "since": since})


@dataclass(frozen=True, slots=True)
class ProgramEvent:
    """A click or a conversion; columns of the other kind are None."""

    type: str
    id: UUID
    affiliate_id: UUID
    occurred_at: datetime
    sub_id: str | None
    slug: str | None
    is_duplicate: bool | None
    outcome: str | None
    amount_cents: int | None
    currency: str | None
    commission_cents: int | None
    status: str | None
    conversion_type: str | None
    attribution_method: str | None
    is_test: bool | None
    payout_locked: bool | None


_RECENT_ROWS = Rows(ProgramEvent)
_RECENT = f"""
(select 'click' as type, id, affiliate_id, occurred_at, sub_id, slug, is_duplicate, outcome, null::bigint, null::text,
   null::bigint, null::text, null::text, null::text, null::boolean, null::boolean
 from click where organization_id = %(org)s and program_id = %(program)s
 order by occurred_at desc, id desc limit %(limit)s)
union all
(select 'conversion', id, affiliate_id, occurred_at, sub_id, null, null, null, amount_cents, currency,
   {_NET}, status, type, attribution_method, is_test, payout_locked
 from conversion where organization_id = %(org)s and program_id = %(program)s and parent_id is null
 order by occurred_at desc, id desc limit %(limit)s)
order by occurred_at desc, id desc limit %(limit)s
"""


def list_recent(*, organization_id: UUID, program_id: UUID, limit: int) -> list[ProgramEvent]:
    """Return a program's last clicks and conversions, newest first, without overrides."""
    return _RECENT_ROWS.all(_RECENT, {"org": organization_id, "program": program_id, "limit": limit})


class SpendingCurrencies(NamedTuple):
    """The currencies in which a program's budget was spent, and the time of the first spending (None: never)."""

    currencies: list[str]
    first_at: datetime | None


_IS_SPEND = f"type in ('ClickReward', 'LeadReward') and status not in {conditions.EARNS_NOTHING} and not is_test"
_SPENDING_ROWS = Rows(SpendingCurrencies)
_SPENDING = f"""
select coalesce(array_agg(distinct currency), '{{}}'), min(occurred_at) from conversion
where organization_id = %s and program_id = %s and {_IS_SPEND}
"""
_SPEND_ROWS = Rows(_SumRow)
_SPEND = f"""
select currency, {fx_sums.sums_sql(_NET)} from conversion
where organization_id = %(org)s and program_id = %(program)s and {_IS_SPEND} group by currency
"""


def find_spending_currencies(*, organization_id: UUID, program_id: UUID) -> SpendingCurrencies:
    """Return the currencies of a program's spending and the time of the first."""
    program_spending = _SPENDING_ROWS.first(_SPENDING, (organization_id, program_id))
    assert program_spending is not None
    return program_spending


def list_spending_by_currency(*, organization_id: UUID, program_id: UUID, factors: Factors) -> list[SumPart]:
    """Return a program's spending, by currency."""
    params = {"org": organization_id, "program": program_id, **fx_sums.value_params(factors)}
    return [row.to_part() for row in _SPEND_ROWS.all(_SPEND, params)]
