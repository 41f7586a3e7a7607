"""Names the owners of the codes that the buyer redeemed."""

from models.gateways.naming import accounts
from models.gateways.naming.columns import NO_LEAD

SELECT = f"""
select redeemed.place, 'code', null, found.* from unnest(%(codes)s::text[]) with ordinality as redeemed (text, place)
cross join lateral (
  select a.id, {NO_LEAD}, k.id, k.code, k.origin, k.origin = 'external' or f.overrides_click_attribution,
    k.status = 'Revoked', k.status = 'Minting', f.commission_type, f.commission_value
  from (
    (select 0 as place, c.* from affiliate_coupon c
      where c.organization_id = %(org)s and c.code = redeemed.text and c.status <> 'Revoked')
    union all
    (select 1, c.* from affiliate_coupon c
      where c.organization_id = %(org)s and c.code = redeemed.text and c.status = 'Revoked'
      order by c.revoked_at desc limit 1)
  ) k
  join affiliate own on own.id = k.affiliate_id and own.deleted_at is null
  join affiliate a on a.id = {accounts.seller("own")}
  left join lateral (
    select overrides_click_attribution, commission_type, commission_value from campaign_coupon
    where organization_id = %(org)s and id = k.campaign_coupon_id offset 0
  ) f on true
  left join gateway_connection g on g.organization_id = %(org)s and g.id = k.connection_id
  where k.origin <> 'self_minted' or g.gateway = %(gateway)s
  order by k.place limit 1
) found
"""
