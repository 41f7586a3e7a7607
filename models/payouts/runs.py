"""Writes a run: the run itself, its payouts, their lines, in statements that do not grow with their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import orjson

from models import fx_rates
from models.db import Json, db, reading_whole_tables
from models.webhooks import outbox


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


_SIGN = "case when cents < 0 then -1 else 1 end"
_DRAFT = f"""
create temp table payout_draft on commit drop as
select d.payout_id, c.id, c.currency, c.occurred_at, c.cents, r.rate, r.published_on,
  case when abs(cents) <= r.most then {_SIGN} * ({fx_rates.narrow("abs(cents)")})
    else ({_SIGN} * {fx_rates.wide("abs(cents)")})::bigint end as usd_cents
from payout_claim c
join unnest(%(ready_affiliates)s::uuid[], %(ready_currencies)s::text[]) ready (affiliate_id, currency)
  on ready.affiliate_id = c.affiliate_id and ready.currency = c.currency
join unnest(%(payouts)s::uuid[], %(affiliates)s::uuid[]) d (payout_id, affiliate_id) on d.affiliate_id = c.affiliate_id
join unnest(%(currencies)s::text[], %(most)s::bigint[], %(narrow_times)s::bigint[], %(narrow_over)s::bigint[],
  %(times)s::numeric[], %(over)s::numeric[], %(rates)s::numeric[], %(days)s::date[])
  r (currency, most, times, over, wide_times, wide_over, rate, published_on) on r.currency = c.currency
"""
# With what each payout comes to, and the ids of its conversions as JSON for the event that announces it.
_SUMS = """
create temp table payout_sum on commit drop as
select payout_id, sum(usd_cents)::bigint as cents, min(occurred_at) as first, max(occurred_at) as last,
  '["' || string_agg(id::text, '","' order by id) || '"]' as conversion_ids
from payout_draft group by payout_id having sum(usd_cents) > 0
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
        **fx_rates.fraction_params([rate.factor for rate in rates]),
        "rates": [rate.rate for rate in rates],
        "days": [rate.on for rate in rates],
    }
    with reading_whole_tables():
        db.stage("analyze payout_claim")
        db.stage(_DRAFT, params)
        db.stage("analyze payout_draft")
        db.stage(_SUMS)
        db.stage("analyze payout_sum")
        row = db.row("select coalesce(sum(cents), 0)::bigint from payout_sum")
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
join payout_sum lines on lines.payout_id = d.payout_id
returning id, affiliate_id, amount_cents, method, period_start, period_end
"""
_LINES = """
insert into payout_line (id, organization_id, payout_id, conversion_id, native_amount_cents, native_currency, fx_rate,
  fx_rate_date, amount_cents)
select gen_random_uuid(), %s, d.payout_id, d.id, d.cents, d.currency, d.rate, d.published_on, d.usd_cents
from payout_draft d join payout_sum s on s.payout_id = d.payout_id
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


#: What stands for the ids of a payout's conversions in the body of an event, until the database puts them in.
CONVERSIONS = "@"
_EVENTS = f"""
select e.id, replace(e.body, '["{CONVERSIONS}"]', s.conversion_ids) as body
from json_to_recordset(%(events)s) as e (id uuid, payout_id uuid, body text)
join payout_sum s on s.payout_id = e.payout_id
"""


def stage_events(
    *, organization_id: UUID, event_type: str, bodies: Mapping[UUID, tuple[UUID, str]], at: datetime, delivery_job: Any
) -> None:
    """Stage an event per payout that was written in this transaction: `bodies` are event ids and bodies, by payout.

    The array of `CONVERSIONS` alone in a body becomes the ids of the payout's conversions, in their order.
    """
    events = [{"id": str(id), "payout_id": str(payout_id), "body": body} for payout_id, (id, body) in bodies.items()]
    outbox.stage_selected_events(
        _EVENTS,
        {"events": orjson.dumps(events).decode()},
        organization_id=organization_id,
        event_type=event_type,
        created_at=at,
        delivery_job=delivery_job,
    )


def cap_used_cents(*, organization_id: UUID, since: datetime) -> int:
    """Return what the organization's payouts since a moment come to, in US cents; failed ones don't count."""
    row = db.row(
        "select coalesce(sum(amount_cents), 0)::bigint from payout where organization_id = %s and created_at >= %s"
        " and status <> 'Failed'",
        (organization_id, since),
    )
    assert row is not None
    return int(row[0])
