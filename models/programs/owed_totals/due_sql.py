"""SQL of the amount that is due for a single conversion, and of its home value; used by `daily` and `sums`.

The due amount is what the conversion earns less what was paid for it: positive while it is to be paid, negative (a
debt) if more was paid, in any status. Nothing is due for test conversions and locked history.
"""

from domain.money.valuation import Factors
from models import conditions
from models.money import fx_sums

_EARNED = conditions.earned_cents("c")

#: The amount due for a conversion `c`, in minor units.
CENTS = f"{_EARNED} - c.paid_cents"
#: Whether that amount is owed for a conversion `c`, regardless of payouts that contain it.
IS_OWED = f"(c.status in {conditions.UNPAID} or c.paid_cents > {_EARNED})"
#: Whether anything may be due for a conversion `c`.
IS_COUNTED = "not c.is_test and not c.payout_locked"
#: Until when the amount of a conversion `c` is on hold; null if it is not, as for a debt; infinity if it needs an
#: approval.
HELD_UNTIL = f"""case when c.status = 'Pending' and c.paid_cents < {_EARNED}
    then case when c.needs_approval then 'infinity' else c.hold_until end end"""

#: A table `rate` of the fractions by day, for the start of a `with`; takes `fx_sums.table_params`.
RATES = f"rate as materialized (select * from {fx_sums.TABLE})"
#: Joins `rate` as `r` to rows `due` that have a currency and a day.
RATED = "left join rate r on r.currency = due.currency and r.day = due.day"
#: The home value of `cents` of a row `due` by its `r`, rounded alone; null without a rate.
HOME = f"""case when due.currency = %(fx_home)s then due.cents
    else coalesce({fx_sums.narrow_sql(cents="due.cents")}, {fx_sums.wide_sql(cents="due.cents")}) end"""


def fraction_sql(currency: str) -> str:
    """Return SQL of the two columns by which a currency is multiplied and divided according to its `r`."""
    return ", ".join(
        f"case when {currency} = %(fx_home)s then 1 else {part} end" for part in ("r.wide_times", "r.wide_over")
    )


def days_sql(days: str) -> str:
    """Return SQL of rows `due` of the conversions that occurred on a program's days.

    `days` is a relation of `program_id` and `day`. Each day is looked up by the index of its program: joined with a few
    days, the planner would scan a whole organization.
    """
    return f"""(
    select d.program_id, d.day, c.currency, c.cents, c.held_until from {days} d cross join lateral (
      select c.currency, {CENTS} as cents, {HELD_UNTIL} as held_until from conversion c
      where c.organization_id = %(org)s and c.program_id = d.program_id
        and c.occurred_at >= d.day::timestamp at time zone 'UTC'
        and c.occurred_at < (d.day + 1)::timestamp at time zone 'UTC' and {IS_COUNTED} and {IS_OWED}
      offset 0
    ) c
  ) due"""


def rate_params(factors: Factors) -> dict[str, object]:
    """Return the parameters of `RATES`, `HOME` and `fraction`."""
    return fx_sums.table_params(factors)
