"""SQL of what single conversions are due, and of what that is in the home currency. Both say it that keep days and sum.

A conversion is due what it earns less what was paid for it: as long as it is to be paid, and as a debt (less than 0)
where more was paid, whatever it is. Rehearsals and locked history are due nothing.
"""

from domain.money.valuation import Factors
from models import conditions
from models.money import fx_sums

_EARNED = conditions.earned_cents("c")

#: The minor units that a conversion `c` is due.
CENTS = f"{_EARNED} - c.paid_cents"
#: Whether a conversion `c` is due them, but for what a payout holds.
IS_OWED = f"(c.status in {conditions.UNPAID} or c.paid_cents > {_EARNED})"
#: Whether a conversion `c` may be due anything.
IS_COUNTED = "not c.is_test and not c.payout_locked"
#: Until when what a conversion `c` is due is held; null where nothing holds it, as for a debt. Without end for one that
#: needs an approval.
HELD_UNTIL = f"""case when c.status = 'Pending' and c.paid_cents < {_EARNED}
    then case when c.needs_approval then 'infinity' else c.hold_until end end"""

#: A table `rate` of the fractions of days, to begin a `with`; takes `fx_sums.table_params`.
RATES = f"rate as materialized (select * from {fx_sums.TABLE})"
#: Joins `rate` as `r` to rows `due` that have a currency and a day.
RATED = "left join rate r on r.currency = due.currency and r.day = due.day"
#: What `cents` of a row `due` are in the home currency by its `r`, rounded alone; null without a rate.
HOME = f"""case when due.currency = %(fx_home)s then due.cents
    else coalesce({fx_sums.narrow_sql(cents="due.cents")}, {fx_sums.wide_sql(cents="due.cents")}) end"""


def fraction_sql(currency: str) -> str:
    """Return SQL of what a currency is multiplied with and divided by according to its `r`, two columns."""
    return ", ".join(
        f"case when {currency} = %(fx_home)s then 1 else {part} end" for part in ("r.wide_times", "r.wide_over")
    )


def days_sql(days: str) -> str:
    """Return SQL of rows `due` of the conversions that occurred on a program's days.

    `days` is a relation of `program_id` and `day`. Each is looked up by the index of its program, wherever else one may
    be found: beside a few days the planner would take a whole organization for little.
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
