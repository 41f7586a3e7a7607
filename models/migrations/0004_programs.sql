-- Programs ("campaigns" for a brand), their rates, their landing pages, their host names.

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
  is_primary boolean not null default false,
  budget_currency text,
  min_payout_currency text,
  lead_bounty_currency text,
  click_reward_currency text,
  -- Currency of a fee per click or lead. A Fixed commission per sale is in the currency of each sale.
  fee_currency text,
  install_seen_at timestamptz,
  -- When a page of the program last ran the script, and the origin of that page. Nothing about the visitor is stored.
  script_seen_at timestamptz,
  script_origin text,
  -- The questions of the application form, as in the interface: { steps, fields }. Null: only the usual fields.
  application_form jsonb check (jsonb_typeof(application_form) = 'object'),
  -- The landing page as written. Only this names its picture; hero_file_id repeats the id for the foreign key.
  landing_page_config jsonb check (jsonb_typeof(landing_page_config) = 'object'),
  hero_file_id uuid generated always as ((landing_page_config ->> 'heroImageId')::uuid) stored,
  -- The creator network: the category of the program, and the operator's review of its listing. An approved program is
  -- shown while the brand's plan and funding allow it, which each query checks.
  category text check (category in ('Software', 'Shopping', 'Finance', 'Education', 'Health', 'Travel', 'Media',
    'Games', 'Food', 'Home', 'Services', 'Other')),
  network_review text check (network_review in ('Pending', 'Approved', 'Rejected')),
  -- When the review that is pending or decided was requested.
  network_asked_at timestamptz,
  network_decided_at timestamptz,
  network_decided_by text,
  -- Shown to the brand. A rejection has one.
  network_reason text,
  unique (organization_id, id),
  unique (organization_id, slug),
  check ((sale_commission_type is null) = (sale_commission_value is null)),
  constraint program_budget_currency check ((budget_cents is null) = (budget_currency is null)),
  constraint program_min_payout_currency check ((min_payout_cents is null) = (min_payout_currency is null)),
  constraint program_lead_bounty_currency check ((lead_bounty_cents is null) = (lead_bounty_currency is null)),
  constraint program_click_reward_currency check ((click_reward_cents is null) = (click_reward_currency is null)),
  constraint program_fee_currency
    check ((default_commission_model in ('Cpc', 'Cpl') and default_commission_type = 'Fixed') = (fee_currency is not null)),
  constraint program_hero foreign key (organization_id, hero_file_id) references stored_file (organization_id, id),
  -- A rejected program is not listed; listing it again requests another review.
  constraint program_network_listed check (
    (network_visibility = 'Networked') = coalesce(network_review in ('Pending', 'Approved'), false)),
  constraint program_network_review check (
    case when network_review is null
        then num_nonnulls(network_asked_at, network_decided_at, network_decided_by, network_reason) = 0
      when network_review = 'Pending'
        then network_asked_at is not null and num_nonnulls(network_decided_at, network_decided_by, network_reason) = 0
      else num_nulls(network_asked_at, network_decided_at, network_decided_by) = 0 end),
  constraint program_network_reason check (network_review is distinct from 'Rejected' or network_reason is not null)
);
create index program_list on program (organization_id, created_at desc, id desc) where archived_at is null;
create unique index program_primary on program (organization_id) where is_primary;
-- A verified domain belongs to one program of the whole service.
create unique index program_domain on program (custom_domain) where custom_domain_verified and archived_at is null;
-- Finds a program by the address of a checkout door, which names no organization.
create index program_door on program (slug) where hosted_checkout_door_enabled;
create index program_name_list on program (organization_id, name, created_at desc, id desc) where archived_at is null;
-- The program of a picture.
create index program_hero_file on program (organization_id, hero_file_id) where hero_file_id is not null;
-- The sitemap, in its order.
create index program_discoverable on program (id)
  where is_publicly_discoverable and is_active and archived_at is null and suspended_at is null;
-- Host names whose DNS is checked regularly.
create index program_custom_domain on program (custom_domain) where custom_domain is not null and archived_at is null;
-- The network's lists, newest first: all programs, those of a category, those of a model; and the operator's queue.
create index program_network on program (network_decided_at desc, id desc)
  where network_review = 'Approved' and archived_at is null;
create index program_network_category on program (category, network_decided_at desc, id desc)
  where network_review = 'Approved' and archived_at is null;
create index program_network_model on program
  ((case when default_commission_model in ('Cpc', 'Cpl') then default_commission_model else 'Cps' end),
    network_decided_at desc, id desc)
  where network_review = 'Approved' and archived_at is null;
create index program_network_queue on program (network_review, network_asked_at, id)
  where network_review is not null and archived_at is null;
select isolate_tenant('program');
-- Same rows as the policy of other tables. The planner estimates that `current_setting(…) = 'on'` holds for one row in
-- two hundred, and so read all listed programs in order to sort one page of the network. Inside a coalesce it estimates
-- one in two, and reads the page from its index.
alter policy tenant on program using (
  organization_id = nullif(current_setting('app.org', true), '')::uuid
  or coalesce(current_setting('app.any_org', true) = 'on', false)
);

-- A renamed program takes the addresses (slug of the program and slug of a link) that are still free; those of its
-- former slug stay with the organization.
create function keep_link_addresses() returns trigger language plpgsql volatile security definer
set app.any_org = 'on' set search_path from current as $$
begin
  insert into link_address (program_slug, slug, organization_id)
  select new.slug, l.slug, l.organization_id from tracking_link l
  where l.organization_id = new.organization_id and l.program_id = new.id and l.deleted_at is null order by l.slug
  on conflict do nothing;
  return null;
end $$;
create trigger keep_link_addresses after update of slug on program
  for each row when (old.slug is distinct from new.slug) execute function keep_link_addresses();

-- Hold and release the custom domains of programs, as keep_organization_hosts does for those of organizations. The 90
-- days of an archived program start when it is archived.
create function keep_program_host() returns trigger language plpgsql set search_path from current as $$
declare
  before text;
  after text;
begin
  if tg_op <> 'INSERT' and old.custom_domain_verified and old.archived_at is null then
    before := lower(old.custom_domain);
  end if;
  if tg_op <> 'DELETE' and new.custom_domain_verified and new.archived_at is null then
    after := lower(new.custom_domain);
  end if;
  if before is not distinct from after then
    return null;
  end if;
  if after is not null then
    perform hold_host(after, new.organization_id);
  end if;
  if before is not null then
    perform release_host(before, old.organization_id);
  end if;
  return null;
end $$;
create trigger keep_host after insert or delete or update of custom_domain, custom_domain_verified, archived_at on program
  for each row execute function keep_program_host();

-- A renamed program is still found by its former slugs, until another program takes them.
create table program_former_slug (
  organization_id uuid not null references organization,
  slug text not null,
  program_id uuid not null,
  retired_at timestamptz not null,
  primary key (organization_id, slug),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('program_former_slug');

create table partner_group (
  id uuid primary key,
  organization_id uuid not null references organization,
  program_id uuid not null,
  name text not null,
  commission_type text not null check (commission_type in ('Percentage', 'Fixed')),
  commission_value numeric(20, 6) not null check (commission_value >= 0),
  created_at timestamptz not null default now(),
  -- Currency in which a Fixed rate was set; used where a click or lead pays it.
  commission_currency text,
  unique (organization_id, program_id, id),
  unique (organization_id, program_id, name),
  foreign key (organization_id, program_id) references program (organization_id, id),
  constraint partner_group_commission_currency
    check ((commission_type = 'Fixed') = (commission_currency is not null))
);
select isolate_tenant('partner_group');

create table performance_tier (
  organization_id uuid not null references organization,
  program_id uuid not null,
  min_revenue_cents bigint not null check (min_revenue_cents >= 0),
  commission_type text not null check (commission_type in ('Percentage', 'Fixed')),
  commission_value numeric(20, 6) not null check (commission_value >= 0),
  -- Currency of the revenue and, where it is a fee per click or lead, of the Fixed rate.
  currency text not null,
  primary key (organization_id, program_id, min_revenue_cents),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('performance_tier');

create table asset (
  id uuid not null,
  organization_id uuid not null references organization,
  -- Null: for all programs of the brand.
  program_id uuid,
  kind text not null check (kind in ('Text', 'Image')),
  name text not null check (name <> ''),
  text text,
  file_id uuid,
  width int,
  height int,
  size_bytes int not null check (size_bytes > 0),
  created_at timestamptz not null,
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, file_id) references stored_file (organization_id, id),
  check (case kind when 'Text' then text is not null and num_nonnulls(file_id, width, height) = 0
    else text is null and num_nulls(file_id, width, height) = 0 end)
);
create index asset_newest on asset (organization_id, created_at desc, id desc);
alter table asset add primary key (organization_id, id);
select isolate_tenant('asset');

-- The last check of a brand's page for the script, one row per program.
create table install_check (
  organization_id uuid not null,
  program_id uuid not null,
  -- Without the query.
  page_url text not null,
  checked_at timestamptz not null,
  finding text not null check (finding in ('Newest', 'Older', 'OtherProgram', 'NoTag')),
  page_bytes integer not null check (page_bytes >= 0),
  took_ms integer not null check (took_ms >= 0),
  policy_allows boolean not null,
  -- Directives that would allow the script, if the page's content security policy does not.
  policy_lines text[] not null,
  primary key (organization_id, program_id),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('install_check');

-- The last DNS check of a host name: the custom domain of a program, or the tracking domain of an organization, for
-- which holder_id is the organization's own id. Whether the name is verified is stored with the name. A row for another
-- name than the holder's present one means nothing.
create table host_proof (
  organization_id uuid not null references organization,
  holder_id uuid not null,
  name text not null check (name = lower(name)),
  waiting_since timestamptz not null,
  checked_at timestamptz,
  outcome text check (outcome in ('Proved', 'Missing', 'Silent', 'Taken')),
  found_at_name text,
  found_in_text text,
  proved_by text check (proved_by in ('CNAME', 'TXT')),
  missing_since timestamptz,
  missing_s integer not null default 0 check (missing_s >= 0),
  due_at timestamptz,
  primary key (organization_id, holder_id)
);
select isolate_tenant('host_proof');

-- Whether a host name belongs to another holder than this program (null: than this organization): another program's
-- domain, another organization's scripts or portal, or one that another organization gave up less than 90 days ago.
-- Returns only that bit, not which holder it is.
create function is_host_proved_elsewhere(host text, holder uuid, program_id uuid) returns boolean
language sql stable security definer set app.any_org = 'on' set search_path from current as $$
  select exists (
    select from program p
    where p.custom_domain = host and p.custom_domain_verified and p.archived_at is null
      and (p.organization_id <> holder or p.id <> coalesce(program_id, p.id))
  ) or exists (
    select from organization o where o.tracking_domain = host and o.tracking_domain_verified and o.id <> holder
  ) or exists (
    select from organization o where o.portal_host = host and o.id <> holder
  ) or exists (
    select from host_hold h where h.name = host and h.organization_id <> holder and h.held_until > now()
  )
$$;
