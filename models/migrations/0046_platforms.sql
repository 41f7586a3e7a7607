-- Newsletter and CRM platforms that are asked who brought a buyer when nothing else says so.

create table platform_connection (
  id uuid primary key,
  organization_id uuid not null references organization,
  platform text not null,
  status text not null check (status in ('Active', 'Broken')),
  -- Sales since then may be credited by it; null while the brand does not want that.
  credits_since timestamptz,
  -- The custom field that the brand keeps the slug in; null: the platform's usual one.
  slug_field text,
  credentials_sealed bytea not null,
  connected_at timestamptz not null,
  last_checked_at timestamptz,
  last_error text,
  unique (organization_id, platform)
);
select isolate_tenant('platform_connection');

-- Payments that credited nobody while platforms are asked about their buyer: a row goes when that ends.
create table platform_lookup (
  id uuid primary key,
  organization_id uuid not null,
  payment_id uuid not null,
  -- The payment as it was told, with all that may credit somebody for it.
  paid jsonb not null,
  started_at timestamptz not null,
  unique (organization_id, payment_id),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
select isolate_tenant('platform_lookup');
