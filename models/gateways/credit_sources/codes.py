"""The select of the affiliates whose codes the buyer redeemed.

A payment that contains the gateway's id of a code is matched by that id alone, among the codes minted at its account; a
revoked code still belongs to its owner. The text counts if the payment contains no id, and for external codes, whose id
is unknown. A code being minted has no id yet: it is returned as such, so that the payment waits.
Among codes with the same text one in force comes before a revoked one. A code that an affiliate minted counts only at
its own gateway: elsewhere the same text may belong to another person.
"""

from models.gateways.credit_sources import accounts
from models.gateways.credit_sources.columns import NO_LEAD

# An account's name may change; its identity at the gateway does not, but older connections lack it.
_AT_ACCOUNT = """exists (
          select from gateway_connection n
          join gateway_connection here on here.organization_id = %(org)s and here.id = %(connection)s
          where n.organization_id = %(org)s and n.id = c.connection_id and n.gateway = here.gateway
            and case when '{}' in (n.identity, here.identity) then n.account = here.account
              else n.identity = here.identity end)"""
_HAS_CERTAIN_ID = "(redeemed.id is not null and redeemed.is_id_certain)"
_BY_TEXT = f"""c.organization_id = %(org)s and c.code = redeemed.text
        and (not {_HAS_CERTAIN_ID} or c.origin = 'external'
          or c.processor_promotion_code_id is null and c.switched_off_at is null and {_AT_ACCOUNT})"""
SELECT = f"""
select redeemed.place, 'code', null, matched.*
from unnest(%(code_texts)s::text[], %(code_ids)s::text[], %(code_ids_certain)s::boolean[]) with ordinality
  as redeemed (text, id, is_id_certain, place)
cross join lateral (
  select a.id, {NO_LEAD}, k.id, k.code, k.origin, k.campaign_coupon_id is null or k.origin = 'external'
      or f.overrides_click_attribution,
    k.status = 'Revoked',
    k.status = 'Minting' or k.origin <> 'external' and k.processor_promotion_code_id is null and {_HAS_CERTAIN_ID},
    f.commission_type, f.commission_value
  from (
    (select 0 as place, c.* from affiliate_coupon c
      where c.organization_id = %(org)s and c.processor_promotion_code_id = redeemed.id
        and (redeemed.is_id_certain or c.code = redeemed.text) and {_AT_ACCOUNT}
      order by c.status = 'Revoked', c.revoked_at desc limit 1)
    union all
    (select 1, c.* from affiliate_coupon c where {_BY_TEXT} and c.status <> 'Revoked')
    union all
    (select 2, c.* from affiliate_coupon c where {_BY_TEXT} and c.status = 'Revoked' order by c.revoked_at desc limit 1)
  ) k
  join affiliate own on own.id = k.affiliate_id and own.deleted_at is null
  join affiliate a on a.id = {accounts.seller_sql("own")}
  left join lateral (
    select overrides_click_attribution, commission_type, commission_value from campaign_coupon
    where organization_id = %(org)s and id = k.campaign_coupon_id offset 0
  ) f on true
  left join gateway_connection g on g.organization_id = %(org)s and g.id = k.connection_id
  where k.origin <> 'self_minted' or g.gateway = %(gateway)s
  order by k.place limit 1
) matched
"""
