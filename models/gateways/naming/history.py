"""Names the affiliates who were credited for earlier payments of the same buyer."""

from models.conditions import EARNS_NOTHING
from models.gateways.naming.columns import NO_CODE, NO_LEAD

_EARLIER = f"""from gateway_payment g
  join lateral (select status, affiliate_id from conversion
    where organization_id = g.organization_id and id = g.conversion_id offset 0) c on c.status not in {EARNS_NOTHING}
  join affiliate a on a.id = c.affiliate_id and a.deleted_at is null
  where g.organization_id = %(org)s and g.gateway = %(gateway)s and g.is_test = %(is_test)s
    and g.paid_at <= %(at)s and"""
_NEWEST = "order by g.paid_at desc limit 1"
SELECT = f"""
(select 1, 'subscription', null, a.id, {NO_LEAD}, {NO_CODE} {_EARLIER} g.subscription_id = %(subscription)s
  {_NEWEST})
union all
(select 2, 'customer', null, a.id, {NO_LEAD}, {NO_CODE} {_EARLIER} g.customer_id = %(customer)s {_NEWEST})
union all
(select 3, 'email', null, a.id, {NO_LEAD}, {NO_CODE} {_EARLIER} g.email_normalized = %(email)s {_NEWEST})
"""
