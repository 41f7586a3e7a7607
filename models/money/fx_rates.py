"""Stored reference rates: native major units per 1 USD, by day of publication. The same for every tenant."""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from domain.money.valuation import PublishedRate
from models.db import allowing_table_scans, db
from models.table import Rows, columns

_PUBLISHED = Rows(PublishedRate)

_NEWEST = """
select per_usd from fx_rate where currency = %s order by published_on desc limit 1
"""


def find_newest(currency: str) -> Decimal | None:
    """Return the currency's newest rate, or None."""
    row = db.row(_NEWEST, (currency,))
    return row[0] if row else None


_NEWEST_OF = """
select wanted.currency, newest.per_usd
from unnest(%s::text[]) wanted (currency)
cross join lateral (
  select per_usd from fx_rate f where f.currency = wanted.currency order by published_on desc limit 1
) newest
"""


def find_newest_rates(currencies: Iterable[str]) -> dict[str, Decimal]:
    """Return the newest rate of each currency that has one."""
    return dict(db.run(_NEWEST_OF, (sorted(set(currencies)),)))


_NEWEST_SINCE = """
select wanted.currency, newest.per_usd, newest.published_on
from unnest(%s::text[]) wanted (currency)
cross join lateral (
  select per_usd, published_on from fx_rate f
  where f.currency = wanted.currency and published_on >= %s
  order by published_on desc limit 1
) newest
"""


def find_newest_since(currencies: Iterable[str], *, since: date) -> dict[str, tuple[Decimal, date]]:
    """Return the newest rate of each currency published since a day, with its day."""
    rows = db.run(_NEWEST_SINCE, (sorted(set(currencies)), since))
    return {currency: (per_usd, published_on) for currency, per_usd, published_on in rows}


_SINCE = f"""
select {columns(PublishedRate, on="published_on")} from fx_rate where currency = any(%s) and published_on >= %s
"""


def list_published(*, currencies: Sequence[str], since: date) -> list[PublishedRate]:
    """Return the rates published for some currencies since a day."""
    return _PUBLISHED.all(_SINCE, (list(currencies), since))


_UPSERT = """
insert into fx_rate as known (currency, published_on, per_usd)
select * from unnest(%s::text[], %s::date[], %s::numeric[])
on conflict (currency, published_on) do update set per_usd = excluded.per_usd where known.per_usd <> excluded.per_usd
returning xmax = 0
"""


def upsert(rates: Sequence[PublishedRate]) -> tuple[int, int]:
    """Store rates, replacing those of the same days; return how many are new and how many replaced one."""
    rows = db.run(
        _UPSERT,
        ([rate.currency for rate in rates], [rate.on for rate in rates], [rate.per_usd for rate in rates]),
    )
    new = sum(is_new for (is_new,) in rows)
    return new, len(rows) - new


_NEWEST_OF_ALL = f"""
with recursive known (currency) as (
  (select currency from fx_rate order by currency limit 1)
  union all
  select (select f.currency from fx_rate f where f.currency > known.currency order by f.currency limit 1)
  from known where currency is not null
)
select {columns(PublishedRate, "newest", currency="known.currency", on="newest.published_on")}
from known
cross join lateral (
  select published_on, per_usd from fx_rate f where f.currency = known.currency order by published_on desc limit 1
) newest
where known.currency is not null
order by known.currency
"""


def list_newest() -> list[PublishedRate]:
    """Return the newest rate of every currency that has one, by code."""
    return _PUBLISHED.all(_NEWEST_OF_ALL)


_WAITING = """
select c.currency, sum(c.commission_cents - c.reversed_cents - c.paid_cents)::bigint
from organization o cross join unnest(%s::text[]) wanted (currency)
join conversion c on c.organization_id = o.id and c.currency = wanted.currency
where c.status in ('Pending', 'Approved') and not c.is_test and not c.payout_locked
  and c.commission_cents - c.reversed_cents > c.paid_cents
group by c.currency
"""


def any_org_sum_unpaid(currencies: Sequence[str]) -> dict[str, int]:
    """Return the unpaid earnings of all organizations' affiliates in each of these currencies, in minor units.

    Reads every conversion in them: use it for currencies in which no payout is possible.
    """
    if not currencies:
        return {}
    with allowing_table_scans():
        return dict(db.run(_WAITING, (list(currencies),)))


# Reads one conversion of each currency and organization, however many there are.
_IN_USE = """
select used.currency, (select published_on from fx_rate f where f.currency = used.currency
  and published_on <= %(today)s order by published_on desc limit 1)
from (
  select home_currency as currency from organization
  union select min_payout_currency from organization
  union select min_payout_currency from program
  union select sold.currency from organization o cross join lateral (
    with recursive known (currency) as (
      (select c.currency from conversion c where c.organization_id = o.id order by c.currency limit 1)
      union all select (select c.currency from conversion c where c.organization_id = o.id
        and c.currency > known.currency order by c.currency limit 1) from known where known.currency is not null
    ) select currency from known) sold
) used where used.currency is not null order by used.currency
"""


def any_org_list_used_currencies(*, today: date) -> list[tuple[str, date | None]]:
    """Return every currency in use, with the day of its newest rate up to today, None without a rate."""
    return [(currency, newest_day) for currency, newest_day in db.run(_IN_USE, {"today": today})]
