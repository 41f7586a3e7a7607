-- Codes that buyers redeem for a discount, and the affiliates that they credit.

-- The discount of a family of codes; the same as one coupon of the processor.
create table campaign_coupon (
  id uuid not null,
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
  -- Null: no limit.
  max_codes_per_affiliate integer check (max_codes_per_affiliate > 0),
  overrides_click_attribution boolean not null,
  product_refs text[] not null check (cardinality(product_refs) <= 100),
  -- The commission of sales with one of its codes. Null: the same as without it.
  commission_type text check (commission_type in ('Percentage', 'Fixed')),
  commission_value numeric check (commission_value >= 0 and (commission_value is not null) = (commission_type is not null)),
  -- Minting until the processor has it; a refused row is deleted.
  state text not null check (state in ('minting', 'active', 'archived')),
  connection_id uuid not null,
  processor_coupon_id text check (processor_coupon_id is not null or state = 'minting'),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  archived_at timestamptz check ((archived_at is not null) = (state = 'archived')),
  -- How many codes ended with it, and when the gateway had ended them all.
  archived_codes integer not null default 0,
  archive_told_at timestamptz check (archive_told_at is null or state = 'archived'),
  -- The member who created it, or whose key did. Null if a command did.
  created_by uuid,
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, connection_id) references gateway_connection (organization_id, id)
);
create index campaign_coupon_list on campaign_coupon (organization_id, program_id, created_at desc, id desc);
-- Finds a coupon by only its id.
create index campaign_coupon_anywhere on campaign_coupon (id);
alter table campaign_coupon add primary key (organization_id, id);
select isolate_tenant('campaign_coupon');

-- Affiliates who may mint codes of a coupon whose mode is SpecificAffiliates.
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
  id uuid not null,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  -- Null for codes that the brand made elsewhere, and for those with a discount of their own.
  campaign_coupon_id uuid,
  code text not null check (code ~ '^[A-Z0-9_-]{3,32}$'),
  origin text not null check (origin in ('brand', 'self_minted', 'external')),
  status text not null check (status in ('Minting', 'Active', 'Revoked')),
  -- Where it is minted. Null for codes that the brand made elsewhere.
  connection_id uuid check ((connection_id is null) = (origin = 'external')),
  processor_promotion_code_id text
    check (processor_promotion_code_id is not null or status <> 'Active' or origin = 'external'),
  redemption_count bigint not null default 0 check (redemption_count >= 0),
  last_redeemed_at timestamptz,
  created_at timestamptz not null,
  revoked_at timestamptz check ((revoked_at is not null) = (status = 'Revoked')),
  -- When the gateway's answer to minting was lost. A job, or the next request, looks up the result.
  unanswered_at timestamptz,
  -- When a revoked code ended at the gateway; until then a job is trying.
  switched_off_at timestamptz check (switched_off_at is null or status = 'Revoked'),
  discount_type text,
  discount_value bigint,
  discount_currency text,
  expires_at timestamptz,
  max_redemptions integer check (max_redemptions >= 1),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id),
  foreign key (organization_id, campaign_coupon_id) references campaign_coupon (organization_id, id),
  foreign key (organization_id, connection_id) references gateway_connection (organization_id, id),
  constraint affiliate_coupon_own_discount check (
    case discount_type
      when 'PercentOff' then discount_value between 1 and 100 and discount_currency is null
      when 'AmountOff' then discount_value > 0 and discount_currency is not null
      else discount_type is null and discount_value is null and discount_currency is null
        and expires_at is null and max_redemptions is null
    end
  ),
  constraint affiliate_coupon_terms check (
    discount_type is null and (campaign_coupon_id is not null or origin = 'external')
    or discount_type is not null and campaign_coupon_id is null and origin = 'brand'
  )
);
create unique index affiliate_coupon_code on affiliate_coupon (organization_id, code) where status <> 'Revoked';
create index affiliate_coupon_revoked on affiliate_coupon (organization_id, code, revoked_at desc)
  where status = 'Revoked';
create index affiliate_coupon_list on affiliate_coupon (organization_id, affiliate_id, created_at desc, id desc);
create index affiliate_coupon_family on affiliate_coupon (organization_id, campaign_coupon_id, affiliate_id)
  where campaign_coupon_id is not null;
create index affiliate_coupon_ending on affiliate_coupon (organization_id, campaign_coupon_id)
  where status = 'Revoked' and switched_off_at is null;
create index affiliate_coupon_all on affiliate_coupon (organization_id, created_at desc, id desc);
-- Filters of the list.
create index affiliate_coupon_program_list
  on affiliate_coupon (organization_id, program_id, created_at desc, id desc);
create index affiliate_coupon_coupon_list
  on affiliate_coupon (organization_id, campaign_coupon_id, created_at desc, id desc)
  where campaign_coupon_id is not null;
create index affiliate_coupon_status_list on affiliate_coupon (organization_id, status, created_at desc, id desc);
alter table affiliate_coupon add primary key (organization_id, id);
-- Matches a payment by the gateway's id of the redeemed code (decision 74). Not unique: at a gateway whose id is the
-- text of the code, another affiliate may have the same later, and each account numbers its codes by itself.
create index affiliate_coupon_gateway_id
  on affiliate_coupon (organization_id, processor_promotion_code_id) where processor_promotion_code_id is not null;
select isolate_tenant('affiliate_coupon');
alter table conversion add constraint conversion_affiliate_coupon
  foreign key (organization_id, affiliate_coupon_id) references affiliate_coupon (organization_id, id);
