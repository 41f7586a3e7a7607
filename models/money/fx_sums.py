"""SQL that values money in another currency, exactly and half to even, by fractions handed in as parameters."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction

from domain.money.valuation import Factors

# What a bigint holds with room for the doubled remainder.
_NARROW = 2**62

_AT = (
    "[array_position(%(fx_currencies)s::text[], currency)]"
    "[(occurred_at at time zone 'UTC')::date - %(fx_first_day)s::date + 1]"
)
_TIMES, _OVER = f"(%(fx_times)s::bigint[]){_AT}", f"(%(fx_over)s::bigint[]){_AT}"
_WIDE_TIMES, _WIDE_OVER = f"(%(fx_wide_times)s::numeric[])[{_TIMES}]", f"(%(fx_wide_over)s::numeric[])[{_TIMES}]"

_IS_FOREIGN = "currency <> %(fx_home)s"


def _half_even(product: str, over: str, quotient: str) -> str:
    """Return SQL of a product that is not negative by its divisor, half to even; `quotient` is rounded down."""
    return f"({quotient} + (2 * mod({product}, {over}) + mod({quotient}, 2) > {over})::int)"


def _half_even_wide(product: str, over: str) -> str:
    return _half_even(product, over, f"div({product}, {over})")


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
    wide = _half_even_wide(f"({cents}) * {_WIDE_TIMES}", _WIDE_OVER)
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
    "unnest(%(fx_currencies)s::text[], %(fx_days)s::date[], %(most)s::bigint[], %(times)s::bigint[],"
    " %(over)s::bigint[], %(wide_times)s::numeric[], %(wide_over)s::numeric[])"
    " r (currency, day, most, times, over, wide_times, wide_over)"
)
#: SQL of the day by which a row is valued.
DAY = "(occurred_at at time zone 'UTC')::date"


def narrow(of: str = "r", *, cents: str = "cents") -> str:
    """Return SQL of a row's `cents` times the fraction of its row in the table `of`, half to even.

    Null where that may not fit into eight bytes, which a million rows are fast in, and without a row there.
    """
    product = f"abs({cents}) * {of}.times"
    rounded = _half_even(product, f"{of}.over", f"{product} / {of}.over")
    return f"case when abs({cents}) <= {of}.most then {_sign(cents)} * {rounded} end"


def wide(of: str = "r", *, cents: str = "cents") -> str:
    """Return SQL of the same as a numeric, for what `narrow` leaves; null without a row of `of`."""
    return (
        f"case when abs({cents}) > {of}.most then"
        f" {_sign(cents)} * {_half_even_wide(f'abs({cents}) * {of}.wide_times', f'{of}.wide_over')} end"
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
    """Return the parameters of `RUN_TABLE`: by currency, what its minor units are multiplied with."""
    columns = {"currencies": _list(fractions), **fraction_params(list(fractions.values()))}
    return {f"run_{name}": column for name, column in columns.items()}


def fraction_params(fractions: Sequence[Fraction]) -> dict[str, str]:
    """Return the columns of a table for `narrow` and `wide`, a list each.

    `most` is up to which amount a fraction is multiplied within eight bytes, 0 for a fraction that never is.
    """
    fits = [max(fraction.numerator, fraction.denominator) < _NARROW for fraction in fractions]
    small = [fraction if is_small else Fraction(1) for fraction, is_small in zip(fractions, fits, strict=True)]
    return {
        "most": _list(_NARROW // one.numerator if is_small else 0 for one, is_small in zip(small, fits, strict=True)),
        "times": _list(one.numerator for one in small),
        "over": _list(one.denominator for one in small),
        "wide_times": _list(one.numerator for one in fractions),
        "wide_over": _list(one.denominator for one in fractions),
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
