-- Programs, their rates, their affiliates and the links that name them.

create table program (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  slug text not null,
  description text,
  terms_url text,
  is_active boolean not null default true,
  default_commission_type text not null check (default_commission_type in ('Percentage', 'Fixed')),
  default_commission_value numeric(20, 6) not null check (default_commission_value >= 0),
  default_commission_model text not null
    check (default_commission_model in ('Cps', 'Cpc', 'Cpl', 'Cpa', 'RevShare', 'Hybrid')),
  sale_commission_type text check (sale_commission_type in ('Percentage', 'Fixed')),
  sale_commission_value numeric(20, 6) check (sale_commission_value >= 0),
  cookie_window_days int not null default 30,
  recurring_months int check (recurring_months >= 0),
  recurring_delay_invoices int not null default 0 check (recurring_delay_invoices >= 0),
  attribution_model text not null default 'LastTouch' check (attribution_model in ('FirstTouch', 'LastTouch')),
  auto_approve boolean not null default false,
  custom_domain text,
  custom_domain_verified boolean not null default false,
  network_visibility text not null default 'Private' check (network_visibility in ('Private', 'Networked', 'InviteOnly')),
  is_publicly_discoverable boolean not null default true,
  budget_cents bigint check (budget_cents >= 0),
  referral_destination_url text,
  min_payout_cents bigint check (min_payout_cents >= 0),
  hosted_checkout_door_enabled boolean not null default false,
  hosted_checkout_door_mode text not null default 'redirect' check (hosted_checkout_door_mode in ('redirect', 'email')),
  hosted_checkout_thank_you_url text,
  lead_bounty_cents bigint check (lead_bounty_cents > 0),
  click_reward_cents bigint check (click_reward_cents > 0),
  sub_affiliate_enabled boolean not null default false,
  sub_affiliate_percent numeric(7, 4) not null default 0 check (sub_affiliate_percent between 0 and 100),
  suspended_at timestamptz,
  archived_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, id),
  unique (organization_id, slug),
  check ((sale_commission_type is null) = (sale_commission_value is null))
);
create index program_list on program (organization_id, created_at desc, id desc) where archived_at is null;
select isolate_tenant('program');

create table partner_group (
  id uuid primary key,
  organization_id uuid not null references organization,
  program_id uuid not null,
  name text not null,
  commission_type text not null check (commission_type in ('Percentage', 'Fixed')),
  commission_value numeric(20, 6) not null check (commission_value >= 0),
  created_at timestamptz not null default now(),
  unique (organization_id, program_id, id),
  unique (organization_id, program_id, name),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('partner_group');

create table performance_tier (
  organization_id uuid not null references organization,
  program_id uuid not null,
  min_revenue_cents bigint not null check (min_revenue_cents >= 0),
  commission_type text not null check (commission_type in ('Percentage', 'Fixed')),
  commission_value numeric(20, 6) not null check (commission_value >= 0),
  primary key (organization_id, program_id, min_revenue_cents),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('performance_tier');

create table affiliate (
  id uuid primary key,
  organization_id uuid not null references organization,
  program_id uuid not null,
  email text not null,
  email_normalized text not null,
  full_name text not null default '',
  status text not null check (status in ('Pending', 'Approved', 'Rejected', 'Paused', 'Banned')),
  custom_commission_type text check (custom_commission_type in ('Percentage', 'Fixed')),
  custom_commission_value numeric(20, 6) check (custom_commission_value >= 0),
  partner_group_id uuid,
  recruited_by_affiliate_id uuid,
  tags text[] not null default '{}',
  notes text not null default '',
  source text not null check (source in ('Direct', 'Public', 'Invite', 'Network')),
  application_data jsonb,
  is_test boolean not null default false,
  applied_at timestamptz not null default now(),
  approved_at timestamptz,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (organization_id, id),
  unique (organization_id, program_id, id),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, program_id, partner_group_id)
    references partner_group (organization_id, program_id, id),
  -- One recruiting level, inside one campaign.
  foreign key (organization_id, program_id, recruited_by_affiliate_id)
    references affiliate (organization_id, program_id, id),
  check (recruited_by_affiliate_id <> id),
  check ((custom_commission_type is null) = (custom_commission_value is null))
);
create unique index affiliate_email on affiliate (organization_id, program_id, email) where deleted_at is null;
create index affiliate_list on affiliate (organization_id, created_at desc, id desc) where deleted_at is null;
create index affiliate_program_list on affiliate (organization_id, program_id, created_at desc, id desc) where deleted_at is null;
create index affiliate_recruits on affiliate (organization_id, recruited_by_affiliate_id) where recruited_by_affiliate_id is not null;
select isolate_tenant('affiliate');

-- A slug is stored in lower case. One person's default slug may stand in several campaigns of an organization.
create table tracking_link (
  id uuid primary key,
  organization_id uuid not null references organization,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null check (slug = lower(slug)),
  custom_alias text,
  is_default boolean not null,
  format text not null default 'Short' check (format in ('Short', 'Query', 'Path', 'Hash')),
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
create unique index tracking_link_slug on tracking_link (organization_id, slug, program_id) where deleted_at is null;
create index tracking_link_affiliate on tracking_link (organization_id, affiliate_id);
create unique index tracking_link_default on tracking_link (affiliate_id) where is_default and deleted_at is null;
select isolate_tenant('tracking_link');
