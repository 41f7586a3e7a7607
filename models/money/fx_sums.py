"""SQL that values money in another currency, exactly and half to even, by fractions passed as parameters."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction

from domain.money.valuation import Factors

# The limit of a bigint with room for the doubled remainder.
_NARROW = 2**62

_AT = (
    "[array_position(%(fx_currencies)s::text[], currency)]"
    "[(occurred_at at time zone 'UTC')::date - %(fx_first_day)s::date + 1]"
)
_TIMES, _OVER = f"(%(fx_times)s::bigint[]){_AT}", f"(%(fx_over)s::bigint[]){_AT}"
_WIDE_TIMES, _WIDE_OVER = f"(%(fx_wide_times)s::numeric[])[{_TIMES}]", f"(%(fx_wide_over)s::numeric[])[{_TIMES}]"

_IS_FOREIGN = "currency <> %(fx_home)s"


def _half_even_sql(product: str, over: str, quotient: str) -> str:
    """Return SQL of a non-negative product divided by `over`, half to even; `quotient` is rounded down."""
    return f"({quotient} + (2 * mod({product}, {over}) + mod({quotient}, 2) > {over})::int)"


def _half_even_wide_sql(product: str, over: str) -> str:
    return _half_even_sql(product, over, f"div({product}, {over})")


def sums_sql(cents: str) -> str:
    """Return SQL for two sums of a group of conversion rows, grouped by currency; takes `value_params`.

    `cents` is an expression of the row's non-negative minor units. The first sum is in home-currency minor units, each
    row valued by its date and rounded alone, null if no row has a rate; the second is the native sum of rows without
    a rate, null if all have one. The rows have the columns `currency` and `occurred_at`.
    """
    return (
        f"case when currency = %(fx_home)s then sum({cents})"
        f" else sum({_value_sql(cents)}) filter (where {_IS_FOREIGN}) end,"
        f" sum({cents}) filter (where {_IS_FOREIGN} and coalesce({_OVER}, 0) = 0)"
    )


def _value_sql(cents: str) -> str:
    wide = _half_even_wide_sql(f"({cents}) * {_WIDE_TIMES}", _WIDE_OVER)
    return f"coalesce(times_fraction({cents}, {_TIMES}, {_OVER}), case when {_OVER} < 0 then {wide} end)"


def value_params(factors: Factors) -> dict[str, object]:
    """Return the parameters of `sums_sql`.

    Two tables of integers, a row per currency and a column per day; `over` 0 is a missing rate. A fraction that is too
    large for them is in two separate lists: then `over` is -1, and `times` its position there.
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
    "unnest(%(fx_currencies)s::text[], %(fx_days)s::date[], %(most)s::bigint[], %(times)s::bigint[],"
    " %(over)s::bigint[], %(wide_times)s::numeric[], %(wide_over)s::numeric[])"
    " r (currency, day, most, times, over, wide_times, wide_over)"
)
#: SQL of the day whose rate values a row.
DAY = "(occurred_at at time zone 'UTC')::date"


def narrow_sql(table: str = "r", *, cents: str = "cents") -> str:
    """Return SQL of a row's `cents` times the fraction of its row in the table `table`, half to even.

    Null if the result may exceed eight bytes (in which a million rows are fast), and without a row there.
    """
    product = f"abs({cents}) * {table}.times"
    rounded = _half_even_sql(product, f"{table}.over", f"{product} / {table}.over")
    return f"case when abs({cents}) <= {table}.most then {_sign(cents)} * {rounded} end"


def wide_sql(table: str = "r", *, cents: str = "cents") -> str:
    """Return SQL of the same as a numeric, for rows where `narrow_sql` is null; null without a row of `table`."""
    return (
        f"case when abs({cents}) > {table}.most then"
        f" {_sign(cents)} * {_half_even_wide_sql(f'abs({cents}) * {table}.wide_times', f'{table}.wide_over')} end"
    )


def _sign(cents: str) -> str:
    return f"case when {cents} < 0 then -1 else 1 end"


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


#: SQL of a table `run` of one exact fraction per currency, for `run_params`.
RUN_TABLE = (
    "unnest(%(run_currencies)s::text[], %(run_most)s::bigint[], %(run_times)s::bigint[], %(run_over)s::bigint[],"
    " %(run_wide_times)s::numeric[], %(run_wide_over)s::numeric[])"
    " run (currency, most, times, over, wide_times, wide_over)"
)


def run_params(fractions: Mapping[str, Fraction]) -> dict[str, str]:
    """Return the parameters of `RUN_TABLE`: by currency, the factor of its minor units."""
    columns = {"currencies": _list(fractions), **fraction_params(list(fractions.values()))}
    return {f"run_{name}": column for name, column in columns.items()}


def fraction_params(fractions: Sequence[Fraction]) -> dict[str, str]:
    """Return the columns of a table for `narrow_sql` and `wide_sql`, a list each.

    `most` is the largest amount whose product with the fraction fits into eight bytes, 0 if none does.
    """
    fits = [max(fraction.numerator, fraction.denominator) < _NARROW for fraction in fractions]
    small = [fraction if is_small else Fraction(1) for fraction, is_small in zip(fractions, fits, strict=True)]
    return {
        "most": _list(_NARROW // part.numerator if is_small else 0 for part, is_small in zip(small, fits, strict=True)),
        "times": _list(fraction.numerator for fraction in small),
        "over": _list(fraction.denominator for fraction in small),
        "wide_times": _list(fraction.numerator for fraction in fractions),
        "wide_over": _list(fraction.denominator for fraction in fractions),
    }


def _pair(factor: Fraction | None, wide: list[Fraction]) -> tuple[int, int]:
    if factor is None:
        return 1, 0
    if max(factor.numerator, factor.denominator) < _NARROW:
        return factor.numerator, factor.denominator
    wide.append(factor)
    return len(wide), -1


# PostgreSQL parses thousands of numbers faster from one text than from an array expression.
def _table(rows: Iterable[Iterable[int]]) -> str:
    lists = [_list(row) for row in rows]
    return _list(lists) if lists and lists[0] != "{}" else "{}"


def _list(items: Iterable[object]) -> str:
    return f"{{{','.join(map(str, items))}}}"
