"""Writes a run: the run itself, its payouts, their lines, in statements that do not grow with their rows.

What is said of a run later stands here, too: its review.

A run works in three temporary tables of its transaction, gone with the commit:
`payout_claim`, what is due (`models.payouts.candidates.claim`): affiliate, currency, conversion, when, native cents.
`line_draft`, the lines to be: the claims of affiliates who are ready, in US cents at the run's rates, with payout id.
`payout_draft`, the payouts to be: whom to pay and where, the sum, the period, the conversions' ids as JSON.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from uuid import UUID

import orjson

from domain.payouts import plan
from domain.payouts.confirmation import Run
from domain.payouts.plan import Planned
from domain.payouts.states import ReviewStatus
from models import ids
from models.db import Json, db, reading_whole_tables
from models.money import fx_sums
from models.table import Rows, columns
from models.webhooks import outbox

_DRAFT_LINES = f"""
create temp table line_draft on commit drop as
select d.payout_id, c.id, c.currency, c.occurred_at, c.cents, r.rate, r.published_on,
  coalesce({fx_sums.narrow()}, ({fx_sums.wide()})::bigint) as usd_cents
from payout_claim c
join unnest(%(ready_affiliates)s::uuid[], %(ready_currencies)s::text[]) ready (affiliate_id, currency)
  on ready.affiliate_id = c.affiliate_id and ready.currency = c.currency
join unnest(%(payouts)s::uuid[], %(affiliates)s::uuid[]) d (payout_id, affiliate_id) on d.affiliate_id = c.affiliate_id
join unnest(%(currencies)s::text[], %(most)s::bigint[], %(times)s::bigint[], %(over)s::bigint[],
  %(wide_times)s::numeric[], %(wide_over)s::numeric[], %(rates)s::numeric[], %(days)s::date[])
  r (currency, most, times, over, wide_times, wide_over, rate, published_on) on r.currency = c.currency
"""
# A payout whose lines round to nothing is left out, and what it was made of stays due.
_DRAFT_PAYOUTS = """
create temp table payout_draft on commit drop as
select lines.*, d.program_id, d.affiliate_id, d.method, d.destination
from unnest(%(payouts)s::uuid[], %(programs)s::uuid[], %(affiliates)s::uuid[], %(methods)s::text[],
  %(destinations)s::text[]) d (payout_id, program_id, affiliate_id, method, destination)
join (
  select payout_id, sum(usd_cents)::bigint as cents, min(occurred_at) as first, max(occurred_at) as last,
    '["' || string_agg(id::text, '","' order by id) || '"]' as conversion_ids
  from line_draft group by payout_id having sum(usd_cents) > 0
) lines on lines.payout_id = d.payout_id
"""
_TOTAL = "select coalesce(sum(cents), 0)::bigint from payout_draft"


def draft(planned: Planned) -> int:
    """Make the payouts and lines to be of what was claimed, for affiliates who are ready; return US cents in all."""
    ready = planned.ready
    payees = {candidate.payee.affiliate_id: candidate.payee for candidate in ready}.values()
    rates = planned.rates
    params = {
        "ready_affiliates": [candidate.payee.affiliate_id for candidate in ready],
        "ready_currencies": [candidate.currency for candidate in ready],
        "payouts": [ids.new_id() for _ in payees],
        "programs": [payee.program_id for payee in payees],
        "affiliates": [payee.affiliate_id for payee in payees],
        "methods": [payee.method for payee in payees],
        "destinations": [payee.destination for payee in payees],
        "currencies": list(rates),
        **fx_sums.fraction_params([plan.usd_factor(currency, rate.per_usd) for currency, rate in rates.items()]),
        "rates": [rate.per_usd for rate in rates.values()],
        "days": [rate.on for rate in rates.values()],
    }
    with reading_whole_tables():
        db.stage("analyze payout_claim")
        db.stage(_DRAFT_LINES, params)
        db.stage("analyze line_draft")
        db.stage(_DRAFT_PAYOUTS, params)
        db.stage("analyze payout_draft")
        ((total_cents,),) = db.run(_TOTAL)
    return int(total_cents)


@dataclass(frozen=True, slots=True)
class RunPayout:
    """A payout as a run made it. US cents; the period is that of its conversions."""

    payout_id: UUID
    affiliate_id: UUID
    amount_cents: int
    method: str
    period_start: date
    period_end: date


_RUN = f"""
insert into payout_run ({columns(Run)})
values ({", ".join(f"%({name})s" for name in Run.__dataclass_fields__)})
"""
_PAYOUTS = f"""
with written as (
  insert into payout (id, organization_id, run_id, program_id, affiliate_id, amount_cents, method, destination, notes,
    external_transaction_id, period_start, period_end, created_at)
  select payout_id, %(organization_id)s, %(id)s, program_id, affiliate_id, cents, method, destination, %(notes)s,
    %(external_transaction_id)s, (first at time zone 'UTC')::date, (last at time zone 'UTC')::date, %(created_at)s
  from payout_draft
  returning *
)
select {columns(RunPayout, payout_id="id")} from written order by id
"""
_LINES = """
insert into payout_line (id, organization_id, payout_id, conversion_id, native_amount_cents, native_currency, fx_rate,
  fx_rate_date, amount_cents)
select gen_random_uuid(), %(organization_id)s, l.payout_id, l.id, l.cents, l.currency, l.rate, l.published_on,
  l.usd_cents
from line_draft l join payout_draft p on p.payout_id = l.payout_id
"""
_payouts = Rows(RunPayout)


def write(run: Run) -> list[RunPayout]:
    """Write a run with the payouts and lines that `draft` made; return the payouts in the order of their ids."""
    params = asdict(run) | {"confirmed_totals": Json(run.confirmed_totals), "filters": Json(run.filters)}
    db.stage(_RUN, params)
    with reading_whole_tables():
        written = _payouts.all(_PAYOUTS, params)
        db.stage(_LINES, params)
    return written


#: What stands for the ids of a payout's conversions in the body of an event, until the database puts them in.
CONVERSIONS = "@"
_EVENTS = f"""
select e.id, replace(e.body, '["{CONVERSIONS}"]', p.conversion_ids) as body
from json_to_recordset(%(events)s) as e (id uuid, payout_id uuid, body text)
join payout_draft p on p.payout_id = e.payout_id
"""


def stage_events(
    *, organization_id: UUID, event_type: str, bodies: Mapping[UUID, tuple[UUID, str]], at: datetime
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
    )


_REVIEW = """
update payout_run set review_status = %s where organization_id = %s and id = %s and review_status = 'Pending'
returning 1
"""


def close_review(*, organization_id: UUID, run_id: UUID, is_approved: bool) -> bool:
    """Close the review of a run; False when no review is open."""
    status = ReviewStatus.Approved if is_approved else ReviewStatus.Rejected
    return bool(db.run(_REVIEW, (status, organization_id, run_id)))
