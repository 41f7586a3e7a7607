-- Codes that buyers redeem for a discount, and whom they credit.

-- What a family of codes takes off, mapped one to one to a coupon of the processor.
create table campaign_coupon (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  name text not null,
  discount_type text not null check (discount_type in ('PercentOff', 'AmountOff')),
  -- Whole percents, or minor units of the currency.
  discount_value bigint not null check (discount_value > 0 and (discount_type = 'AmountOff' or discount_value <= 100)),
  discount_currency text check ((discount_currency is not null) = (discount_type = 'AmountOff')),
  duration text not null check (duration in ('Once', 'Repeating', 'Forever')),
  duration_in_months integer
    check ((duration_in_months is not null) = (duration = 'Repeating') and duration_in_months between 1 and 94),
  max_redemptions_per_code integer check (max_redemptions_per_code >= 1),
  expires_at timestamptz,
  self_mint_mode text not null check (self_mint_mode in ('Disabled', 'AllAffiliates', 'SpecificAffiliates')),
  -- Null: as many as somebody likes.
  max_codes_per_affiliate integer check (max_codes_per_affiliate > 0),
  overrides_click_attribution boolean not null,
  product_refs text[] not null check (cardinality(product_refs) <= 100),
  -- What sales earn that one of its codes credits; null: what they would earn without it.
  commission_type text check (commission_type in ('Percentage', 'Fixed')),
  commission_value numeric check (commission_value >= 0 and (commission_value is not null) = (commission_type is not null)),
  -- Minting until the processor has it; a row that it refused is removed.
  state text not null check (state in ('minting', 'active', 'archived')),
  connection_id uuid not null,
  processor_coupon_id text check (processor_coupon_id is not null or state = 'minting'),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived_at timestamptz check ((archived_at is not null) = (state = 'archived')),
  -- How many codes ended with it, and when all of them had ended at the gateway as well.
  archived_codes integer not null default 0,
  archive_told_at timestamptz check (archive_told_at is null or state = 'archived'),
  unique (organization_id, id),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, connection_id) references gateway_connection (organization_id, id)
);
create index campaign_coupon_list on campaign_coupon (organization_id, program_id, created_at desc, id desc);
select isolate_tenant('campaign_coupon');

-- Who may mint codes of a coupon whose mode is SpecificAffiliates.
create table coupon_grant (
  organization_id uuid not null,
  campaign_coupon_id uuid not null,
  affiliate_id uuid not null,
  granted_at timestamptz not null,
  primary key (organization_id, campaign_coupon_id, affiliate_id),
  foreign key (organization_id, campaign_coupon_id) references campaign_coupon (organization_id, id) on delete cascade,
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id)
);
create index coupon_grant_affiliate on coupon_grant (organization_id, affiliate_id);
select isolate_tenant('coupon_grant');

-- A code that credits one affiliate.
create table affiliate_coupon (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  -- Null for codes that the brand made elsewhere.
  campaign_coupon_id uuid,
  code text not null check (code ~ '^[A-Z0-9_-]{3,32}$'),
  origin text not null check (origin in ('brand', 'self_minted', 'external')),
  status text not null check (status in ('Minting', 'Active', 'Revoked')),
  -- Where it is minted; null for codes that the brand made elsewhere.
  connection_id uuid check ((connection_id is null) = (origin = 'external')),
  processor_promotion_code_id text
    check (processor_promotion_code_id is not null or status <> 'Active' or origin = 'external'),
  redemption_count bigint not null default 0 check (redemption_count >= 0),
  last_redeemed_at timestamptz,
  created_at timestamptz not null,
  revoked_at timestamptz check ((revoked_at is not null) = (status = 'Revoked')),
  -- When the gateway's answer to its minting was lost; a job, or whoever asks again, finds out what became of it.
  unanswered_at timestamptz,
  -- When a revoked code ended where it is minted; until then a job is at it.
  switched_off_at timestamptz check (switched_off_at is null or status = 'Revoked'),
  unique (organization_id, id),
  check (campaign_coupon_id is not null or origin = 'external'),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id),
  foreign key (organization_id, campaign_coupon_id) references campaign_coupon (organization_id, id),
  foreign key (organization_id, connection_id) references gateway_connection (organization_id, id)
);
create unique index affiliate_coupon_code on affiliate_coupon (organization_id, code) where status <> 'Revoked';
create index affiliate_coupon_revoked on affiliate_coupon (organization_id, code, revoked_at desc)
  where status = 'Revoked';
create index affiliate_coupon_list on affiliate_coupon (organization_id, affiliate_id, created_at desc, id desc);
create index affiliate_coupon_family on affiliate_coupon (organization_id, campaign_coupon_id, affiliate_id)
  where campaign_coupon_id is not null;
select isolate_tenant('affiliate_coupon');

alter table conversion
  -- The code that the sale redeemed, where it credits its owner.
  add column affiliate_coupon_id uuid,
  add constraint conversion_affiliate_coupon
    foreign key (organization_id, affiliate_coupon_id) references affiliate_coupon (organization_id, id);
