"""What is due to be paid, read by previews and claimed by runs.

Due is a conversion that earned (Approved, or Pending and past its hold) more than was paid for it, and one for which
more was paid than it earned since (a debt). What stands in an open line of a payout is neither.
Source: core spec, "Payouts"; a conversion's payability never depends on a job having run.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.money.valuation import Factors
from domain.payouts.confirmation import RunFilters
from domain.payouts.plan import Due, Payee
from models import conditions
from models.db import db, reading_whole_tables
from models.money import fx_sums

_FREE = (
    "not exists (select from payout_line l where l.organization_id = c.organization_id"
    " and l.conversion_id = c.id and l.is_open)"
)
_EARNED = conditions.earned("c")

_WHOSE = {
    "affiliate_ids": "c.affiliate_id = any(%(affiliate_ids)s::uuid[])",
    "program_id": "c.program_id = %(program_id)s",
}
_WHICH = {
    **_WHOSE,
    "since": "c.occurred_at >= %(since)s",
    "conversion_ids": "c.id = any(%(conversion_ids)s::uuid[])",
}


def _due(filters: RunFilters) -> str:
    """Return SQL of the due rows: affiliate_id, currency, id, occurred_at, cents."""
    which = "".join(f" and {sql}" for name, sql in _WHICH.items() if getattr(filters, name) is not None)
    whose = "".join(f" and {sql}" for name, sql in _WHOSE.items() if getattr(filters, name) is not None)
    return (
        "select c.affiliate_id, c.currency, c.id, c.occurred_at,"
        " c.commission_cents - c.reversed_cents - c.paid_cents as cents from conversion c"
        " where c.organization_id = %(org)s and c.status in ('Pending', 'Approved')"
        " and (c.status = 'Approved' or c.hold_until <= %(now)s) and not c.payout_locked and not c.is_test"
        f" and c.commission_cents - c.reversed_cents > c.paid_cents{which} and {_FREE}"
        f" union all select c.affiliate_id, c.currency, c.id, c.occurred_at, {_EARNED} - c.paid_cents"
        f" from conversion c where c.organization_id = %(org)s and c.paid_cents > {_EARNED}{whose} and {_FREE}"
    )


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
def _reading_what_is_due(filters: RunFilters) -> Iterator[None]:
    """Let the planner read whole tables, and where nothing narrows the filters make it look nothing up row by row.

    Many open lines may have come since the tables were analyzed; a million look-ups would be planned for none.
    """
    is_wide = filters.affiliate_ids is None and filters.conversion_ids is None
    joins = "off" if is_wide else "on"
    with reading_whole_tables():
        db.stage(f"set local enable_nestloop = {joins}; set local enable_mergejoin = {joins}")
        yield
        db.stage("set local enable_nestloop = on; set local enable_mergejoin = on")


@dataclass(frozen=True, slots=True)
class Eligible:
    """What one affiliate is due in one currency: the conversions, and what they are worth at home by their dates.

    `conversion_ids_json` is a JSON array of ids, written by the database: there may be a million of them.
    `held_cents` are native: what of `cents` had no rate on its day.
    """

    due: Due
    conversion_ids_json: str
    home_cents: int
    held_cents: int


_JOINED = "left join " + fx_sums.TABLE + " on r.currency = due.currency and r.day = " + fx_sums.DAY
_SIGN = "case when cents < 0 then -1 else 1 end"
# In two sums: numerics are slow, and hardly any amount needs them.
_WORTH = (
    "coalesce(sum(case when due.currency = %(fx_home)s then cents"
    f" when abs(cents) <= r.most then {_SIGN} * ({fx_sums.narrow('abs(cents)')}) end), 0)"
    f" + coalesce(sum(case when abs(cents) > r.most then {_SIGN} * {fx_sums.wide('abs(cents)')} end), 0)"
)
_IDS = """'["' || string_agg(id::text, '","') || '"]'"""


def eligible(*, organization_id: UUID, filters: RunFilters, factors: Factors, now: datetime) -> list[Eligible]:
    """Return what every affiliate is due in every currency; a debt counts against it, in money of its own date."""
    with _reading_what_is_due(filters):
        rows = db.run(
            f"select affiliate_id, due.currency, sum(cents)::bigint, {_IDS}, {_WORTH},"
            " sum(cents) filter (where due.currency <> %(fx_home)s and r.over is null)"
            f" from ({_due(filters)}) due {_JOINED} group by affiliate_id, due.currency"
            " order by affiliate_id, due.currency",
            {**_params(organization_id, filters, now), **fx_sums.table_params(factors)},
        )
    return [Eligible(Due(*row[:3]), row[3], int(row[4] or 0), int(row[5] or 0)) for row in rows]


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


def currencies_and_first(organization_id: UUID) -> tuple[list[str], datetime | None]:
    """Return the currencies that the organization has conversions in and when the first occurred, off the indexes."""
    row = db.row(_CURRENCIES_AND_FIRST, {"org": organization_id})
    assert row is not None
    return row[0], row[1]


def claim(*, organization_id: UUID, filters: RunFilters, now: datetime) -> list[Due]:
    """Take down what is due, for this transaction alone, and return its sums; everything after reads only that.

    One statement reads the conversions, so that the sums and the lines are of the same moment.
    """
    with _reading_what_is_due(filters):
        db.run(
            f"create temp table payout_claim on commit drop as {_due(filters)}",
            _params(organization_id, filters, now),
        )
        rows = db.run(
            "select affiliate_id, currency, sum(cents)::bigint from payout_claim group by affiliate_id, currency"
            " order by affiliate_id, currency"
        )
    return [Due(*row) for row in rows]


_PAYEES = """
select a.id, a.program_id, a.email, a.status = 'Approved', a.is_test,
  coalesce(k.payout_method, a.payout_method, case when a.wallet_email is not null then 'Wallet' end),
  case when k.payout_method is not null then k.payout_destination
    when a.payout_method is not null then a.payout_destination else a.wallet_email end,
  exists (select from tax_form t where t.organization_id = a.organization_id and t.affiliate_id = a.id),
  case when p.min_payout_cents is not null then p.min_payout_cents else o.min_payout_cents end,
  case when p.min_payout_cents is not null then p.min_payout_currency else o.min_payout_currency end
from unnest(%(ids)s::uuid[]) wanted (id)
join affiliate a on a.organization_id = %(org)s and a.id = wanted.id
join program p on p.organization_id = a.organization_id and p.id = a.program_id
join organization o on o.id = a.organization_id
left join affiliate_account k on k.id = a.account_id
"""


def payees(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> dict[UUID, Payee]:
    """Return how affiliates can be paid, by their ids. What they say themselves goes before what the brand says.

    Deleted affiliates keep what they earned.
    """
    with reading_whole_tables():
        rows = db.run(_PAYEES, {"org": organization_id, "ids": list(dict.fromkeys(affiliate_ids))})
    return {row[0]: Payee(*row) for row in rows}
