"""The select of the affiliate through whose checkout door the buyer's email came."""

from datetime import timedelta

from models.conditions import SELLING_PROGRAM
from models.gateways.credit_sources.columns import NO_CODE, NO_LEAD, SECOND_AFTER

# Clocks of gateways differ from ours, and many report whole seconds.
_CLOCKS = timedelta(minutes=5)
COUNTS = f"""d.first_at <= %(at)s::timestamptz + interval '{_CLOCKS.seconds} s' and d.expires_at > %(at)s
  and (%(is_test)s or not d.is_test)"""


def handed_on_sql(affiliate: str, slug: str) -> str:
    """Return SQL for whether an affiliate's checkout door passed a slug on within the cookie window.

    `affiliate` and `slug` are the alias and the column of the enclosing statement.
    """
    return f"""exists (
    select from door_visit d where d.organization_id = %(org)s and d.program_id = {affiliate}.program_id
      and d.slug = {slug} and d.affiliate_id = {affiliate}.id and {COUNTS}
  )"""


# A door belongs to its campaign. The newest visit of a campaign that does not pay for sales hides none of another.
SELECT = f"""
(select 1, 'door', null, a.id, {NO_LEAD}, {NO_CODE}
  from door_visit d
  join affiliate a on a.id = d.affiliate_id and a.deleted_at is null
  join program p on p.id = d.program_id
  where d.organization_id = %(org)s and d.email_normalized = %(email)s and {COUNTS}
  order by {SELLING_PROGRAM} desc,
    case when d.last_at < {SECOND_AFTER} then d.last_at else d.first_at end desc limit 1)
"""
