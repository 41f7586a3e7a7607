"""Amounts that programs owe: computed from the conversions in Python, and as the service stores them."""

from collections import defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from domain.money import fx
from domain.programs.numbers import Money
from models import db
from models.ledger import day_rules, rules
from models.programs import daily_totals
from pipelines import owed_days
from pipelines.programs import numbers
from tests.support.rows.brands import Brand

BUCKETS = ("pending", "available", "settling")

_CONVERSIONS = """
select program_id, currency, (occurred_at at time zone 'UTC')::date, status, hold_until,
  commission_cents - reversed_cents, paid_cents,
  exists (select from payout_line l where l.conversion_id = c.id and l.is_open)
from conversion c where not is_test and not payout_locked
"""
_RATES = "select currency, published_on, per_usd from fx_rate order by published_on"


def fold_changes(brand: Brand) -> None:
    """Fold every change into its day, as the scheduled job does, without recomputing totals."""
    with db.any_org_work():
        while daily_totals.any_org_fold(limit=1_000) == 1_000:
            pass
    assert brand.rows("select 1 from day_change") == []


def compute_owed_days(brand: Brand) -> None:
    """Recompute the due days of the brand, as the job does."""
    with db.unit_of_work(brand.id):
        owed_days.compute(brand.id)


def list_day_violations(brand: Brand) -> list[str]:
    """Return the violations of the ledger check's rules about stored days."""
    with db.unit_of_work(brand.id):
        rows = [db.db.run(rules.scope_to_organization(sql, brand.id)) for sql in day_rules.DAYS.values()]
    return [exception for rows in rows for (exception,) in rows]


def read_stored_totals(brand: Brand, now: datetime) -> dict[UUID, list[Money]]:
    """Return pending, available and settling by program, as the statistics have them."""
    with db.unit_of_work(brand.id):
        rows = numbers.list_stats(organization_id=brand.id, now=now)
    return {stats.program_id: [stats.pending, stats.available, stats.settling] for stats in rows}


def compute_totals(brand: Brand, now: datetime) -> dict[UUID, list[Money]]:
    """Return the totals by program from the conversions; each is converted at its date's rate and rounded by itself."""
    ((home,),) = brand.rows("select home_currency from organization where id = %s", brand.id)
    rates = _effective_rates(brand.rows(_RATES))
    cents: dict[tuple[UUID, str], int] = defaultdict(int)
    totals: dict[tuple[UUID, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for program_id, currency, day, status, hold_until, net, paid, is_open in brand.rows(_CONVERSIONS):
        due = (0 if status in ("Denied", "Invalidated") else net) - paid
        if not (status in ("Pending", "Approved") or is_open or due < 0):
            continue
        is_held = status == "Pending" and hold_until > now and due > 0
        where = program_id, "settling" if is_open else "pending" if is_held else "available"
        per_usd = {code: rates[code, day] for code in (currency, home) if (code, day) in rates}
        valued = fx.to_currency(amount_cents=due, from_currency=currency, to_currency=home, per_usd=per_usd)
        if valued is None:
            totals[where][currency] += due
        else:
            cents[where] += valued
    return {
        program_id: [
            Money(
                cents[program_id, bucket],
                {code: sum_ for code, sum_ in totals[program_id, bucket].items() if sum_} or None,
            )
            for bucket in BUCKETS
        ]
        for program_id in brand.programs
    }


def _effective_rates(rows: list[tuple[Any, ...]]) -> dict[tuple[str, date], Decimal]:
    """Return the rate of each currency and day: the newest of that day and the three before it."""
    return {(currency, on + timedelta(days=age)): per_usd for currency, on, per_usd in rows for age in range(4)}
