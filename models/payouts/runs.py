"""Writes a run: the run itself, its payouts and their lines; the number of statements does not depend on the rows.

Closes the review of a run, too.

A run uses two temporary tables of its transaction, which the commit drops:
`payout_claim`, the due conversions (`models.payouts.candidates.claim`): affiliate, currency, conversion, time, native
cents.
`payout_draft`, the future payouts: payee, destination and currencies, the sum, the period, the conversions.
The amount of a conversion's line is computed for the sums of the plan and again for the lines: that takes less time
than writing a million lines into a table and copying them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from uuid import UUID

import orjson

from domain.payouts import plan
from domain.payouts.confirmation import Run
from domain.payouts.plan import PayoutPlan, RunRate
from domain.payouts.states import ReviewStatus
from models import ids
from models.db import Json, allowing_table_scans, db
from models.money import fx_sums
from models.payouts.candidates import joining_whole_tables
from models.table import Rows, columns
from models.webhooks import outbox

# The rates of a run, for `_rate_params`: each claim `c` is converted by itself.
_RATES = """unnest(%(currencies)s::text[], %(most)s::bigint[], %(times)s::bigint[], %(over)s::bigint[],
  %(wide_times)s::numeric[], %(wide_over)s::numeric[], %(rates)s::numeric[], %(days)s::date[])
  r (currency, most, times, over, wide_times, wide_over, rate, published_on)"""
_USD_CENTS = f"coalesce({fx_sums.narrow_sql(cents='c.cents')}, ({fx_sums.wide_sql(cents='c.cents')})::bigint)"
_DRAFT = """
create temp table payout_draft on commit drop as
select payee.payout_id, payee.program_id, payee.affiliate_id, payee.method, payee.destination,
  payee.currencies::text[] as currencies, payee.cents, claimed.first, claimed.last, claimed.conversion_ids
from unnest(%(payouts)s::uuid[], %(programs)s::uuid[], %(affiliates)s::uuid[], %(methods)s::text[],
  %(destinations)s::text[], %(currencies_of)s::text[], %(cents)s::bigint[])
  payee (payout_id, program_id, affiliate_id, method, destination, currencies, cents)
join (
  select c.affiliate_id, min(c.occurred_at) as first, max(c.occurred_at) as last,
    array_agg(c.id order by c.id) as conversion_ids
  from payout_claim c
  join unnest(%(ready_affiliates)s::uuid[], %(ready_currencies)s::text[]) ready (affiliate_id, currency)
    on ready.affiliate_id = c.affiliate_id and ready.currency = c.currency
  group by c.affiliate_id
) claimed on claimed.affiliate_id = payee.affiliate_id
"""


def stage_draft(planned: PayoutPlan) -> None:
    """Stage the draft payouts of the claimed conversions, for the affiliates that the plan pays, with its amounts."""
    ready, amounts = planned.ready_candidates, planned.payouts
    payees = {candidate.payee.affiliate_id: candidate.payee for candidate in ready}.values()
    currencies: defaultdict[UUID, list[str]] = defaultdict(list)
    for candidate in ready:
        currencies[candidate.payee.affiliate_id].append(candidate.currency)
    params = {
        "ready_affiliates": _list(candidate.payee.affiliate_id for candidate in ready),
        "ready_currencies": _list(candidate.currency for candidate in ready),
        "payouts": _list(ids.new_id() for _ in payees),
        "programs": _list(payee.program_id for payee in payees),
        "affiliates": _list(payee.affiliate_id for payee in payees),
        "methods": [payee.method for payee in payees],
        "destinations": [payee.destination for payee in payees],
        "currencies_of": [_list(currencies[payee.affiliate_id]) for payee in payees],
        "cents": _list(amounts[payee.affiliate_id] for payee in payees),
    }
    with joining_whole_tables():
        db.stage(_DRAFT, params)
        db.stage("analyze payout_draft (payout_id, affiliate_id)")


# PostgreSQL parses thousands of values faster from one text than from an array expression.
def _list(values: Iterable[object]) -> str:
    return f"{{{','.join(map(str, values))}}}"


def _rate_params(rates: Mapping[str, RunRate]) -> dict[str, object]:
    return {
        "currencies": list(rates),
        **fx_sums.fraction_params([plan.usd_factor(currency, rate.per_usd) for currency, rate in rates.items()]),
        "rates": [rate.per_usd for rate in rates.values()],
        "days": [rate.on for rate in rates.values()],
    }


@dataclass(frozen=True, slots=True)
class RunPayout:
    """A payout that a run created. US cents; the period is that of its conversions."""

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
# In the order of the conversions and with ascending ids, so that three of the four indexes are only appended to; an id
# is the run's with a number in place of its last digits.
_LINES = f"""
insert into payout_line (id, organization_id, payout_id, conversion_id, native_amount_cents, native_currency, fx_rate,
  fx_rate_date, amount_cents)
select (left(%(id)s::text, 28) || lpad(to_hex(row_number() over ()), 8, '0'))::uuid, %(organization_id)s, p.payout_id,
  c.id, c.cents, c.currency, r.rate, r.published_on, {_USD_CENTS}
from payout_claim c
join payout_draft p on p.affiliate_id = c.affiliate_id and c.currency = any(p.currencies)
join {_RATES} on r.currency = c.currency
"""
_payouts = Rows(RunPayout)


def write(run: Run, planned: PayoutPlan) -> list[RunPayout]:
    """Write a run with its payouts and their lines, after `stage_draft` of this plan; return the payouts by id."""
    params = asdict(run) | {"confirmed_totals": Json(run.confirmed_totals), "filters": Json(run.filters)}
    db.stage(_RUN, params)
    with allowing_table_scans():
        payouts = _payouts.all(_PAYOUTS, params)
        db.stage(_LINES, params | _rate_params(planned.rates))
    return payouts


#: Placeholder of a payout's conversion ids in the body of an event, which the database replaces.
CONVERSIONS = "@"
_EVENTS = f"""
select e.id, replace(e.body, '["{CONVERSIONS}"]', '["' || array_to_string(p.conversion_ids, '","') || '"]') as body
from json_to_recordset(%(events)s) as e (id uuid, payout_id uuid, body text)
join payout_draft p on p.payout_id = e.payout_id
"""


def stage_events(
    *, organization_id: UUID, event_type: str, bodies: Mapping[UUID, tuple[UUID, str]], at: datetime
) -> None:
    """Stage an event per payout written in this transaction: `bodies` are event ids and bodies, by payout.

    The array with only `CONVERSIONS` in a body becomes the ids of the payout's conversions, in order.
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
    """Close the review of a run; False if no review is open."""
    status = ReviewStatus.Approved if is_approved else ReviewStatus.Rejected
    return bool(db.run(_REVIEW, (status, organization_id, run_id)))
