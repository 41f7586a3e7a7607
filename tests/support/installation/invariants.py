"""Invariants of the money, each as a statement that returns its violations, one text per violation.

`list_violations` checks them through any function that runs SQL, sees every row and returns tuples; nothing here
depends on a test, a clock or a process. All rules except those of `WHEN_FINISHED` hold at every time, also while jobs
run. The rules about the money itself are those of `models.ledger.rules`, which the service checks by itself; these are
about the events that it has sent and the jobs that it still has.
"""

from collections.abc import Mapping
from uuid import UUID

from models.ledger import rules
from models.ledger.rules import Rows

#: Rules that hold at every time.
ALWAYS: Mapping[str, str] = {
    **rules.RULES,
    "a settled sale has its conversion, and only a settled sale has one": """
select s.external_event_id from sale s
left join conversion c on c.organization_id = s.organization_id and c.id = s.id
where (s.settled_at is null) <> (c.id is null) and {org:s}
union all
select c.external_event_id from conversion c
left join sale s on s.organization_id = c.organization_id and s.id = c.id
where c.source = 's2s' and s.id is null and {org:c}""",
    "a row that aggregates clicks earned the fee of each, and no other click earned": """
select coalesce(c.external_event_id, k.conversion_id::text, '') from (
  select * from conversion c where c.source = 'cpc' and {org:c}) c
full join (
  select conversion_id, count(*) as clicks from click where outcome in ('earned', 'held') and {org:organization_id}
  group by conversion_id) k on k.conversion_id = c.id
where c.id is null or k.clicks is null
or c.commission_cents / k.clicks / nullif(c.rate_value, 0) not in (1, 100, 1000, 10000)
and not exists (select from commission_change m where m.conversion_id = c.id)""",
    "every conversion is announced once": """
with announced as materialized (
  select e.organization_id, (e.body::jsonb #>> '{{data,conversionId}}')::uuid as conversion_id
  from event e where e.type = 'conversion.created' and {org:e})
select coalesce(c.external_event_id, announced.conversion_id::text)
from (select * from conversion c where {org:c}) c
full join announced on announced.organization_id = c.organization_id and announced.conversion_id = c.id
group by c.id, c.external_event_id, announced.conversion_id
having count(announced.conversion_id) <> 1 or c.id is null""",
    "every refund of every row is announced once": """
with announced as materialized (
  select e.organization_id, data.* from event e cross join lateral
  jsonb_to_record(e.body::jsonb -> 'data') as data
    ("conversionId" uuid, "cumulativeRefundedAmountCents" bigint, "commissionReversedCents" bigint)
  where e.type = 'conversion.refunded' and {org:e}),
happened as (
  select v.organization_id, v.conversion_id, r.cumulative_cents, v.commission_cents
  from reversal v join refund r on r.id = v.refund_id where not r.is_restoration and {org:v})
select conversion_id::text from (
  select *, 1 from happened union all select *, -1 from announced) counted (org, conversion_id, total, reversed, times)
group by 1, org, total, reversed having sum(times) <> 0""",
    "every restored refund of a row is announced once": """
with announced as materialized (
  select e.organization_id, data.* from event e cross join lateral
  jsonb_to_record(e.body::jsonb -> 'data') as data
    ("conversionId" uuid, reason text, "commissionCents" bigint, "previousCommissionCents" bigint)
  where e.type = 'conversion.adjusted' and {org:e})
select conversion_id::text from (
  select v.organization_id, v.conversion_id, v.commission_cents, 1
  from reversal v join refund r on r.id = v.refund_id where r.is_restoration and {org:v}
  union all
  select organization_id, "conversionId", "previousCommissionCents" - "commissionCents", -1
  from announced where reason = 'refund_restored') counted (org, conversion_id, cents, times)
group by 1, org, cents having sum(times) <> 0""",
    "an event has one delivery per endpoint that subscribed to it before": """
select e.id::text from event e join webhook_endpoint w on w.organization_id = e.organization_id
and w.created_at < e.created_at and w.deleted_at is null and (w.events @> '{{*}}' or e.type = any (w.events))
left join delivery d on d.event_id = e.id and d.endpoint_id = w.id where {org:e} and d.id is null""",
    "an attempt belongs to a delivery of the same event": """
select a.delivery_id::text from delivery_attempt a left join delivery d on d.organization_id = a.organization_id
and d.id = a.delivery_id and d.event_id = a.event_id where {org:a} and d.id is null""",
    "a delivery that is pending has a job to deliver it": """
select d.id::text from delivery d where d.status = 'Pending' and {org:d}
and not exists (select from job j where j.name = 'webhook.deliver' and j.args ->> 'delivery_id' = d.id::text)""",
    "a row's history has one first entry and one entry per refund": """
select c.external_event_id from conversion c left join conversion_event h on h.conversion_id = c.id
where {org:c} group by c.organization_id, c.id
having count(h.id) filter (where h.event_type in ('initial', 'renewal')) <> 1
or count(h.id) filter (where h.event_type = 'refund') <> (select count(*)
  from reversal v join refund r on r.id = v.refund_id where v.conversion_id = c.id and not r.is_restoration)
or sum(h.commission_cents) <> c.commission_cents - c.reversed_cents""",
    "an affiliate's revenue is the net amount of their sales": """
select coalesce(r.affiliate_id, k.affiliate_id)::text from (
  select organization_id, affiliate_id, currency, sum(net_cents) as cents from affiliate_revenue group by 1, 2, 3) r
full join (
  select organization_id, affiliate_id, currency, sum(amount_cents - refunded_cents) as cents from conversion
  where parent_id is null and not is_test group by 1, 2, 3) k using (organization_id, affiliate_id, currency)
where coalesce(r.cents, 0) <> coalesce(k.cents, 0) and {org:organization_id}""",
    # Customers of gateways have payments and no sales.
    "a customer has as many payments as sales, and the sales are numbered from one": """
select c.customer_key from program_customer c
join program_customer n on n.organization_id = c.organization_id and n.program_id = c.program_id
and coalesce(n.joined_to, n.customer_key) = c.customer_key
left join sale s on s.organization_id = n.organization_id
and s.program_id = n.program_id and s.customer_key = n.customer_key
where {org:c} and c.joined_to is null and c.gateway is null group by c.organization_id, c.program_id, c.customer_key
having count(s.id) > 0 and (count(s.id) <> c.payments or count(distinct s.customer_ordinal) <> c.payments
or max(s.customer_ordinal) <> c.payments)""",
}

#: Rules that hold when no work is left.
WHEN_FINISHED: Mapping[str, str] = {
    "no job is left, failed or not": """
select j.id || ' ' || j.name || coalesce(': ' || j.last_error, '') from job j where {org:j}""",
    "no delivery is pending": "select d.id::text from delivery d where d.status = 'Pending' and {org:d}",
    "every sale of a recruit has its override, on the current terms of the program": """
select p.external_event_id from conversion p join affiliate a on a.id = p.affiliate_id
join program g on g.id = p.program_id and g.sub_affiliate_enabled
left join conversion c on c.organization_id = p.organization_id and c.parent_id = p.id
where p.parent_id is null and a.recruited_by_affiliate_id is not null and {org:p}
and p.type not in ('ClickReward', 'LeadReward')
and p.commission_cents * g.sub_affiliate_percent / 100 > 0.5
and (c.affiliate_id, c.rate_value) is distinct from (a.recruited_by_affiliate_id, g.sub_affiliate_percent)""",
    "every refund reversed the sale and its override": """
select r.id::text from refund r join conversion c on c.id = r.conversion_id or c.parent_id = r.conversion_id
left join reversal v on v.refund_id = r.id and v.conversion_id = c.id
where c.status <> 'Paid' and {org:r} and v.refund_id is null""",
    "an override was reversed by the same fraction as its sale": """
select c.external_event_id from conversion c join conversion p on p.id = c.parent_id
where c.status not in ('Paid', 'Denied', 'Invalidated') and p.amount_cents > 0 and {org:c}
and not coalesce((select r.is_full from refund r where r.conversion_id = c.id order by r.place desc limit 1), false)
and (abs(c.reversed_cents - c.commission_cents::numeric * p.refunded_cents / p.amount_cents) > 0.5
or (p.status = 'Refunded') <> (c.status = 'Refunded'))""",
}


def list_violations(rows: Rows, *, organization_id: UUID | None = None, is_finished: bool = True) -> list[str]:
    """Return `rule: exception` for every violation, at most five per rule.

    Without `organization_id` all organizations are checked; `is_finished` False leaves out the rules of WHEN_FINISHED.
    """
    sql_by_rule = {**ALWAYS, **WHEN_FINISHED} if is_finished else ALWAYS
    return [
        f"{rule}: {exception}"
        for rule, sql in sql_by_rule.items()
        for (exception,) in rows(f"{rules.scope_to_organization(sql, organization_id)} limit 5")
    ]
