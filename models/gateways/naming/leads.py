"""Names the affiliate of a lead that has the buyer's email."""

from domain import leads
from models.gateways.naming.columns import NO_CODE, SECOND_AFTER

SELECT = f"""
(select 1, 'lead', null, a.id, l.id, l.sub_id, l.occurred_at, {NO_CODE}
  from lead l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  where l.organization_id = %(org)s and l.email_normalized = %(email)s and l.is_test = %(is_test)s
    and l.state <> 'Invalidated'
    and l.occurred_at > %(at)s::timestamptz - interval '{leads.WINDOW.days} days' and l.occurred_at < {SECOND_AFTER}
  order by l.occurred_at desc, l.id desc limit 1)
"""
