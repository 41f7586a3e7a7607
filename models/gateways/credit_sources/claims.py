"""The select of the affiliates whose slugs a payment contains."""

from models.conditions import SALE_RANK
from models.gateways.credit_sources import doors
from models.gateways.credit_sources.columns import NO_CODE, NO_LEAD

# A slug may have links in several campaigns: among those that can earn, the one whose checkout door passed the slug on
# comes first, then the oldest.
SELECT = f"""
select claimed.place, 'claim', claimed.slug, owner.id, {NO_LEAD}, {NO_CODE}
from unnest(%(slugs)s::text[]) with ordinality as claimed (slug, place)
cross join lateral (
  select a.id from tracking_link l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = l.program_id
  where l.organization_id = %(org)s and l.slug = claimed.slug and l.deleted_at is null
  order by {SALE_RANK}, {doors.handed_on_sql("a", "claimed.slug")} desc, l.created_at limit 1
) owner
"""
