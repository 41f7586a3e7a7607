-- The conversion desk: every way to narrow the list of conversions, what a validated row gives back late, holds that
-- pass, and sales that credited nobody.

create index conversion_program_list on conversion (organization_id, program_id, created_at desc, id desc);
create index conversion_status_list on conversion (organization_id, status, created_at desc, id desc);
create index conversion_sub_id_list on conversion (organization_id, sub_id, created_at desc, id desc);
create index conversion_kind_list on conversion (
  organization_id,
  (case type when 'LeadReward' then 'lead' when 'ClickReward' then 'click' else 'sale' end),
  created_at desc, id desc
);
create index conversion_affiliate_status_list on conversion
  (organization_id, affiliate_id, status, created_at desc, id desc);
create index conversion_program_status_list on conversion
  (organization_id, program_id, status, created_at desc, id desc);

-- What a refund takes back only when its row earns again: it came while the row was invalidated.
alter table reversal add column late_cents bigint not null default 0 check (late_cents >= 0);

-- Test keys' rows are not listed.
create index uncredited_conversion_list on uncredited_conversion
  (organization_id, status, occurred_at desc, id desc) where not is_test;
create index uncredited_conversion_all on uncredited_conversion
  (organization_id, occurred_at desc, id desc) where not is_test;
create index uncredited_conversion_affiliate on uncredited_conversion
  (organization_id, affiliate_id, status, occurred_at desc, id desc) where not is_test;

-- What the hourly job approves, the earliest first.
create index conversion_held on conversion (hold_until) where status = 'Pending' and not payout_locked;
