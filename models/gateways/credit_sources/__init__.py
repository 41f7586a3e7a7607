"""SQL selects that find the affiliates who may be credited for a gateway's payment: one module per source.

A source is a slug in the payment, a redeemed code, a lead, a checkout door, or an earlier payment of the buyer. Each
select has the columns place, by, slug, affiliate_id, lead_id, sub_id, occurred_at, is_after_payment, code_id, code,
origin, overrides, is_revoked, is_minting, commission_type, commission_value, and takes the parameters that
`credit_candidates.list_candidates` passes.
"""
