"""What must be true of the money whatever happened, each rule as the statement that finds its exceptions.

`broken` asks all of them through any function that runs SQL, sees every row and returns tuples; nothing here knows a
test, a clock or a process, so an operator's job may ask as well. A rule returns one text per exception. All rules but
those of `UNFINISHED` hold at every moment, also while work is under way.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

Rows = Callable[..., list[tuple[Any, ...]]]

# Minor units of a percentage, half to even, written out again here so that the service's own rounding is checked too.
_SHARE = """
cross join lateral (select p.commission_cents * c.rate_value / 100 as exact) x
cross join lateral (select floor(exact) + case
  when exact - floor(exact) > 0.5 or (exact - floor(exact) = 0.5 and floor(exact) % 2 = 1) then 1 else 0 end as cents
) share
"""

#: True at every moment.
ALWAYS: Mapping[str, str] = {
    "a settled sale has its conversion, and only a settled sale has one": """
select s.external_event_id from sale s
left join conversion c on c.organization_id = s.organization_id and c.id = s.id
where (s.settled_at is null) <> (c.id is null) and {org:s}
union all
select c.external_event_id from conversion c
left join sale s on s.organization_id = c.organization_id and s.id = c.id
where c.source = 's2s' and s.id is null and {org:c}""",
    "an accepted sale that is not settled has a job to settle it": """
select s.external_event_id from sale s where s.settled_at is null and {org:s}
and not exists (select from job j where j.name = 'sale.settle' and j.args ->> 'sale_id' = s.id::text)""",
    "the ledger earned what the conversion says": """
select c.external_event_id from conversion c left join ledger_entry l on l.conversion_id = c.id and l.kind = 'earn'
where {org:c} and not c.payout_locked group by c.id
having count(l.id) > 1 or coalesce(sum(l.amount_cents), 0) <> c.commission_cents
and not (count(l.id) = 0 and exists (select from event e where e.organization_id = c.organization_id
  and e.type = 'conversion.created' and e.body::jsonb #>> '{{data,conversionId}}' = c.id::text
  and e.body::jsonb #>> '{{data,status}}' in ('Denied', 'Invalidated')))""",
    "the ledger comes to what a conversion still earns, and to nothing for one that earns nothing": """
select c.external_event_id from conversion c left join ledger_entry l on l.conversion_id = c.id
and l.kind in ('earn', 'reverse', 'adjust') where {org:c} and not c.payout_locked
group by c.id having coalesce(sum(l.amount_cents), 0) <>
case when c.status in ('Denied', 'Invalidated') then 0 else c.commission_cents - c.reversed_cents end""",
    "the ledger took back what the conversion says": """
select c.external_event_id from conversion c left join ledger_entry l on l.conversion_id = c.id and l.kind = 'reverse'
where {org:c} group by c.id having coalesce(sum(l.amount_cents), 0) <> -c.reversed_cents""",
    "the ledger and the conversion name one affiliate and one currency": """
select l.id::text from ledger_entry l join conversion c on c.id = l.conversion_id
where (l.affiliate_id, l.currency, l.organization_id) is distinct from (c.affiliate_id, c.currency, c.organization_id)
and {org:l}""",
    "nothing is refunded or taken back beyond what there was": """
select c.external_event_id from conversion c where {org:c}
and not (c.refunded_cents between 0 and c.amount_cents and c.reversed_cents between 0 and c.commission_cents)""",
    "the refunds of a sale add up to what it says, each on top of the one before": """
select c.external_event_id from conversion c left join refund r on r.conversion_id = c.id
where c.parent_id is null and {org:c} group by c.id
having coalesce(sum(r.amount_cents), 0) <> c.refunded_cents or coalesce(max(r.cumulative_cents), 0) <> c.refunded_cents
union all
select r.id::text from refund r where {org:r} and r.cumulative_cents <>
(select sum(b.amount_cents) from refund b
 where b.conversion_id = r.conversion_id and b.cumulative_cents <= r.cumulative_cents)""",
    "the reversals of a row add up to what it says": """
select c.external_event_id from conversion c left join reversal v on v.conversion_id = c.id
where {org:c} group by c.id having coalesce(sum(v.commission_cents + v.late_cents), 0) <> c.reversed_cents""",
    "a sale refunded in full has given everything back": """
select c.external_event_id from conversion c where c.parent_id is null and {org:c}
and c.status not in ('Denied', 'Invalidated') and c.amount_cents > 0
and (c.refunded_cents = c.amount_cents) <> (c.status = 'Refunded' and c.reversed_cents = c.commission_cents)""",
    "a sale has at most one override, and it is the share it says of the sale's commission": f"""
select c.external_event_id from conversion c join conversion p on p.id = c.parent_id {_SHARE}
where {{org:c}} and (c.commission_cents <> share.cents or c.currency <> p.currency or c.amount_cents <> 0)
union all
select c.parent_id::text from conversion c where c.parent_id is not null and {{org:c}}
group by c.parent_id having count(*) > 1""",
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
  from reversal v join refund r on r.id = v.refund_id where {org:v})
select coalesce(h.conversion_id, told."conversionId")::text from happened h
full join told on told.organization_id = h.organization_id and told."conversionId" = h.conversion_id
and told."cumulativeRefundedAmountCents" = h.cumulative_cents and told."commissionReversedCents" = h.commission_cents
group by h.conversion_id, h.cumulative_cents, told."conversionId", told."cumulativeRefundedAmountCents"
having count(told."conversionId") <> 1 or h.conversion_id is null""",
    "an event has one delivery per endpoint that subscribed to it before": """
select e.id::text from event e join webhook_endpoint w on w.organization_id = e.organization_id
and w.created_at < e.created_at and w.deleted_at is null and (w.events @> '{{*}}' or e.type = any (w.events))
left join delivery d on d.event_id = e.id and d.endpoint_id = w.id where {org:e} and d.id is null""",
    "a delivery that is pending has a job to deliver it": """
select d.id::text from delivery d where d.status = 'Pending' and {org:d}
and not exists (select from job j where j.name = 'webhook.deliver' and j.args ->> 'delivery_id' = d.id::text)""",
    "a row's history has one beginning and one line per refund": """
select c.external_event_id from conversion c left join conversion_event h on h.conversion_id = c.id
where {org:c} group by c.id
having count(h.id) filter (where h.event_type in ('initial', 'renewal')) <> 1
or count(h.id) filter (where h.event_type = 'refund') <> (select count(*) from reversal v where v.conversion_id = c.id)
or sum(h.commission_cents) <> c.commission_cents - c.reversed_cents""",
    "an affiliate's revenue is what their sales kept": """
select coalesce(r.affiliate_id, k.affiliate_id)::text from (
  select organization_id, affiliate_id, currency, sum(net_cents) as cents from affiliate_revenue group by 1, 2, 3) r
full join (
  select organization_id, affiliate_id, currency, sum(amount_cents - refunded_cents) as cents from conversion
  where parent_id is null and not is_test group by 1, 2, 3) k using (organization_id, affiliate_id, currency)
where r.cents is distinct from k.cents and {org:organization_id}""",
    "a customer has paid as often as there are sales to them, which are numbered from one": """
select c.customer_key from program_customer c left join sale s on s.organization_id = c.organization_id
and s.program_id = c.program_id and s.customer_key = c.customer_key
where {org:c} group by c.organization_id, c.program_id, c.customer_key
having count(s.id) <> c.payments or count(distinct s.customer_ordinal) <> c.payments
or max(s.customer_ordinal) <> c.payments""",
}

#: True when no work is left.
UNFINISHED: Mapping[str, str] = {
    "no job is left, dead or alive": """
select j.id || ' ' || j.name || coalesce(': ' || j.last_error, '') from job j where {org:j}""",
    "no delivery is pending": "select d.id::text from delivery d where d.status = 'Pending' and {org:d}",
    "every sale of a recruit has its override, on terms that have not changed since": """
select p.external_event_id from conversion p join affiliate a on a.id = p.affiliate_id
join program g on g.id = p.program_id and g.sub_affiliate_enabled
left join conversion c on c.organization_id = p.organization_id and c.parent_id = p.id
where p.parent_id is null and a.recruited_by_affiliate_id is not null and {org:p}
and p.commission_cents * g.sub_affiliate_percent / 100 > 0.5
and (c.affiliate_id, c.rate_value) is distinct from (a.recruited_by_affiliate_id, g.sub_affiliate_percent)""",
    "every refund reached the sale and its override": """
select r.id::text from refund r join conversion c on c.id = r.conversion_id or c.parent_id = r.conversion_id
left join reversal v on v.refund_id = r.id and v.conversion_id = c.id
where c.status <> 'Paid' and {org:r} and v.refund_id is null""",
    "an override has given back the fraction that its sale did": """
select c.external_event_id from conversion c join conversion p on p.id = c.parent_id
where c.status not in ('Paid', 'Denied', 'Invalidated') and p.amount_cents > 0 and {org:c}
and (abs(c.reversed_cents - c.commission_cents::numeric * p.refunded_cents / p.amount_cents) > 0.5
or (p.status = 'Refunded') <> (c.status = 'Refunded'))""",
}


def broken(rows: Rows, *, organization_id: UUID | None = None, is_finished: bool = True) -> list[str]:
    """Return `rule: exception` for everything that is not as it must be, at most five per rule.

    None looks at every organization. `is_finished` False leaves out what is only true when no work is left.
    """
    rules = {**ALWAYS, **UNFINISHED} if is_finished else ALWAYS
    return [
        f"{rule}: {exception}"
        for rule, sql in rules.items()
        for (exception,) in rows(f"{_scoped(sql, organization_id)} limit 5")
    ]


def _scoped(sql: str, organization_id: UUID | None) -> str:
    return sql.format(org=_Scope(organization_id))


class _Scope:
    """Writes `{org:c}` as a condition on `c.organization_id`, and on a whole expression as it is."""

    def __init__(self, organization_id: UUID | None) -> None:
        self._organization_id = organization_id

    def __format__(self, what: str) -> str:
        if self._organization_id is None:
            return "true"
        column = f"{what}.organization_id" if what.isidentifier() and len(what) == 1 else what
        return f"{column} = '{self._organization_id}'"
