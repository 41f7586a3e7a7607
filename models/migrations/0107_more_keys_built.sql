-- outside a transaction
-- Keys that begin with the organization, for tables of which nobody looks for a row without saying whose it is.
create unique index concurrently if not exists affiliate_coupon_key on affiliate_coupon (organization_id, id);
create unique index concurrently if not exists asset_key on asset (organization_id, id);
create unique index concurrently if not exists copilot_act_key on copilot_act (organization_id, id);
create unique index concurrently if not exists copilot_conversation_key on copilot_conversation (organization_id, id);
create unique index concurrently if not exists import_job_key on import_job (organization_id, id);
create unique index concurrently if not exists member_key on member (organization_id, id);
create unique index concurrently if not exists payout_proposal_key on payout_proposal (organization_id, id);
create unique index concurrently if not exists platform_connection_key on platform_connection (organization_id, id);
create unique index concurrently if not exists platform_lookup_key on platform_lookup (organization_id, id);
create unique index concurrently if not exists reward_spend_key on reward_spend (organization_id, id);
create unique index concurrently if not exists tax_form_key on tax_form (organization_id, id);
create unique index concurrently if not exists uncredited_conversion_key on uncredited_conversion (organization_id, id);
