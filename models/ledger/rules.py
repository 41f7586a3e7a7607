"""Rules that the money must obey, each with the statement that finds its exceptions.

A rule is a sentence and SQL that returns one text per exception; all rules hold at every commit, also while jobs run.
Each is one statement, so it reads one snapshot. `{org:c}` is the condition on the tenant of the alias `c`, another name
in braces one of `_PIECES`.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from models import conditions
from models.db import allowing_table_scans, db
from models.jobs import discarded_jobs
from models.jobs.losses import DISCARDED_WORK, UNCASCADED_REFUND, UNSETTLED_SALE
from models.ledger import day_rules, deal_rules

Rows = Callable[..., list[tuple[Any, ...]]]

# A check reads everything that an organization ever earned; no request waits for it.
_STATEMENT_TIMEOUT = "10min"

# SQL that several rules share, by its name in braces.
_PIECES = {
    "earns_nothing": conditions.EARNS_NOTHING,
    "earned": conditions.earned_cents("c"),
    # Minor units of a percentage, half to even; written again, so that the service's own rounding is checked too.
    "share": """
cross join lateral (select p.commission_cents * c.rate_value / 100 as exact) x
cross join lateral (select floor(exact) + case
  when exact - floor(exact) > 0.5 or (exact - floor(exact) = 0.5 and floor(exact) % 2 = 1) then 1 else 0 end as cents
) share""",
    # The sum of manual changes of a conversion's (`c`) commission.
    "changes": """select sum(m.commission_cents - m.previous_cents) as cents from commission_change m
  where m.organization_id = c.organization_id and m.conversion_id = c.id""",
    # A payout older than this without a job is not just about to be dispatched.
    "long_ago": "interval '1 hour'",
    "no_job_asks": """not exists (select from job j where j.organization_id = p.organization_id
  and j.name = 'payout.transfer' and j.args ->> 'payout_id' = p.id::text and j.failed_at is null)""",
}

_SALE_ACCEPTED = discarded_jobs.accepted_condition("sale.settle", "sale_id", of="s", since="s.accepted_at")
_REFUND_ACCEPTED = discarded_jobs.accepted_condition("refund.cascade", "conversion_id", of="p", since="r.created_at")

#: Rules for what was earned and reversed.
EARNINGS: Mapping[str, str] = {
    "the ledger earned what the conversion says": """
select c.external_event_id from conversion c left join ledger_entry l
on l.organization_id = c.organization_id and l.conversion_id = c.id and l.kind = 'earn'
left join lateral ({changes}) m on true
where {org:c} and not c.payout_locked group by c.organization_id, c.id, m.cents
having count(l.id) > 1 + (select count(*) from conversion_addition a
  where a.organization_id = c.organization_id and a.conversion_id = coalesce(c.parent_id, c.id)) and c.source <> 'cpc'
or coalesce(sum(l.amount_cents), 0) <> c.commission_cents - coalesce(m.cents, 0)
and not (count(l.id) = 0 and (c.born_owing_nothing or exists (
  select from event e where e.organization_id = c.organization_id
  and e.type = 'conversion.created' and e.body::jsonb #>> '{{data,conversionId}}' = c.id::text
  and e.body::jsonb #>> '{{data,status}}' in {earns_nothing})))""",
    "rewards cost a budget what they still earn": """
select coalesce(s.program_id, c.program_id)::text from (
  select organization_id, program_id, currency, sum(spent_cents) as cents from reward_spend group by 1, 2, 3) s
full join (
  select organization_id, program_id, currency, sum(commission_cents - reversed_cents) as cents from conversion
  where type in ('ClickReward', 'LeadReward') and not is_test and status not in {earns_nothing} and status <> 'Refunded'
  group by 1, 2, 3) c using (organization_id, program_id, currency)
where coalesce(s.cents, 0) <> coalesce(c.cents, 0) and {org:organization_id}""",
    "the ledger comes to what a conversion still earns, and to nothing for one that earns nothing": """
select c.external_event_id from conversion c left join ledger_entry l
on l.organization_id = c.organization_id and l.conversion_id = c.id
and l.kind in ('earn', 'reverse', 'restore', 'adjust') where {org:c} and not c.payout_locked
group by c.organization_id, c.id having coalesce(sum(l.amount_cents), 0) <> {earned}""",
    "a change of a commission is booked once, or nothing for a row that earns nothing": """
select m.conversion_id::text from commission_change m
join conversion c on c.organization_id = m.organization_id and c.id = m.conversion_id
left join ledger_entry l on l.organization_id = m.organization_id and l.conversion_id = m.conversion_id
  and l.cause_id = m.id
where {org:m} group by m.organization_id, m.id, m.conversion_id, c.payout_locked
having c.payout_locked or count(l.id) filter (where l.kind not in ('adjust', 'reverse', 'restore')) > 0
or coalesce(sum(l.amount_cents) filter (where l.kind = 'adjust'), 0) not in (
  m.commission_cents - m.previous_cents, -coalesce(sum(l.amount_cents) filter (where l.kind <> 'adjust'), 0))""",
    "the ledger took back what the conversion says": """
select c.external_event_id from conversion c
left join ledger_entry l
on l.organization_id = c.organization_id and l.conversion_id = c.id and l.kind in ('reverse', 'restore')
where {org:c} group by c.organization_id, c.id having coalesce(sum(l.amount_cents), 0) <> -c.reversed_cents""",
    "the ledger and the conversion name one affiliate and one currency": """
select l.id::text from ledger_entry l join conversion c on c.id = l.conversion_id
where (l.affiliate_id, l.currency, l.organization_id) is distinct from (c.affiliate_id, c.currency, c.organization_id)
and {org:l}""",
    "nothing is refunded or taken back beyond what there was": """
select c.external_event_id from conversion c where {org:c}
and not (c.refunded_cents between 0 and c.amount_cents and c.reversed_cents between 0 and c.commission_cents)""",
    "the refunds of a sale add up to what it says, each on top of the one before": """
select c.external_event_id from conversion c left join refund r
  on r.organization_id = c.organization_id and r.conversion_id = c.id
where c.parent_id is null and {org:c} group by c.organization_id, c.id
having coalesce(sum(r.amount_cents), 0) <> c.refunded_cents
union all
select id::text from (select r.id, r.cumulative_cents,
    sum(r.amount_cents) over (partition by r.conversion_id order by r.place) as so_far
  from refund r where {org:r}) r where cumulative_cents <> so_far""",
    "the reversals of a row add up to what it says": """
select c.external_event_id from conversion c left join reversal v
  on v.organization_id = c.organization_id and v.conversion_id = c.id
where {org:c} group by c.organization_id, c.id
having coalesce(sum(v.commission_cents + v.late_cents), 0) <> c.reversed_cents""",
    "what a gateway's payment gave back is what its refunds say": """
select p.external_id from gateway_payment p left join gateway_refund r
  on r.organization_id = p.organization_id and r.payment_id = p.id where {org:p}
group by p.organization_id, p.id having coalesce(sum(r.refunded_cents), 0) <> p.refunded_cents""",
    "the conversion of a gateway's payments gave back its share of what they did": """
select c.external_event_id from conversion c join (
  select organization_id, conversion_id, sum(paid_cents) as paid, sum(refunded_cents) as refunded from gateway_payment
  where conversion_id is not null group by 1, 2) p on p.organization_id = c.organization_id and p.conversion_id = c.id
where {org:c} and (p.refunded = p.paid and (c.refunded_cents <> c.amount_cents or c.unreported_cents is not null)
  or abs(c.refunded_cents - coalesce(c.unreported_cents, 0)
    - c.amount_cents::numeric * p.refunded / nullif(p.paid, 0)) > 0.5)""",
    "a further payment of an order is added to its conversion, once": """
select p.external_id from gateway_payment p left join conversion_addition a
  on a.organization_id = p.organization_id and a.payment_id = p.id
where {org:p} and p.conversion_id is distinct from coalesce(a.conversion_id, case when p.conversion_id = p.id
  then p.id end)""",
    "what was added to a sale is not more than it comes to": """
select c.external_event_id from conversion c join conversion_addition a
  on a.organization_id = c.organization_id and a.conversion_id = c.id
left join lateral ({changes}) m on true
where {org:c} group by c.organization_id, c.id, m.cents
having sum(a.amount_cents) > c.amount_cents
or sum(a.commission_cents) > c.commission_cents - coalesce(m.cents, 0)""",
    "the brand refunded of a conversion what its gateway has not reported": """
select c.external_event_id from conversion c left join refund r
  on r.organization_id = c.organization_id and r.conversion_id = c.id and r.origin = 'brand'
where {org:c} and c.unreported_cents is not null group by c.organization_id, c.id
having count(r.id) = 0 or sum(r.amount_cents) < c.unreported_cents or c.refunded_cents < c.unreported_cents""",
    # The former system may have left a commission for a sale that was refunded; it is brought as it is stated.
    "a sale refunded in full has given everything back": """
select c.external_event_id from conversion c where c.parent_id is null and {org:c}
and c.status not in {earns_nothing} and c.amount_cents > 0
and (c.refunded_cents = c.amount_cents) <> (c.status = 'Refunded' and c.reversed_cents = c.commission_cents)
and not (c.switch_id is not null and c.status <> 'Refunded')""",
    "a sale has at most one override, and it is the share it says of the sale's commission": """
select c.external_event_id from conversion c join conversion p
  on p.organization_id = c.organization_id and p.id = c.parent_id {share}
where {org:c} and (c.currency <> p.currency or c.amount_cents <> 0
  or c.commission_cents <> share.cents and not (c.commission_cents > share.cents
    and (c.status = 'Paid' or exists (
      select from payout_line l where l.organization_id = c.organization_id and l.conversion_id = c.id))
    and exists (
      select from commission_change m where m.organization_id = p.organization_id and m.conversion_id = p.id)))
union all
select c.parent_id::text from conversion c where c.parent_id is not null and {org:c}
group by c.organization_id, c.parent_id having count(*) > 1""",
}

# An override that was paid reverses nothing, and may be owed more later: only one that was never paid is checked.
#: Rules for accepted money that a job has yet to book.
WORK: Mapping[str, str] = {
    UNSETTLED_SALE: f"""
select format('sale %s: %s %s accepted at %s and not credited. Send it again, or: flask jobs losses',
  s.external_event_id, s.amount_cents, s.currency, s.accepted_at) from sale s
where {{org:s}} and not exists (select from conversion c where c.organization_id = s.organization_id and c.id = s.id)
and not exists (select from uncredited_conversion u where u.organization_id = s.organization_id
  and u.source = 's2s' and u.external_event_id = s.external_event_id)
and not exists (select from job j where j.organization_id = s.organization_id and j.name = 'sale.settle'
  and j.args ->> 'sale_id' = s.id::text) and not {_SALE_ACCEPTED}""",
    DISCARDED_WORK: discarded_jobs.DISCARDED,
    UNCASCADED_REFUND: f"""
select format('sale %s: refund of %s %s is not taken from its override %s. Send it again, or: flask jobs losses',
  p.external_event_id, r.amount_cents, p.currency, c.id)
from refund r join conversion p on p.organization_id = r.organization_id and p.id = r.conversion_id
join conversion c on c.organization_id = p.organization_id and c.parent_id = p.id
where {{org:r}} and c.status <> 'Paid' and c.paid_cents = 0 and not exists (select from reversal v
  where v.organization_id = r.organization_id and v.refund_id = r.id and v.conversion_id = c.id)
and not exists (select from job j where j.organization_id = p.organization_id
  and j.name in ('refund.cascade', 'override.write') and j.args ->> 'conversion_id' = p.id::text)
and not {_REFUND_ACCEPTED}""",
}

#: Rules for what was paid out.
PAYOUTS: Mapping[str, str] = {
    "the ledger comes to what a conversion earns less what was paid for it": """
select format('conversion %s: the ledger says %s, it earns %s and %s is paid', c.id, coalesce(sum(l.amount_cents), 0),
  {earned}, c.paid_cents)
from conversion c left join ledger_entry l on l.organization_id = c.organization_id and l.conversion_id = c.id
where {org:c} and not c.payout_locked group by c.organization_id, c.id
having coalesce(sum(l.amount_cents), 0) <> {earned} - c.paid_cents""",
    "a payout is the sum of its lines": """
select format('payout %s: %s, its lines %s', p.id, p.amount_cents, coalesce(sum(l.amount_cents), 0))
from payout p left join payout_line l on l.organization_id = p.organization_id and l.payout_id = p.id
where {org:p} and p.milestone_id is null group by p.organization_id, p.id
having coalesce(sum(l.amount_cents), 0) <> p.amount_cents""",
    "no conversion is in two open lines": """
select format('conversion %s: %s open lines', l.conversion_id, count(*)) from payout_line l
where {org:l} and l.is_open group by l.organization_id, l.conversion_id having count(*) > 1""",
    "a line is open only while its payout may still pay it": """
select format('line %s is open, its payout %s is %s', l.id, p.id, p.status) from payout_line l
join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
where {org:l} and l.is_open and (p.status = 'Paid' or p.voided_at is not null)""",
    "a payout that is not Paid and not voided keeps its lines open": """
select format('line %s of payout %s (%s) is closed', l.id, p.id, p.status) from payout_line l
join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
where {org:l} and not l.is_open and p.status <> 'Paid' and p.voided_at is null and l.native_amount_cents <> 0""",
    "a line that can still shrink pays no more than its conversion still earns": """
select format('line %s of payout %s (%s) pays %s, %s is left', l.id, p.id, p.status, l.native_amount_cents,
  {earned} - c.paid_cents)
from payout_line l join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
where {org:l} and l.is_open and p.status in ('Pending', 'Failed') and l.native_amount_cents > 0
and l.native_amount_cents > {earned} - c.paid_cents""",
    "a Paid payout was paid by an attempt of its own or by the brand": """
select format('payout %s', p.id) from payout p where {org:p} and p.status = 'Paid'
and p.external_transaction_id is null and not exists (select from payout_attempt a
  where a.organization_id = p.organization_id and a.payout_id = p.id and a.number = p.attempt and a.state = 'paid')""",
    "nothing that a rail has paid is anything but Paid": """
select format('payout %s is %s, its attempt %s was paid', p.id, p.status, a.number) from payout_attempt a
join payout p on p.organization_id = a.organization_id and p.id = a.payout_id
where {org:a} and a.state = 'paid' and (p.status <> 'Paid' or p.attempt <> a.number)""",
    "a rail was asked for what the payout comes to": """
select format('payout %s: %s, asked for %s', p.id, p.amount_cents, a.amount_cents) from payout p
join payout_attempt a on a.organization_id = p.organization_id and a.payout_id = p.id and a.number = p.attempt
where {org:p} and p.status in ('Processing', 'Paid') and a.state <> 'rejected' and a.amount_cents <> p.amount_cents""",
    "an attempt is asked for under its own key": """
select a.key from payout_attempt a where {org:a} and a.key <> format('payout:%s:%s', a.payout_id, a.number)""",
    "the ledger booked what the lines of Paid payouts say": """
select format('payout %s, conversion %s: paid %s, booked %s', coalesce(l.payout_id, b.cause_id),
  coalesce(l.conversion_id, b.conversion_id), coalesce(l.cents, 0), coalesce(b.cents, 0))
from (select p.organization_id, l.payout_id, l.conversion_id, sum(l.native_amount_cents) as cents from payout_line l
  join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
  where {org:l} and p.status = 'Paid' and l.native_amount_cents <> 0 group by 1, 2, 3) l
full join (select b.cause_id, b.conversion_id, -sum(b.amount_cents) as cents from ledger_entry b
  where {org:b} and b.kind in ('pay', 'clawback') group by 1, 2) b
on b.cause_id = l.payout_id and b.conversion_id = l.conversion_id
where coalesce(l.cents, 0) <> coalesce(b.cents, 0)""",
    "a conversion was paid what the lines of Paid payouts and its former system say": """
select format('conversion %s: %s, its lines %s, before %s', c.id, c.paid_cents, coalesce(l.cents, 0),
  coalesce(b.cents, 0)) from conversion c
left join (select l.organization_id, l.conversion_id, sum(l.native_amount_cents) as cents from payout_line l
  join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
  where {org:l} and p.status = 'Paid' group by 1, 2) l
on l.organization_id = c.organization_id and l.conversion_id = c.id
left join (select b.organization_id, b.conversion_id, -sum(b.amount_cents) as cents from ledger_entry b
  where {org:b} and b.kind = 'paid_before' group by 1, 2) b
on b.organization_id = c.organization_id and b.conversion_id = c.id
where {org:c} and c.paid_cents <> coalesce(l.cents, 0) + coalesce(b.cents, 0)""",
    "a conversion that is Paid was paid what it earns, or is locked history": """
select format('conversion %s: %s of %s', c.id, c.paid_cents, c.commission_cents - c.reversed_cents) from conversion c
where {org:c} and c.status = 'Paid' and not c.payout_locked and c.paid_cents < c.commission_cents - c.reversed_cents""",
    "a line pays its payout's affiliate for what they earned, in its currency": """
select format('line %s', l.id) from payout_line l
join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
where {org:l} and (c.affiliate_id <> p.affiliate_id or c.currency <> l.native_currency or c.is_test or c.payout_locked)
union all
select format('line %s pays for a conversion that is gone', l.id) from payout_line l
where {org:l} and not exists (select from conversion c
  where c.organization_id = l.organization_id and c.id = l.conversion_id)""",
    "a Processing payout has a job that asks its rail": """
select format('payout %s is Processing since %s and no job asks its rail', p.id, p.submitted_at) from payout p
where {org:p} and p.status = 'Processing' and p.submitted_at < now() - {long_ago} and {no_job_asks}""",
    "a payout that may be sent has a job that sends it": """
select format('payout %s is Pending since %s and no job sends it', p.id, p.created_at) from payout p
join payout_run r on r.organization_id = p.organization_id and r.id = p.run_id
where {org:p} and p.status = 'Pending' and p.created_at < now() - {long_ago} and p.exported_at is null
and coalesce(r.review_status, 'Approved') = 'Approved' and {no_job_asks}""",
}

RULES: Mapping[str, str] = {**EARNINGS, **WORK, **day_rules.DAYS, **PAYOUTS, **deal_rules.DEALS}


def find_exceptions(organization_id: UUID, *, limit: int) -> list[tuple[str, str]]:
    """Return `(rule, exception)` for all violations in an organization, at most `limit` per rule."""
    db.stage("set local statement_timeout = %s", (_STATEMENT_TIMEOUT,))
    with allowing_table_scans():
        return [
            (rule, exception)
            for rule, sql in RULES.items()
            for (exception,) in db.run(f"{scope_to_organization(sql, organization_id)} limit {int(limit)}")
        ]


def scope_to_organization(sql: str, organization_id: UUID | None) -> str:
    """Return a rule's SQL for one organization; None checks all of them."""
    return sql.format(org=_Scope(organization_id), **_PIECES)


class _Scope:
    """Formats `{org:c}` as a condition on `c.organization_id`, and `{org:expression}` as one on the expression."""

    def __init__(self, organization_id: UUID | None) -> None:
        self._organization_id = organization_id

    def __format__(self, what: str) -> str:
        if self._organization_id is None:
            return "true"
        column = f"{what}.organization_id" if what.isidentifier() and len(what) == 1 else what
        return f"{column} = '{self._organization_id}'"
