"""The select of the affiliate credited by a lead that has the buyer's email."""

from domain import leads
from domain.attribution import email_match
from domain.gateways.names import Gateway
from models.conditions import SALE_RANK
from models.gateways.credit_sources import accounts
from models.gateways.credit_sources.brought import same_id_sql
from models.gateways.credit_sources.columns import NO_CODE, SECOND_AFTER

_CREDITS_OWN_EMAIL = ", ".join(f"'{gateway.value}'" for gateway in email_match.CREDITS_OWN_EMAIL)
_GATEWAYS = ", ".join(f"'{gateway.value}'" for gateway in Gateway)

_GATEWAY_PAYMENT = "g.organization_id = %(org)s and g.is_test = %(is_test)s and g.paid_cents > 0"
_SIGNED_SALE = "s.organization_id = %(org)s and s.is_test = %(is_test)s"
_PAST_SALE = "c.organization_id = %(org)s and c.is_test = %(is_test)s"
# SQL for the time of the buyer's first payment: by email at any gateway, by customer or subscription at this one, or by
# any of them in a signed, an imported or a manual sale or a former system. Each is one index lookup.
_FIRST_PAID_AT = f"""(select min(first.paid_at) from (
  select (
    select g.paid_at from gateway_payment g
    where {_GATEWAY_PAYMENT} and g.gateway = known.gateway and g.email_normalized = %(email)s
    order by g.paid_at limit 1
  ) as paid_at from unnest(array[{_GATEWAYS}]) known (gateway)
  union all
  (select g.paid_at from gateway_payment g
    where {_GATEWAY_PAYMENT} and g.gateway = %(gateway)s and g.customer_id = %(customer)s
    order by g.paid_at limit 1)
  union all
  (select g.paid_at from gateway_payment g
    where {_GATEWAY_PAYMENT} and g.gateway = %(gateway)s and g.subscription_id = %(subscription)s
    order by g.paid_at limit 1)
  union all
  (select s.accepted_at from sale s where {_SIGNED_SALE} and s.email_normalized = %(email)s
    order by s.accepted_at limit 1)
  union all
  (select s.accepted_at from sale s
    where {_SIGNED_SALE} and s.customer_id = %(customer)s and {same_id_sql("customer", "s.email_normalized")}
    order by s.accepted_at limit 1)
  union all
  (select c.occurred_at from conversion c
    where {_PAST_SALE} and c.email_normalized = %(email)s and c.type <> 'Bonus'
    order by c.occurred_at limit 1)
  union all
  (select c.occurred_at from conversion c
    where {_PAST_SALE} and c.source in ('import', 'manual') and c.processor_customer_id = %(customer)s
      and {same_id_sql("customer", "c.email_normalized")}
    order by c.occurred_at limit 1)
  union all
  (select c.occurred_at from conversion c
    where {_PAST_SALE} and c.source = 'import' and c.processor_subscription_id = %(subscription)s
      and {same_id_sql("subscription", "c.email_normalized")}
    order by c.occurred_at limit 1)
  union all
  (select b.first_paid_at from brought_customer b
    where b.organization_id = %(org)s and not %(is_test)s and b.email_normalized = %(email)s
      and b.first_paid_at is not null
    order by b.first_paid_at limit 1)
  union all
  (select b.first_paid_at from brought_customer b
    where b.organization_id = %(org)s and not %(is_test)s and b.customer_id = %(customer)s
      and b.first_paid_at is not null and {same_id_sql("customer", "b.email_normalized")}
    order by b.first_paid_at limit 1)
  union all
  (select b.first_paid_at from brought_customer b
    where b.organization_id = %(org)s and not %(is_test)s and b.subscription_id = %(subscription)s
      and b.first_paid_at is not null and {same_id_sql("subscription", "b.email_normalized")}
    order by b.first_paid_at limit 1)
) first)"""
# Gateways report whole seconds: a lead of the same second as a payment counts as before it. However many leads a person
# has, only the newest are read, in the order of their index.
_NEWEST = f"""
    select l.id, l.affiliate_id, l.sub_id, l.occurred_at,
      {_FIRST_PAID_AT} < date_trunc('second', l.occurred_at) as is_after_payment
    from lead l
    where l.organization_id = %(org)s and l.email_normalized = %(email)s and l.is_test = %(is_test)s
      and l.state <> 'Invalidated'
      and l.occurred_at > %(at)s::timestamptz - interval '{leads.WINDOW.days} days'
      and l.occurred_at < {SECOND_AFTER}
    order by l.occurred_at desc, l.id desc limit {leads.MAX_MATCHED}
"""
# The newest whose affiliate may earn on this sale; else the one that best explains why none may.
SELECT = f"""
(select 1, 'lead', null, a.id, l.id, l.sub_id, l.occurred_at, coalesce(l.is_after_payment, false), {NO_CODE}
  from ({_NEWEST}) l
  join affiliate own on own.id = l.affiliate_id and own.deleted_at is null
  join affiliate a on a.id = {accounts.seller_sql("own")}
  join program p on p.id = a.program_id
  order by coalesce(l.is_after_payment, false),
    a.email_normalized = %(email)s and %(gateway)s not in ({_CREDITS_OWN_EMAIL}),
    {SALE_RANK}, l.occurred_at desc, l.id desc limit 1)
"""
