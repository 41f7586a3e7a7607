"""When the buyer's inbox was first seen to have paid: at any gateway, by a signed sale, or by one of the past."""

from domain.gateways.names import Gateway

_GATEWAYS = ", ".join(f"'{gateway.value}'" for gateway in Gateway)

#: SQL for the time of the inbox's first payment. Each source is read by one look into an index, in its order.
FIRST_PAID_AT = f"""(select min(first.paid_at) from (
  select (
    select g.paid_at from gateway_payment g
    where g.organization_id = %(org)s and g.gateway = known.gateway and g.email_normalized = %(email)s
      and g.is_test = %(is_test)s and g.paid_cents > 0
    order by g.paid_at limit 1
  ) as paid_at from unnest(array[{_GATEWAYS}]) known (gateway)
  union all
  (select s.accepted_at from sale s
    where s.organization_id = %(org)s and s.email_normalized = %(email)s and s.is_test = %(is_test)s
    order by s.accepted_at limit 1)
  union all
  (select c.occurred_at from conversion c
    where c.organization_id = %(org)s and c.email_normalized = %(email)s and c.is_test = %(is_test)s
      and c.type <> 'Bonus'
    order by c.occurred_at limit 1)
) first)"""
