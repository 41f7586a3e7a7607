"""The numbers of programs: what is counted, what is owed, what happened last. Money is in minor units.

Rows of test keys never count. Overrides are owed like everything else and are not counted as conversions.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from domain.money.valuation import Factors
from domain.programs.numbers import Part
from models import conditions
from models.db import db, reading_whole_tables
from models.money import fx_sums
from models.table import Rows

_NET = "commission_cents - reversed_cents"
_COUNTED = f"parent_id is null and status not in {conditions.EARNS_NOTHING}"
_IS_VISIT = "not is_duplicate and outcome <> 'blocked'"
# A row that pays for clicks gathers those of an hour, so they are counted by themselves.
_PAID_CLICKS = f"""
from click k join conversion c on c.organization_id = k.organization_id and c.id = k.conversion_id
where k.organization_id = %(org)s and k.occurred_at >= %(since)s and k.conversion_id is not null
  and c.status not in {conditions.EARNS_NOTHING} and not c.is_test
"""


@dataclass(frozen=True, slots=True)
class ProgramCounts:
    """A program with what is counted without its conversions. `first_conversion_at` None: it has none."""

    id: UUID
    home_currency: str
    first_conversion_at: datetime | None
    affiliates: int
    clicks: int
    paid_clicks: int


_COUNTS_ROWS = Rows(ProgramCounts)
_COUNTS = f"""
select p.id, o.home_currency,
  (select min(occurred_at) from conversion c where c.organization_id = p.organization_id and c.program_id = p.id),
  coalesce(a.number, 0), coalesce(k.number, 0), coalesce(paid.number, 0)
from program p
join organization o on o.id = p.organization_id
left join (
  select program_id, count(*) as number from affiliate
  where organization_id = %(org)s and deleted_at is null and not is_test group by program_id
) a on a.program_id = p.id
left join (
  select program_id, count(*) as number from click
  where organization_id = %(org)s and occurred_at >= %(since)s and {_IS_VISIT} group by program_id
) k on k.program_id = p.id
left join (select k.program_id, count(*) as number {_PAID_CLICKS} group by k.program_id) paid on paid.program_id = p.id
where p.organization_id = %(org)s and p.archived_at is null
order by p.created_at desc, p.id desc
"""


def counts(*, organization_id: UUID, since: datetime) -> list[ProgramCounts]:
    """Return the programs that are not archived, newest first, with their affiliates and the clicks since then.

    A click is paid as long as the row that pays for it counts.
    """
    with reading_whole_tables():
        return _COUNTS_ROWS.all(_COUNTS, {"org": organization_id, "since": since})


_CURRENCIES = """
with recursive known (currency) as (
  (select currency from conversion where organization_id = %(org)s order by currency limit 1)
  union all
  select (select c.currency from conversion c where c.organization_id = %(org)s and c.currency > known.currency
    order by c.currency limit 1)
  from known where currency is not null
)
select currency from known where currency is not null
"""


def currencies(organization_id: UUID) -> list[str]:
    """Return the currencies that the organization has conversions in, looking at one row of each."""
    return [currency for (currency,) in db.run(_CURRENCIES, {"org": organization_id})]


class _Summed(NamedTuple):
    """What `fx_sums.summed` selects, beside its currency."""

    currency: str
    home: Decimal | None
    held: Decimal | None

    def part(self) -> Part:
        """Return it in whole minor units."""
        return Part(
            self.currency,
            None if self.home is None else int(self.home),
            None if self.held is None else int(self.held),
        )


@dataclass(frozen=True, slots=True)
class _SumRow:
    program_id: UUID
    bucket: str | None
    sales: int
    leads: int
    summed: _Summed


@dataclass(frozen=True, slots=True)
class ProgramSum:
    """What the conversions of one program, currency and bucket come to, or a part of it.

    `bucket` is "pending", "available", "settling" (in a payout that is not Paid yet) or None for what is not owed.
    """

    program_id: UUID
    bucket: str | None
    sales: int
    leads: int
    money: Part


_IS_RECENT = f"occurred_at >= %(since)s and {_COUNTED}"
_IS_HELD = "status = 'Pending' and hold_until > %(now)s"
# What every conversion earns that was not denied or paid, as if there were no payouts.
_EARNED = f"""
select program_id, currency, status in {conditions.UNPAID} and not payout_locked as is_owed, {_IS_HELD} as is_held,
  false as is_settling, 1 as sign,
  count(*) filter (where {_IS_RECENT} and type in ('OneTime', 'Recurring')) as sales,
  count(*) filter (where {_IS_RECENT} and type = 'LeadReward') as leads,
  {fx_sums.summed(_NET)}
from conversion
where organization_id = %(org)s and not is_test
  and (occurred_at >= %(since)s or status in {conditions.UNPAID})
group by 1, 2, 3, 4, 5
"""
# For the few that a payout holds or has paid: that money taken out, and what they still have to give (or to get back).
_PAID_OUT = f"""
select program_id, currency, true, part.is_held, part.is_settling, part.sign, 0, 0, {fx_sums.summed("part.cents")}
from (
  select id, bool_or(is_settling) as is_settling from (
    select conversion_id as id, true as is_settling from payout_line where organization_id = %(org)s and is_open
    union all
    select id, false from conversion
    where organization_id = %(org)s and paid_cents > 0 and status in {conditions.UNPAID}
    union all
    select id, false from conversion
    where organization_id = %(org)s and paid_cents > {conditions.earned("conversion")}
  ) named group by id
) named
join conversion c on c.organization_id = %(org)s and c.id = named.id
cross join lateral (select {_IS_HELD} as is_held, {conditions.earned("c")} - paid_cents as cents) due
cross join lateral (values
  (case when status in {conditions.UNPAID} then {_NET} else 0 end, -1, due.is_held, false),
  (abs(due.cents), sign(due.cents)::int, due.is_held and due.cents > 0, named.is_settling)
) as part (cents, sign, is_held, is_settling)
where not is_test and not payout_locked and part.cents > 0
group by program_id, currency, part.is_held, part.is_settling, part.sign
"""
_SUM_ROWS = Rows(_SumRow)
_SUMS = f"""
select program_id,
  case when is_owed then case when is_settling then 'settling' when is_held then 'pending' else 'available' end end,
  sales, leads, currency, sign * home, sign * held
from ({_EARNED} union all {_PAID_OUT})
  part (program_id, currency, is_owed, is_held, is_settling, sign, sales, leads, home, held)
"""


def sums(*, organization_id: UUID, factors: Factors, since: datetime, now: datetime) -> list[ProgramSum]:
    """Return what the organization's conversions come to: counts of those since `since`, money of all.

    Some parts are to be taken off others: their money is less than 0. One pass over the table, which only a plan that
    reads all of it can make fast.
    """
    params = {"org": organization_id, "since": since, "now": now, **fx_sums.value_params(factors)}
    with reading_whole_tables():
        rows = _SUM_ROWS.all(_SUMS, params)
    return [ProgramSum(row.program_id, row.bucket, row.sales, row.leads, row.summed.part()) for row in rows]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a program's tracking brought in: the last click and conversion of all, and the numbers since a moment.

    `is_installed`: a page was seen to carry the program's tag.
    """

    last_click_at: datetime | None
    last_conversion_at: datetime | None
    total_clicks: int
    total_conversions: int
    is_installed: bool
    script_seen_at: datetime | None
    script_origin: str | None

    @property
    def is_verified(self) -> bool:
        """Whether tracking was ever seen to work."""
        return self.is_installed or self.last_click_at is not None or self.last_conversion_at is not None


#: The moment of a program's last click, the forgotten ones too, and of its last conversion.
LAST_CLICK = """greatest(
    (select max(occurred_at) from click where organization_id = %(org)s and program_id = %(program)s),
    (select max(last_at) from click_hour where organization_id = %(org)s and program_id = %(program)s))"""
LAST_CONVERSION = """(select max(occurred_at) from conversion
   where organization_id = %(org)s and program_id = %(program)s and parent_id is null)"""
_TRAFFIC_ROWS = Rows(Traffic)
_TRAFFIC = f"""
select
  {LAST_CLICK},
  {LAST_CONVERSION},
  (select count(*) from click
   where organization_id = %(org)s and program_id = %(program)s and occurred_at >= %(since)s and {_IS_VISIT}),
  (select count(*) from conversion
   where organization_id = %(org)s and program_id = %(program)s and occurred_at >= %(since)s and {_COUNTED}
     and type not in ('Bonus', 'ClickReward') and not is_test)
  + (select count(*) {_PAID_CLICKS} and k.program_id = %(program)s),
  p.install_seen_at is not null, p.script_seen_at, p.script_origin
from program p where p.organization_id = %(org)s and p.id = %(program)s
"""


def traffic(*, organization_id: UUID, program_id: UUID, since: datetime) -> Traffic:
    """Return a program's traffic. A test key's conversion shows that tracking works, so it is seen and not counted."""
    found = _TRAFFIC_ROWS.first(_TRAFFIC, {"org": organization_id, "program": program_id, "since": since})
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class ProgramEvent:
    """A click or a conversion; what only the other kind has is None."""

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


_RECENT_ROWS = Rows(ProgramEvent)
_RECENT = f"""
(select 'click' as type, id, affiliate_id, occurred_at, sub_id, slug, is_duplicate, outcome, null::bigint, null::text,
   null::bigint, null::text, null::text, null::text, null::boolean
 from click where organization_id = %(org)s and program_id = %(program)s
 order by occurred_at desc, id desc limit %(limit)s)
union all
(select 'conversion', id, affiliate_id, occurred_at, sub_id, null, null, null, amount_cents, currency,
   {_NET}, status, type, attribution_method, is_test
 from conversion where organization_id = %(org)s and program_id = %(program)s and parent_id is null
 order by occurred_at desc, id desc limit %(limit)s)
order by occurred_at desc, id desc limit %(limit)s
"""


def recent(*, organization_id: UUID, program_id: UUID, limit: int) -> list[ProgramEvent]:
    """Return a program's last clicks and conversions, newest first. Overrides are not shown as events."""
    return _RECENT_ROWS.all(_RECENT, {"org": organization_id, "program": program_id, "limit": limit})


class Spending(NamedTuple):
    """Which currencies a program's budget was spent in, and when it was first (None: never)."""

    currencies: list[str]
    first_at: datetime | None


_IS_SPEND = f"type in ('ClickReward', 'LeadReward') and status not in {conditions.EARNS_NOTHING} and not is_test"
_SPENDING_ROWS = Rows(Spending)
_SPENDING = f"""
select coalesce(array_agg(distinct currency), '{{}}'), min(occurred_at) from conversion
where organization_id = %s and program_id = %s and {_IS_SPEND}
"""
_SPEND_ROWS = Rows(_Summed)
_SPEND = f"""
select currency, {fx_sums.summed(_NET)} from conversion
where organization_id = %(org)s and program_id = %(program)s and {_IS_SPEND} group by currency
"""


def spending(*, organization_id: UUID, program_id: UUID) -> Spending:
    """Return what a program's budget was spent in, and since when."""
    found = _SPENDING_ROWS.first(_SPENDING, (organization_id, program_id))
    assert found is not None
    return found


def spend(*, organization_id: UUID, program_id: UUID, factors: Factors) -> list[Part]:
    """Return what was spent of a program's budget, by currency."""
    params = {"org": organization_id, "program": program_id, **fx_sums.value_params(factors)}
    return [row.part() for row in _SPEND_ROWS.all(_SPEND, params)]
