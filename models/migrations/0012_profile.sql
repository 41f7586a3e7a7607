-- What a brand shows of itself, where its portal lives, and which names its campaigns had before.

-- Files that are small and must outlive a machine: logos, tax forms. Sealed where they are private.
create table stored_file (
  id uuid primary key,
  organization_id uuid not null references organization,
  kind text not null check (kind in ('logo', 'favicon', 'tax_form')),
  content_type text not null,
  content bytea not null,
  created_at timestamptz not null,
  unique (organization_id, id)
);
select isolate_tenant('stored_file');

alter table organization
  -- The branded label of the portal's address and the handle of the storefront.
  add column subdomain text unique check (subdomain = lower(subdomain)),
  add column subdomain_change_count int not null default 0,
  -- A portal host of the brand's own, set by the operator.
  add column portal_host text unique check (portal_host = lower(portal_host)),
  add column description text,
  add column billing_email text,
  add column timezone text not null default 'UTC',
  add column industry_category text,
  add column primary_brand_color text check (primary_brand_color ~ '^#[0-9a-f]{6}$'),
  add column logo_file_id uuid,
  add column favicon_file_id uuid,
  add column white_label_enabled boolean not null default false,
  add column min_payout_cents bigint check (min_payout_cents >= 0),
  add column automatic_payout_enabled boolean not null default false,
  add column automatic_payout_cadence text not null default 'Manual'
    check (automatic_payout_cadence in ('Manual', 'Weekly', 'Biweekly', 'Monthly')),
  add column last_automatic_payout_at timestamptz,
  add column home_currency_changed_at timestamptz,
  add column attribution_params text,
  add column billing_provider text,
  add column billing_interval text check (billing_interval in ('Month', 'Year')),
  add column processor_customer_id text,
  add column processor_subscription_id text,
  -- Null: what the plan says.
  add column affiliate_limit int check (affiliate_limit >= 0),
  add constraint organization_logo foreign key (id, logo_file_id) references stored_file (organization_id, id),
  add constraint organization_favicon foreign key (id, favicon_file_id) references stored_file (organization_id, id);
set local app.any_org = 'on';
update organization set subdomain = slug;

alter table program add column is_primary boolean not null default false;
create unique index program_primary on program (organization_id) where is_primary;
-- One campaign answers for a verified domain, in the whole service.
create unique index program_domain on program (custom_domain) where custom_domain_verified and archived_at is null;

-- A renamed campaign is still found under its former slugs, until another one takes them.
create table program_former_slug (
  organization_id uuid not null references organization,
  slug text not null,
  program_id uuid not null,
  retired_at timestamptz not null,
  primary key (organization_id, slug),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('program_former_slug');
