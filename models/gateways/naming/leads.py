"""Names the affiliate of a lead that has the buyer's email."""

from domain import leads
from domain.attribution import email_match
from models.conditions import SALE_RANK
from models.gateways.naming import accounts
from models.gateways.naming.columns import NO_CODE, SECOND_AFTER
from models.gateways.naming.first_payment import FIRST_PAID_AT

_CREDITS_OWN_EMAIL = ", ".join(f"'{gateway.value}'" for gateway in email_match.CREDITS_OWN_EMAIL)
# Gateways report whole seconds: a lead of the same second as a payment counts as before it. However many leads a person
# has, the newest are read, in the order of their index.
_NEWEST = f"""
    select l.id, l.affiliate_id, l.sub_id, l.occurred_at,
      {FIRST_PAID_AT} < date_trunc('second', l.occurred_at) as is_after_payment
    from lead l
    where l.organization_id = %(org)s and l.email_normalized = %(email)s and l.is_test = %(is_test)s
      and l.state <> 'Invalidated'
      and l.occurred_at > %(at)s::timestamptz - interval '{leads.WINDOW.days} days'
      and l.occurred_at < {SECOND_AFTER}
    order by l.occurred_at desc, l.id desc limit {leads.MAX_MATCHED}
"""
# The newest whose affiliate may earn on this sale; else the one that says best why none may.
SELECT = f"""
(select 1, 'lead', null, a.id, l.id, l.sub_id, l.occurred_at, coalesce(l.is_after_payment, false), {NO_CODE}
  from ({_NEWEST}) l
  join affiliate own on own.id = l.affiliate_id and own.deleted_at is null
  join affiliate a on a.id = {accounts.seller("own")}
  join program p on p.id = a.program_id
  order by coalesce(l.is_after_payment, false),
    a.email_normalized = %(email)s and %(gateway)s not in ({_CREDITS_OWN_EMAIL}),
    {SALE_RANK}, l.occurred_at desc, l.id desc limit 1)
"""
