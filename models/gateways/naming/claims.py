"""Names the affiliates to whom the slugs of a payment lead."""

from models.conditions import OPEN_PROGRAM
from models.gateways.naming.columns import NO_CODE, NO_LEAD

SELECT = f"""
select claimed.place, 'claim', claimed.slug, found.id, {NO_LEAD}, {NO_CODE}
from unnest(%(slugs)s::text[]) with ordinality as claimed (slug, place)
cross join lateral (
  select a.id from tracking_link l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = l.program_id
  where l.organization_id = %(org)s and l.slug = claimed.slug and l.deleted_at is null
  order by a.status = 'Approved' and {OPEN_PROGRAM} desc, a.status = 'Approved' desc, l.created_at limit 1
) found
"""
