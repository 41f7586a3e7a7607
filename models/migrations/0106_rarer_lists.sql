-- outside a transaction
-- Filters together, each read out of an index in the order of its list. No sale that is settled writes any of these: what
-- leads and clicks earn is in indexes of its own.
create index concurrently if not exists conversion_reward_status_list
  on conversion (organization_id, type, status, created_at desc, id desc) where type in ('ClickReward', 'LeadReward');
create index concurrently if not exists conversion_reward_program_list
  on conversion (organization_id, type, program_id, created_at desc, id desc)
  where type in ('ClickReward', 'LeadReward');
create index concurrently if not exists conversion_reward_affiliate_list
  on conversion (organization_id, type, affiliate_id, created_at desc, id desc)
  where type in ('ClickReward', 'LeadReward');
create index concurrently if not exists affiliate_program_status_name_list
  on affiliate (organization_id, program_id, status, name_sought, id) where deleted_at is null;
-- Codes, deals and fraud events by what their lists are narrowed by.
create index concurrently if not exists affiliate_coupon_program_list
  on affiliate_coupon (organization_id, program_id, created_at desc, id desc);
create index concurrently if not exists affiliate_coupon_coupon_list
  on affiliate_coupon (organization_id, campaign_coupon_id, created_at desc, id desc)
  where campaign_coupon_id is not null;
create index concurrently if not exists affiliate_coupon_status_list
  on affiliate_coupon (organization_id, status, created_at desc, id desc);
create index concurrently if not exists deal_program_list on deal (organization_id, program_id, created_at desc, id desc);
create index concurrently if not exists deal_status_list on deal (organization_id, status, created_at desc, id desc);
create index concurrently if not exists fraud_event_program_status
  on fraud_event (organization_id, program_id, status, occurred_at desc, id desc);
