"""The selects that name affiliates for a gateway's payment: one file per source of a name.

Each has the columns place, by, slug, affiliate_id, lead_id, sub_id, occurred_at, is_after_payment, code_id, code,
origin, overrides, is_revoked, is_minting, commission_type, commission_value, and reads the parameters that
`credit_candidates.list_candidates` passes.
"""
