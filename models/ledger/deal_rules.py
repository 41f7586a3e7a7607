"""Rules for the money of deals, in the form of `models.ledger.rules`."""

from collections.abc import Mapping

#: Rules for what came into escrow, what left it, and the requests to funding sources.
DEALS: Mapping[str, str] = {
    "a deal's totals are what the ledger booked, and nothing is missing from its escrow": """
select format('deal %s: charged %s, take %s, paid %s, returned %s, held %s; the ledger says %s, %s, %s, %s', d.id,
  d.charged_cents, d.take_cents, d.paid_cents, d.returned_cents, d.escrow_cents, l.charged, l.take, l.paid, l.returned)
from deal d cross join lateral (
  select coalesce(sum(l.amount_cents) filter (where l.kind = 'escrow_in'), 0) as charged,
    coalesce(-sum(l.amount_cents) filter (where l.kind = 'take'), 0) as take,
    coalesce(-sum(l.amount_cents) filter (where l.kind = 'escrow_out'), 0) as paid,
    coalesce(-sum(l.amount_cents) filter (where l.kind = 'escrow_back'), 0) as returned
  from deal_milestone m join ledger_entry l on l.organization_id = m.organization_id and l.milestone_id = m.id
  where m.organization_id = d.organization_id and m.deal_id = d.id) l
where {org:d} and ((d.charged_cents, d.take_cents, d.paid_cents, d.returned_cents)
  is distinct from (l.charged, l.take, l.paid, l.returned)
  or d.escrow_cents <> l.charged - l.take - l.paid - l.returned or d.escrow_cents < 0)""",
    "a milestone was charged, paid and given back what the ledger booked": """
select format('milestone %s (%s): %s and %s on top, paid %s, returned %s; the ledger says %s, %s, %s, %s', m.id,
  m.status, m.amount_cents, m.take_cents, m.paid_cents, m.returned_cents, l.charged, l.take, l.paid, l.returned)
from deal_milestone m cross join lateral (
  select coalesce(sum(l.amount_cents) filter (where l.kind = 'escrow_in'), 0) as charged,
    coalesce(-sum(l.amount_cents) filter (where l.kind = 'take'), 0) as take,
    coalesce(-sum(l.amount_cents) filter (where l.kind = 'escrow_out'), 0) as paid,
    coalesce(-sum(l.amount_cents) filter (where l.kind = 'escrow_back'), 0) as returned
  from ledger_entry l where l.organization_id = m.organization_id and l.milestone_id = m.id) l
where {org:m} and (m.paid_cents <> l.paid or m.returned_cents <> l.returned
  or m.paid_cents + m.returned_cents > m.amount_cents
  or case m.status when 'Pending' then l.charged <> 0 or l.take <> 0
    else l.charged <> m.amount_cents + m.take_cents or l.take <> m.take_cents end)""",
    "a funded deal was charged once, for its milestones and the take": """
select format('deal %s (%s): charged %s by %s', d.id, d.status, d.charged_cents, coalesce(sum(r.amount_cents), 0))
from deal d left join deal_request r on r.organization_id = d.organization_id and r.deal_id = d.id
  and r.kind = 'charge' and r.state = 'paid'
where {org:d} group by d.organization_id, d.id
having coalesce(sum(r.amount_cents), 0) <> d.charged_cents or count(r.id) > 1""",
    "what of a milestone went back was given back by one refund": """
select format('milestone %s: %s by %s', m.id, m.returned_cents, coalesce(sum(r.amount_cents), 0))
from deal_milestone m left join deal_request r on r.organization_id = m.organization_id and r.milestone_id = m.id
  and r.kind = 'refund' and r.state = 'paid'
where {org:m} group by m.organization_id, m.id
having coalesce(sum(r.amount_cents), 0) <> m.returned_cents or count(r.id) > 1""",
    "a milestone was paid what its Paid payout pays, and by no other": """
select format('milestone %s: %s by %s', m.id, m.paid_cents, coalesce(sum(r.native_amount_cents), 0))
from deal_milestone m
left join payout p on p.organization_id = m.organization_id and p.milestone_id = m.id and p.status = 'Paid'
left join deal_release r on r.organization_id = p.organization_id and r.payout_id = p.id
where {org:m} group by m.organization_id, m.id
having coalesce(sum(r.native_amount_cents), 0) <> m.paid_cents or count(p.id) > 1""",
    "a payout of a milestone is what its release says at its rate, to the deal's affiliate, without lines": """
select format('payout %s: %s US cents', p.id, p.amount_cents) from payout p
left join deal_release r on r.organization_id = p.organization_id and r.payout_id = p.id
left join deal_milestone m on m.organization_id = p.organization_id and m.id = p.milestone_id
left join deal d on d.organization_id = m.organization_id and d.id = m.deal_id
where {org:p} and p.milestone_id is not null and (r.payout_id is null or r.milestone_id <> p.milestone_id
  or d.affiliate_id <> p.affiliate_id or d.currency <> r.native_currency
  or r.native_currency = 'USD' and r.native_amount_cents <> p.amount_cents
  or r.native_amount_cents > m.amount_cents
  or exists (select from payout_line l where l.organization_id = p.organization_id and l.payout_id = p.id))
union all
select format('release %s of a payout of none', r.payout_id) from deal_release r
join payout p on p.organization_id = r.organization_id and p.id = r.payout_id
where {org:r} and p.milestone_id is null""",
    "a charge or refund on its way has a job that asks its source": """
select format('%s %s is %s since %s and no job asks its source', r.kind, r.key, r.state, r.created_at)
from deal_request r
where {org:r} and r.state in ('intent', 'unknown', 'accepted') and r.created_at < now() - {long_ago}
and not exists (select from job j where j.organization_id = r.organization_id
  and j.name = 'deal.ask' and j.args ->> 'request_id' = r.id::text and j.failed_at is null)""",
}
