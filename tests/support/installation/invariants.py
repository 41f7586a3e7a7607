"""What must be true of the money whatever happened, each rule as the statement that finds its exceptions.

`broken` asks all of them through any function that runs SQL, sees every row and returns tuples; nothing here knows a
test, a clock or a process. A rule returns one text per exception. All rules but those of `UNFINISHED` hold at every
moment, also while work is under way. Those about the money itself are `models.ledger.rules`'s, which the service asks
by itself; these are about what it told others and what it still has to do.
"""

from collections.abc import Mapping
from uuid import UUID

from models.ledger import rules
from models.ledger.rules import Rows

#: True at every moment.
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
    "a row that gathers clicks earned the fee of each, and no other click earned": """
select coalesce(c.external_event_id, k.conversion_id::text, '') from (
  select * from conversion c where c.source = 'cpc' and {org:c}) c
full join (
  select conversion_id, count(*) as clicks from click where outcome in ('earned', 'held') and {org:organization_id}
  group by conversion_id) k on k.conversion_id = c.id
where c.id is null or k.clicks is null
or c.commission_cents / k.clicks / nullif(c.rate_value, 0) not in (1, 100, 1000, 10000)
and not exists (select from commission_change m where m.conversion_id = c.id)""",
    "every conversion is announced once": """
with told as materialized (
  select e.organization_id, (e.body::jsonb #>> '{{data,conversionId}}')::uuid as conversion_id
  from event e where e.type = 'conversion.created' and {org:e})
select coalesce(c.external_event_id, told.conversion_id::text)
from (select * from conversion c where {org:c}) c
full join told on told.organization_id = c.organization_id and told.conversion_id = c.id
group by c.id, c.external_event_id, told.conversion_id having count(told.conversion_id) <> 1 or c.id is null""",
    "every refund of every row is announced once": """
with told as materialized (
  select e.organization_id, data.* from event e cross join lateral
  jsonb_to_record(e.body::jsonb -> 'data') as data
    ("conversionId" uuid, "cumulativeRefundedAmountCents" bigint, "commissionReversedCents" bigint)
  where e.type = 'conversion.refunded' and {org:e}),
happened as (
  select v.organization_id, v.conversion_id, r.cumulative_cents, v.commission_cents
  from reversal v join refund r on r.id = v.refund_id where not r.is_restoration and {org:v})
select conversion_id::text from (
  select *, 1 from happened union all select *, -1 from told) counted (org, conversion_id, total, reversed, times)
group by 1, org, total, reversed having sum(times) <> 0""",
    "money that came back to a row is announced once": """
with told as materialized (
  select e.organization_id, data.* from event e cross join lateral
  jsonb_to_record(e.body::jsonb -> 'data') as data
    ("conversionId" uuid, reason text, "commissionCents" bigint, "previousCommissionCents" bigint)
  where e.type = 'conversion.adjusted' and {org:e})
select conversion_id::text from (
  select v.organization_id, v.conversion_id, v.commission_cents, 1
  from reversal v join refund r on r.id = v.refund_id where r.is_restoration and {org:v}
  union all
  select organization_id, "conversionId", "previousCommissionCents" - "commissionCents", -1
  from told where reason = 'refund_restored') counted (org, conversion_id, cents, times)
group by 1, org, cents having sum(times) <> 0""",
    "an event has one delivery per endpoint that subscribed to it before": """
select e.id::text from event e join webhook_endpoint w on w.organization_id = e.organization_id
and w.created_at < e.created_at and w.deleted_at is null and (w.events @> '{{*}}' or e.type = any (w.events))
left join delivery d on d.event_id = e.id and d.endpoint_id = w.id where {org:e} and d.id is null""",
    "an attempt is of a delivery, and lies by its event": """
select a.delivery_id::text from delivery_attempt a left join delivery d on d.organization_id = a.organization_id
and d.id = a.delivery_id and d.event_id = a.event_id where {org:a} and d.id is null""",
    "a delivery that is pending has a job to deliver it": """
select d.id::text from delivery d where d.status = 'Pending' and {org:d}
and not exists (select from job j where j.name = 'webhook.deliver' and j.args ->> 'delivery_id' = d.id::text)""",
    "a row's history has one beginning and one line per refund": """
select c.external_event_id from conversion c left join conversion_event h on h.conversion_id = c.id
where {org:c} group by c.organization_id, c.id
having count(h.id) filter (where h.event_type in ('initial', 'renewal')) <> 1
or count(h.id) filter (where h.event_type = 'refund') <> (select count(*)
  from reversal v join refund r on r.id = v.refund_id where v.conversion_id = c.id and not r.is_restoration)
or sum(h.commission_cents) <> c.commission_cents - c.reversed_cents""",
    "an affiliate's revenue is what their sales kept": """
select coalesce(r.affiliate_id, k.affiliate_id)::text from (
  select organization_id, affiliate_id, currency, sum(net_cents) as cents from affiliate_revenue group by 1, 2, 3) r
full join (
  select organization_id, affiliate_id, currency, sum(amount_cents - refunded_cents) as cents from conversion
  where parent_id is null and not is_test group by 1, 2, 3) k using (organization_id, affiliate_id, currency)
where coalesce(r.cents, 0) <> coalesce(k.cents, 0) and {org:organization_id}""",
    # Those of gateways have payments and no sales.
    "a customer has paid as often as there are sales to them, which are numbered from one": """
select c.customer_key from program_customer c
join program_customer n on n.organization_id = c.organization_id and n.program_id = c.program_id
and coalesce(n.joined_to, n.customer_key) = c.customer_key
left join sale s on s.organization_id = n.organization_id
and s.program_id = n.program_id and s.customer_key = n.customer_key
where {org:c} and c.joined_to is null and c.gateway is null group by c.organization_id, c.program_id, c.customer_key
having count(s.id) > 0 and (count(s.id) <> c.payments or count(distinct s.customer_ordinal) <> c.payments
or max(s.customer_ordinal) <> c.payments)""",
}

#: True when no work is left.
WHEN_FINISHED: Mapping[str, str] = {
    "no job is left, dead or alive": """
select j.id || ' ' || j.name || coalesce(': ' || j.last_error, '') from job j where {org:j}""",
    "no delivery is pending": "select d.id::text from delivery d where d.status = 'Pending' and {org:d}",
    "every sale of a recruit has its override, on terms that have not changed since": """
select p.external_event_id from conversion p join affiliate a on a.id = p.affiliate_id
join program g on g.id = p.program_id and g.sub_affiliate_enabled
left join conversion c on c.organization_id = p.organization_id and c.parent_id = p.id
where p.parent_id is null and a.recruited_by_affiliate_id is not null and {org:p}
and p.type not in ('ClickReward', 'LeadReward')
and p.commission_cents * g.sub_affiliate_percent / 100 > 0.5
and (c.affiliate_id, c.rate_value) is distinct from (a.recruited_by_affiliate_id, g.sub_affiliate_percent)""",
    "every refund reached the sale and its override": """
select r.id::text from refund r join conversion c on c.id = r.conversion_id or c.parent_id = r.conversion_id
left join reversal v on v.refund_id = r.id and v.conversion_id = c.id
where c.status <> 'Paid' and {org:r} and v.refund_id is null""",
    "an override has given back the fraction that its sale did": """
select c.external_event_id from conversion c join conversion p on p.id = c.parent_id
where c.status not in ('Paid', 'Denied', 'Invalidated') and p.amount_cents > 0 and {org:c}
and not coalesce((select r.is_full from refund r where r.conversion_id = c.id order by r.place desc limit 1), false)
and (abs(c.reversed_cents - c.commission_cents::numeric * p.refunded_cents / p.amount_cents) > 0.5
or (p.status = 'Refunded') <> (c.status = 'Refunded'))""",
}


def list_violations(rows: Rows, *, organization_id: UUID | None = None, is_finished: bool = True) -> list[str]:
    """Return `rule: exception` for everything that is not as it must be, at most five per rule.

    None looks at every organization. `is_finished` False leaves out what is only true when no work is left.
    """
    asked = {**ALWAYS, **WHEN_FINISHED} if is_finished else ALWAYS
    return [
        f"{rule}: {exception}"
        for rule, sql in asked.items()
        for (exception,) in rows(f"{rules.scope_to_organization(sql, organization_id)} limit 5")
    ]
