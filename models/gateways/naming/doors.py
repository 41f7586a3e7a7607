"""Names the affiliate through whose checkout door the buyer's email came."""

from datetime import timedelta

from models.gateways.naming.columns import NO_CODE, NO_LEAD, SECOND_AFTER

# Clocks of gateways differ from ours, and many tell whole seconds.
_CLOCKS = timedelta(minutes=5)
COUNTS = f"""d.first_at <= %(at)s::timestamptz + interval '{_CLOCKS.seconds} s' and d.expires_at > %(at)s
  and (%(is_test)s or not d.is_test)"""
SELECT = f"""
(select 1, 'door', null, a.id, {NO_LEAD}, {NO_CODE}
  from door_visit d
  join affiliate a on a.id = d.affiliate_id and a.deleted_at is null
  where d.organization_id = %(org)s and d.email_normalized = %(email)s and {COUNTS}
  order by case when d.last_at < {SECOND_AFTER} then d.last_at else d.first_at end desc limit 1)
"""
