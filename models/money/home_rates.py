"""What values an organization's amounts in its home currency: its currencies and their published rates, in one read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from domain.money.valuation import PublishedRate
from models.table import Rows


@dataclass(frozen=True, slots=True)
class _HomeRow:
    home: str
    currencies: Sequence[str]
    rate_currencies: Sequence[str]
    rate_days: Sequence[date]
    rates: Sequence[Decimal]
    has_program: bool
    has_affiliate: bool


@dataclass(frozen=True, slots=True)
class HomeRates:
    """The home currency, the currencies of all conversions, and the rates published for them since a day.

    `has_program` and `has_affiliate`: the requested ones exist; true if none was requested.
    """

    home: str
    currencies: Sequence[str]
    published: Sequence[PublishedRate]
    has_program: bool
    has_affiliate: bool


# Each currency is found by reading one row of it, however many conversions there are.
_READ = """
with recursive known (currency) as (
  (select currency from conversion where organization_id = %(org)s order by currency limit 1)
  union all
  select (select c.currency from conversion c where c.organization_id = %(org)s and c.currency > known.currency
    order by c.currency limit 1)
  from known where currency is not null
), used as (
  select currency from known where currency is not null
), rate as (
  select currency, published_on, per_usd from fx_rate
  where published_on >= %(since)s and currency = any(array(
    select currency from used union select home_currency from organization where id = %(org)s))
)
select o.home_currency, array(select currency from used),
  array(select currency from rate order by currency, published_on),
  array(select published_on from rate order by currency, published_on),
  array(select per_usd from rate order by currency, published_on),
  %(program)s::uuid is null or exists (select from program where organization_id = %(org)s and id = %(program)s),
  %(affiliate)s::uuid is null or exists (
    select from affiliate where organization_id = %(org)s and id = %(affiliate)s and deleted_at is null)
from organization o where o.id = %(org)s
"""
_ROWS = Rows(_HomeRow)


def read(
    organization_id: UUID, *, since: date, program_id: UUID | None = None, affiliate_id: UUID | None = None
) -> HomeRates:
    """Return what values amounts of days since `since`, and whether a program and an affiliate exist.

    Budget: 1 statement.
    """
    params = {"org": organization_id, "since": since, "program": program_id, "affiliate": affiliate_id}
    row = _ROWS.first(_READ, params)
    assert row is not None
    rates = zip(row.rate_currencies, row.rate_days, row.rates, strict=True)
    return HomeRates(
        home=row.home,
        currencies=row.currencies,
        published=[PublishedRate(*rate) for rate in rates],
        has_program=row.has_program,
        has_affiliate=row.has_affiliate,
    )
