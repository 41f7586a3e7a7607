"""The select of the affiliates whose slugs or old tokens a payment contains."""

from models.affiliates import slug_links
from models.conditions import SALE_RANK
from models.gateways.credit_sources import doors
from models.gateways.credit_sources.columns import NO_CODE, NO_LEAD

_LINKS = slug_links.matches_sql(
    organization="%(org)s",
    slug="case when claimed.may_be is distinct from 'token' then claimed.slug end",
    tokens="case when claimed.may_be is distinct from 'slug' then array[claimed.slug] end",
)
# A slug may have links in several campaigns: among those that can earn, the one whose checkout door passed the slug on
# comes first, then the oldest.
SELECT = f"""
select claimed.place, 'claim', claimed.slug, owner.id, {NO_LEAD}, {NO_CODE}
from unnest(%(slugs)s::text[], %(slugs_may_be)s::text[]) with ordinality as claimed (slug, may_be, place)
cross join lateral (
  select a.id from {_LINKS} l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = l.program_id
  order by l.place, {SALE_RANK}, {doors.handed_on_sql("a", "l.slug")} desc, l.created_at limit 1
) owner
"""
