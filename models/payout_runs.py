"""Writes a run: the run itself, its payouts, their lines, in statements that do not grow with their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from models.db import Json, db
from models.payout_candidates import reading_whole_tables

# What a bigint holds with room for the doubled remainder.
_NARROW = 2**62


@dataclass(frozen=True, slots=True)
class Draft:
    """A payout of a run, still without its lines."""

    payout_id: UUID
    affiliate_id: UUID
    program_id: UUID
    method: str
    destination: str


@dataclass(frozen=True, slots=True)
class Converted:
    """What native minor units are multiplied with to be US cents; the rate itself, and the day it was published."""

    currency: str
    factor: Fraction
    rate: Decimal
    on: date


# Half to even, like everything: in a function for what fits in eight bytes, which a million lines are fast in, and
# else in numerics of any size.
_PRODUCT, _QUOTIENT = "abs(c.cents) * r.times", "div(abs(c.cents) * r.times, r.over)"
_WIDE = f"{_QUOTIENT} + (2 * mod({_PRODUCT}, r.over) + mod({_QUOTIENT}, 2) > r.over)::int"
_USD = (
    "case when r.times = r.over then c.cents"
    " when r.is_narrow then sign(c.cents) * times_fraction(abs(c.cents), r.times::bigint, r.over::bigint)"
    f" else sign(c.cents) * ({_WIDE}) end::bigint"
)
_DRAFT = f"""
create temp table payout_draft on commit drop as
select d.payout_id, c.id, c.currency, c.occurred_at, c.cents, r.rate, r.published_on, {_USD} as usd_cents
from payout_claim c
join unnest(%(ready_affiliates)s::uuid[], %(ready_currencies)s::text[]) ready (affiliate_id, currency)
  on ready.affiliate_id = c.affiliate_id and ready.currency = c.currency
join unnest(%(payouts)s::uuid[], %(affiliates)s::uuid[]) d (payout_id, affiliate_id) on d.affiliate_id = c.affiliate_id
join unnest(%(currencies)s::text[], %(times)s::numeric[], %(overs)s::numeric[], %(narrow)s::boolean[],
  %(rates)s::numeric[], %(days)s::date[]) r (currency, times, over, is_narrow, rate, published_on)
  on r.currency = c.currency
"""
_NOTHING = """
delete from payout_draft
where payout_id in (select payout_id from payout_draft group by payout_id having sum(usd_cents) <= 0)
"""


def draft_lines(*, drafts: Sequence[Draft], ready: Sequence[tuple[UUID, str]], rates: Sequence[Converted]) -> int:
    """Make the lines of what was claimed for every affiliate and currency that is ready; return US cents in all.

    A payout whose lines round to nothing is left out, and what it was made of stays due.
    """
    params = {
        "ready_affiliates": [affiliate_id for affiliate_id, _ in ready],
        "ready_currencies": [currency for _, currency in ready],
        "payouts": [draft.payout_id for draft in drafts],
        "affiliates": [draft.affiliate_id for draft in drafts],
        "currencies": [rate.currency for rate in rates],
        "times": [rate.factor.numerator for rate in rates],
        "overs": [rate.factor.denominator for rate in rates],
        "narrow": [max(rate.factor.numerator, rate.factor.denominator) < _NARROW for rate in rates],
        "rates": [rate.rate for rate in rates],
        "days": [rate.on for rate in rates],
    }
    with reading_whole_tables():
        db.stage("analyze payout_claim")
        db.stage(_DRAFT, params)
        db.stage("analyze payout_draft")
        db.stage(_NOTHING)
        row = db.row("select coalesce(sum(usd_cents), 0)::bigint from payout_draft")
    assert row is not None
    return int(row[0])


def stage_run(values: Mapping[str, Any]) -> None:
    """Stage a run's own row."""
    marks = ", ".join(["%s"] * len(values))
    db.stage(
        f"insert into payout_run ({', '.join(values)}) values ({marks})",
        tuple(Json(value) if isinstance(value, dict) else value for value in values.values()),
    )


@dataclass(frozen=True, slots=True)
class Written:
    """A payout as it was written. US cents; the period is that of its conversions."""

    payout_id: UUID
    affiliate_id: UUID
    amount_cents: int
    method: str
    period_start: date
    period_end: date


_PAYOUTS = """
insert into payout (id, organization_id, run_id, program_id, affiliate_id, amount_cents, method, destination, notes,
  external_transaction_id, period_start, period_end, created_at)
select d.payout_id, %(org)s, %(run)s, d.program_id, d.affiliate_id, lines.cents, d.method, d.destination, %(notes)s,
  %(external)s, (lines.first at time zone 'UTC')::date, (lines.last at time zone 'UTC')::date, %(at)s
from unnest(%(payouts)s::uuid[], %(programs)s::uuid[], %(affiliates)s::uuid[], %(methods)s::text[],
  %(destinations)s::text[]) d (payout_id, program_id, affiliate_id, method, destination)
join (select payout_id, sum(usd_cents)::bigint as cents, min(occurred_at) as first, max(occurred_at) as last
  from payout_draft group by payout_id) lines on lines.payout_id = d.payout_id
returning id, affiliate_id, amount_cents, method, period_start, period_end
"""
_LINES = """
insert into payout_line (id, organization_id, payout_id, conversion_id, native_amount_cents, native_currency, fx_rate,
  fx_rate_date, amount_cents)
select gen_random_uuid(), %s, payout_id, id, cents, currency, rate, published_on, usd_cents from payout_draft
"""


def write_payouts(
    *,
    organization_id: UUID,
    run_id: UUID,
    drafts: Sequence[Draft],
    notes: str | None,
    external_transaction_id: str | None,
    at: datetime,
) -> list[Written]:
    """Write the payouts that have lines, and their lines, and return them in the order of their ids."""
    params = {
        "org": organization_id,
        "run": run_id,
        "notes": notes,
        "external": external_transaction_id,
        "at": at,
        "payouts": [draft.payout_id for draft in drafts],
        "programs": [draft.program_id for draft in drafts],
        "affiliates": [draft.affiliate_id for draft in drafts],
        "methods": [draft.method for draft in drafts],
        "destinations": [draft.destination for draft in drafts],
    }
    with reading_whole_tables():
        rows = db.run(_PAYOUTS, params)
        db.stage(_LINES, (organization_id,))
    return [Written(*row) for row in sorted(rows)]


def conversions_of(payout_ids: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    """Return the conversions of payouts that were drafted in this transaction, by payout."""
    with reading_whole_tables():
        rows = db.run(
            "select payout_id, array_agg(id order by id) from payout_draft where payout_id = any(%s::uuid[])"
            " group by payout_id",
            (list(payout_ids),),
        )
    return dict(rows)


def cap_used_cents(*, organization_id: UUID, since: datetime) -> int:
    """Return what the organization's payouts since a moment come to, in US cents; failed ones don't count."""
    row = db.row(
        "select coalesce(sum(amount_cents), 0)::bigint from payout where organization_id = %s and created_at >= %s"
        " and status <> 'Failed'",
        (organization_id, since),
    )
    assert row is not None
    return int(row[0])
