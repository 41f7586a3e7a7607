"""Conversions that are due to be paid, read by previews and claimed by runs.

A conversion is due if it earned (Approved, or Pending, past its hold and without need of an approval) more than was
paid for it, or if more was paid than it now earns (a debt). A conversion in an open line of a payout is not due.
Source: core spec, "Payouts"; a conversion's payability never depends on a job having run.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from domain.money.valuation import Factors
from domain.payouts import plan
from domain.payouts.confirmation import RunFilters
from domain.payouts.plan import PAYOUT_CURRENCY, Due, Payee, RunRate
from models import conditions
from models.db import allowing_table_scans, db
from models.money import fx_sums
from models.table import Rows, columns

_WHOSE = {
    "affiliate_ids": "c.affiliate_id = any(%(affiliate_ids)s::uuid[])",
    "program_id": "c.program_id = %(program_id)s",
}
_WHICH = {
    **_WHOSE,
    "since": "c.occurred_at >= %(since)s",
    "conversion_ids": "c.id = any(%(conversion_ids)s::uuid[])",
}
_FREE = """not exists (
    select from payout_line l where l.organization_id = c.organization_id and l.conversion_id = c.id and l.is_open)"""
_EARNED = conditions.earned_cents("c")
_DUE = f"""
select c.affiliate_id, c.currency, c.id, c.occurred_at,
  c.commission_cents - c.reversed_cents - c.paid_cents as cents
from conversion c
where c.organization_id = %(org)s and c.status in {conditions.UNPAID}
  and (c.status = 'Approved' or c.hold_until <= %(now)s and not c.needs_approval)
  and not c.payout_locked and not c.is_test and c.disputed_at is null
  and c.commission_cents - c.reversed_cents > c.paid_cents and {{which}} and {_FREE}
union all
select c.affiliate_id, c.currency, c.id, c.occurred_at, {_EARNED} - c.paid_cents
from conversion c
where c.organization_id = %(org)s and c.paid_cents > {_EARNED} and {{whose}} and {_FREE}
"""


def _due_sql(filters: RunFilters) -> str:
    """Return SQL of the due rows: affiliate_id, currency, id, occurred_at, cents."""
    return _DUE.format(which=_conditions_sql(_WHICH, filters), whose=_conditions_sql(_WHOSE, filters))


def _conditions_sql(conditions_by_name: Mapping[str, str], filters: RunFilters) -> str:
    parts = [sql for name, sql in conditions_by_name.items() if getattr(filters, name) is not None]
    return " and ".join(parts) or "true"


def _params(organization_id: UUID, filters: RunFilters, now: datetime) -> dict[str, Any]:
    return {
        "org": organization_id,
        "now": now,
        "affiliate_ids": list(filters.affiliate_ids or ()),
        "program_id": filters.program_id,
        "since": filters.since,
        "conversion_ids": list(filters.conversion_ids or ()),
    }


@contextmanager
def joining_whole_tables() -> Iterator[None]:
    """Allow the planner to scan whole tables, and forbid lookups row by row.

    Many open lines may be newer than the tables' statistics, and a run's temporary table has none: the planner would
    estimate no rows and plan a million lookups.
    """
    with (
        allowing_table_scans(),
        db.local_settings(
            "set local enable_nestloop = off; set local enable_mergejoin = off",
            "set local enable_nestloop = on; set local enable_mergejoin = on",
        ),
    ):
        yield


def _planning_for(filters: RunFilters) -> AbstractContextManager[None]:
    is_wide = filters.affiliate_ids is None and filters.conversion_ids is None
    return joining_whole_tables() if is_wide else allowing_table_scans()


class EligibleSum(NamedTuple):
    """The sum due to one affiliate in one currency: the conversions, and their home value by the rates of their dates.

    `conversion_ids_json` is a JSON array of ids, rendered by the database because there may be a million of them; empty
    if not requested. `unvalued_cents` is the native part of `cents` without a rate on its day.
    """

    due: Due
    conversions: int
    conversion_ids_json: str
    home_cents: int
    unvalued_cents: int


# The sum of the lines that a run would write for a group of due rows, by the run's rates: 0 without a rate. The home
# value and the payout are two sums each: numerics are slow, and hardly any amount needs them. Sums that may exceed
# eight bytes are returned as text, which is parsed faster than decimals.
_PAYOUT_CENTS = f"""
(coalesce(sum(case when due.currency = '{PAYOUT_CURRENCY}' then cents else {fx_sums.narrow_sql("run")} end), 0)
  + coalesce(sum({fx_sums.wide_sql("run")}), 0))::text"""
_ELIGIBLE = f"""
select due.affiliate_id::text, due.currency, sum(cents)::bigint, count(*), {{ids}},
  (coalesce(sum(case when due.currency = %(fx_home)s then cents else {fx_sums.narrow_sql()} end), 0)
  + coalesce(sum({fx_sums.wide_sql()}), 0))::text,
  coalesce(sum(cents) filter (where due.currency <> %(fx_home)s and r.over is null), 0)::bigint, {_PAYOUT_CENTS}
from ({{due}}) due
left join {fx_sums.TABLE} on r.currency = due.currency and r.day = {fx_sums.DAY}
left join {fx_sums.RUN_TABLE} on run.currency = due.currency
group by due.affiliate_id, due.currency order by due.affiliate_id, due.currency
"""
_IDS, _NO_IDS = """'["' || string_agg(id::text, '","') || '"]'""", "'[]'"


def list_eligible(
    *,
    organization_id: UUID,
    filters: RunFilters,
    factors: Factors,
    run_rates: Mapping[str, RunRate],
    with_ids: bool,
    now: datetime,
) -> list[EligibleSum]:
    """Return the sums due to every affiliate in every currency; debts are subtracted, valued by their own dates.

    `run_rates` are the rates that payouts would use. Reading the conversions' ids takes time if there are many.
    """
    params = {
        **_params(organization_id, filters, now),
        **fx_sums.table_params(factors),
        **_run_params(run_rates),
    }
    with _planning_for(filters):
        rows = db.run(_ELIGIBLE.format(due=_due_sql(filters), ids=_IDS if with_ids else _NO_IDS), params)
    one_id = functools.cache(UUID)  # an affiliate's rows, one in each currency, share it
    return [
        EligibleSum(
            Due(one_id(affiliate_id), currency, cents, int(payout)), conversions, ids, int(home_cents), unvalued
        )
        for affiliate_id, currency, cents, conversions, ids, home_cents, unvalued, payout in rows
    ]


def _run_params(run_rates: Mapping[str, RunRate]) -> dict[str, str]:
    return fx_sums.run_params({name: plan.usd_factor(name, rate.per_usd) for name, rate in run_rates.items()})


class HoldDay(NamedTuple):
    """The amount that becomes due on a day (UTC, as text) in one currency, in its minor units."""

    day: str
    currency: str
    amount_cents: int
    conversion_count: int


_HELD = """
select (hold_until at time zone 'UTC')::date::text, currency,
  sum(commission_cents - reversed_cents - paid_cents)::bigint, count(*)
from conversion
where organization_id = %(org)s and status = 'Pending' and hold_until > %(now)s and not payout_locked and not is_test
  and disputed_at is null and not needs_approval and commission_cents - reversed_cents > paid_cents
group by 1, 2 order by 1, 2
"""
_hold_days = Rows(HoldDay)


def list_on_hold(*, organization_id: UUID, now: datetime) -> list[HoldDay]:
    """Return the amounts on hold, by the day on which the hold ends. Budget: 1 round trip over all Pending rows."""
    with allowing_table_scans():
        return _hold_days.all(_HELD, {"org": organization_id, "now": now})


_CURRENCIES_AND_FIRST = """
with recursive known (currency) as (
  (select currency from conversion where organization_id = %(org)s order by currency limit 1)
  union all select (select c.currency from conversion c where c.organization_id = %(org)s
    and c.currency > known.currency order by c.currency limit 1) from known where currency is not null
)
select array(select currency from known where currency is not null), (
  select min(first) from program p cross join lateral (select min(c.occurred_at) as first from conversion c
    where c.organization_id = p.organization_id and c.program_id = p.id) theirs where p.organization_id = %(org)s)
"""


def find_currencies_and_first(organization_id: UUID) -> tuple[list[str], datetime | None]:
    """Return the currencies of the organization's conversions and when the first occurred, from the indexes."""
    ((currencies, first),) = db.run(_CURRENCIES_AND_FIRST, {"org": organization_id})
    return currencies, first


# In the order in which lines are written (`models.payouts.runs`).
_CLAIM = "create temp table payout_claim on commit drop as {due} order by id"
_CLAIMED = f"""
select due.affiliate_id, due.currency, sum(cents)::bigint, {_PAYOUT_CENTS}
from payout_claim due
left join {fx_sums.RUN_TABLE} on run.currency = due.currency
group by due.affiliate_id, due.currency order by due.affiliate_id, due.currency
"""


def claim(*, organization_id: UUID, filters: RunFilters, run_rates: Mapping[str, RunRate], now: datetime) -> list[Due]:
    """Write the due conversions into a table of this transaction and return the sums; all later steps read only that.

    One statement reads the conversions, so that the sums and the lines are of the same snapshot.
    """
    with _planning_for(filters):
        db.run(_CLAIM.format(due=_due_sql(filters)), _params(organization_id, filters, now))
        rows = db.run(_CLAIMED, _run_params(run_rates))
    return [Due(affiliate_id, currency, cents, int(payout)) for affiliate_id, currency, cents, payout in rows]


_PAYEE = {
    "affiliate_id": "a.id",
    "is_approved": "a.status = 'Approved'",
    "method": """
  coalesce(k.payout_method, a.payout_method, case when a.wallet_email is not null then 'Wallet' end)""",
    "destination": """
  case when k.payout_method is not null then k.payout_destination
    when a.payout_method is not null then a.payout_destination else a.wallet_email end""",
    "has_tax_form": """
  exists (select from tax_form t where t.organization_id = a.organization_id and t.affiliate_id = a.id)""",
    "has_restored_debt": f"""
  exists (select from conversion c where c.organization_id = a.organization_id and c.affiliate_id = a.id
    and {conditions.is_restored_debt("c")})""",
    "minimum_cents": "case when p.min_payout_cents is not null then p.min_payout_cents else o.min_payout_cents end",
    "minimum_currency": """
  case when p.min_payout_cents is not null then p.min_payout_currency else o.min_payout_currency end""",
}
_PAYEES = f"""
select {columns(Payee, "a", **_PAYEE)}
from unnest(%(ids)s::uuid[]) wanted (id)
join affiliate a on a.organization_id = %(org)s and a.id = wanted.id
join program p on p.organization_id = a.organization_id and p.id = a.program_id
join organization o on o.id = a.organization_id
left join affiliate_account k on k.id = a.account_id
"""
_payees = Rows(Payee)


def find_payees(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> dict[UUID, Payee]:
    """Return how affiliates can be paid, by id: to their own account, else to the one that the operator set.

    Deleted affiliates are still paid.
    """
    with allowing_table_scans():
        payees = _payees.all(_PAYEES, {"org": organization_id, "ids": list(dict.fromkeys(affiliate_ids))})
    return {payee.affiliate_id: payee for payee in payees}
