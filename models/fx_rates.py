"""Stored reference rates: native major units per 1 USD, by the day they were published. The same for every tenant."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from domain.money.valuation import Factors, Published
from models.db import db

# What a bigint holds with room for the doubled remainder.
_NARROW = 2**62


def newest(currency: str) -> Decimal | None:
    """Return the currency's newest rate, or None when none is stored."""
    row = db.row("select per_usd from fx_rate where currency = %s order by published_on desc limit 1", (currency,))
    return row[0] if row else None


def newest_of(currencies: Iterable[str]) -> dict[str, Decimal]:
    """Return the newest rate of each currency that has one."""
    rows = db.run(
        "select wanted.currency, newest.per_usd from unnest(%s) wanted (currency) cross join lateral"
        " (select per_usd from fx_rate f where f.currency = wanted.currency order by published_on desc limit 1) newest",
        (sorted(set(currencies)),),
    )
    return dict(rows)


def newest_since(currencies: Iterable[str], *, since: date) -> dict[str, tuple[Decimal, date]]:
    """Return the newest rate of each currency that was published since a day, with its day."""
    rows = db.run(
        "select wanted.currency, newest.per_usd, newest.published_on from unnest(%s::text[]) wanted (currency)"
        " cross join lateral (select per_usd, published_on from fx_rate f where f.currency = wanted.currency"
        "  and published_on >= %s order by published_on desc limit 1) newest",
        (sorted(set(currencies)), since),
    )
    return {currency: (per_usd, published_on) for currency, per_usd, published_on in rows}


def published(*, currencies: Sequence[str], since: date) -> list[Published]:
    """Return what was published for some currencies since a day."""
    rows = db.run(
        "select currency, published_on, per_usd from fx_rate where currency = any(%s) and published_on >= %s",
        (list(currencies), since),
    )
    return [Published(*row) for row in rows]


_UPSERT = """
insert into fx_rate as known (currency, published_on, per_usd)
select * from unnest(%s::text[], %s::date[], %s::numeric[])
on conflict (currency, published_on) do update set per_usd = excluded.per_usd where known.per_usd <> excluded.per_usd
returning xmax = 0
"""


def upsert(rates: Sequence[Published]) -> tuple[int, int]:
    """Store rates, in the place of others of the same days; returns how many are new and how many replaced one."""
    rows = db.run(
        _UPSERT,
        ([rate.currency for rate in rates], [rate.on for rate in rates], [rate.per_usd for rate in rates]),
    )
    new = sum(is_new for (is_new,) in rows)
    return new, len(rows) - new


def newest_of_all() -> list[Published]:
    """Return the newest rate of every currency that has one, by code."""
    rows = db.run(
        "with recursive known (currency) as ((select currency from fx_rate order by currency limit 1) union all"
        " select (select f.currency from fx_rate f where f.currency > known.currency order by f.currency limit 1)"
        " from known where currency is not null)"
        " select known.currency, newest.published_on, newest.per_usd from known cross join lateral"
        " (select published_on, per_usd from fx_rate f where f.currency = known.currency"
        "  order by published_on desc limit 1) newest where known.currency is not null order by known.currency"
    )
    return [Published(*row) for row in rows]


# Looks at one conversion of each currency and organization, however many there are.
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


def any_org_newest_in_use(*, today: date) -> list[tuple[str, date | None]]:
    """Return every currency that money is in, with the day of its newest rate up to today, None without one."""
    return [(currency, newest) for currency, newest in db.run(_IN_USE, {"today": today})]


_AT = (
    "[array_position(%(fx_currencies)s::text[], currency)]"
    "[(occurred_at at time zone 'UTC')::date - %(fx_first_day)s::date + 1]"
)
_TIMES, _OVER = f"(%(fx_times)s::bigint[]){_AT}", f"(%(fx_over)s::bigint[]){_AT}"
_WIDE_TIMES, _WIDE_OVER = f"(%(fx_wide_times)s::numeric[])[{_TIMES}]", f"(%(fx_wide_over)s::numeric[])[{_TIMES}]"

_IS_FOREIGN = "currency <> %(fx_home)s"


def summed(cents: str) -> str:
    """Return SQL for two sums of a group of conversion rows, to be grouped by currency; takes `value_params`.

    `cents` is an expression of the row's minor units, not negative. First their sum in home-currency minor units,
    each valued by its date and rounded alone, null when none could be; then the native sum of those that lack a rate,
    null when none does. The rows' columns are `currency` and `occurred_at`.
    """
    return (
        f"case when currency = %(fx_home)s then sum({cents})"
        f" else sum({_valued(cents)}) filter (where {_IS_FOREIGN}) end,"
        f" sum({cents}) filter (where {_IS_FOREIGN} and coalesce({_OVER}, 0) = 0)"
    )


def _valued(cents: str) -> str:
    product, quotient = f"(({cents}) * {_WIDE_TIMES})", f"div(({cents}) * {_WIDE_TIMES}, {_WIDE_OVER})"
    wide = f"{quotient} + (2 * mod({product}, {_WIDE_OVER}) + mod({quotient}, 2) > {_WIDE_OVER})::int"
    return f"coalesce(times_fraction({cents}, {_TIMES}, {_OVER}), case when {_OVER} < 0 then {wide} end)"


def value_params(factors: Factors) -> dict[str, object]:
    """Return the parameters of `summed`.

    Two tables of integers, found by place, a row per currency and a column per day; 0 over is a missing rate. A
    fraction that is too large for them stands in two lists of its own: -1 over, and its place there for the times.
    """
    wide: list[Fraction] = []
    pairs = [[_pair(factor, wide) for factor in row] for row in factors.rows]
    return {
        "fx_home": factors.home,
        "fx_currencies": list(factors.currencies),
        "fx_first_day": factors.first_day,
        "fx_times": _table((pair[0] for pair in row) for row in pairs),
        "fx_over": _table((pair[1] for pair in row) for row in pairs),
        "fx_wide_times": _list(factor.numerator for factor in wide),
        "fx_wide_over": _list(factor.denominator for factor in wide),
    }


#: SQL of a table `r` of exact fractions per currency and day, for `table_params`: for rows that are joined to it.
TABLE = (
    "unnest(%(fx_currencies)s::text[], %(fx_days)s::date[], %(most)s::bigint[], %(narrow_times)s::bigint[],"
    " %(narrow_over)s::bigint[], %(times)s::numeric[], %(over)s::numeric[])"
    " r (currency, day, most, times, over, wide_times, wide_over)"
)
#: SQL of the day by which a row is valued.
DAY = "(occurred_at at time zone 'UTC')::date"


def narrow(cents: str) -> str:
    """Return SQL for minor units that are not negative times the fraction of a joined table `r`, half to even.

    For amounts up to `r.most` alone: it stays within eight bytes, which a million rows are fast in.
    """
    quotient = f"{cents} * r.times / r.over"
    return f"{quotient} + (2 * mod({cents} * r.times, r.over) + ({quotient} & 1) > r.over)::int"


def wide(cents: str) -> str:
    """Return the same as `narrow` for amounts of any size, as a numeric. Null without a row of `r`."""
    quotient = f"div({cents} * r.wide_times, r.wide_over)"
    rest = f"mod({cents} * r.wide_times, r.wide_over)"
    return f"({quotient} + (2 * {rest} + mod({quotient}, 2) > r.wide_over)::int)"


def table_params(factors: Factors) -> dict[str, object]:
    """Return the parameters of `TABLE`, and the home currency as `fx_home`."""
    rows = [
        (currency, factors.first_day + timedelta(days=place), factor)
        for currency, row in zip(factors.currencies, factors.rows, strict=True)
        for place, factor in enumerate(row)
        if factor is not None
    ]
    return {
        "fx_home": factors.home,
        "fx_currencies": _list(row[0] for row in rows),
        "fx_days": _list(row[1] for row in rows),
        **fraction_params([row[2] for row in rows]),
    }


def fraction_params(fractions: Sequence[Fraction]) -> dict[str, str]:
    """Return the columns of a table `r` for `narrow` and `wide`, a list each.

    `most` is up to which amount a fraction is multiplied within eight bytes, 0 for one that never is.
    """
    fits = [max(fraction.numerator, fraction.denominator) < _NARROW for fraction in fractions]
    held = [fraction if is_narrow else Fraction(1) for fraction, is_narrow in zip(fractions, fits, strict=True)]
    return {
        "most": _list(_NARROW // one.numerator if is_narrow else 0 for one, is_narrow in zip(held, fits, strict=True)),
        "narrow_times": _list(one.numerator for one in held),
        "narrow_over": _list(one.denominator for one in held),
        "times": _list(one.numerator for one in fractions),
        "over": _list(one.denominator for one in fractions),
    }


def _pair(factor: Fraction | None, wide: list[Fraction]) -> tuple[int, int]:
    if factor is None:
        return 1, 0
    if max(factor.numerator, factor.denominator) < _NARROW:
        return factor.numerator, factor.denominator
    wide.append(factor)
    return len(wide), -1


# Thousands of numbers are read faster out of one text than out of an array expression.
def _table(rows: Iterable[Iterable[int]]) -> str:
    lists = [_list(row) for row in rows]
    return _list(lists) if lists and lists[0] != "{}" else "{}"


def _list(items: Iterable[object]) -> str:
    return f"{{{','.join(map(str, items))}}}"
