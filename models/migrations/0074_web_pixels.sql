-- The web pixel of a store's connection: `id` is the connection's. Its key is public, and what its clicks are known by.
create table web_pixel (
  id uuid primary key,
  organization_id uuid not null,
  account text not null,
  public_key text not null unique,
  state text not null check (state in ('waiting', 'active', 'failed', 'ending', 'ended')),
  -- What the gateway calls it, and what it said against it.
  external_id text,
  error text,
  wanted_at timestamptz not null,
  settled_at timestamptz,
  -- Of a connection that ended only what the pixel's deletion needs is kept, until it is done.
  ended_at timestamptz,
  credentials_sealed bytea,
  check ((state in ('ending', 'ended')) = (ended_at is not null)),
  check ((state = 'ending') = (credentials_sealed is not null)),
  foreign key (organization_id, id) references gateway_connection (organization_id, id)
);
create index web_pixel_organization on web_pixel (organization_id, account);
select isolate_tenant('web_pixel');

-- Checkouts whose browser had come by a link: under which slug, or which event waits to hear of it.
create table pixel_checkout (
  organization_id uuid not null references organization,
  token_hash bytea not null,
  slug text,
  sub_id text,
  event_id uuid,
  told_at timestamptz not null,
  check (num_nonnulls(slug, event_id) > 0),
  primary key (organization_id, token_hash),
  foreign key (organization_id, event_id) references gateway_event (organization_id, id)
);
create index pixel_checkout_told on pixel_checkout (told_at);
select isolate_tenant('pixel_checkout');
