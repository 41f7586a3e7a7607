-- What happened, frozen as it will be sent; who wants to know; and whether they were told.

create table event (
  id uuid primary key,
  organization_id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz not null,
  unique (organization_id, id)
);
select isolate_tenant('event');

create table webhook_endpoint (
  id uuid primary key,
  organization_id uuid not null references organization,
  url text not null,
  events text[] not null check (cardinality(events) > 0),
  description text,
  secret_sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (organization_id, id)
);
create unique index webhook_endpoint_url on webhook_endpoint (organization_id, url) where deleted_at is null;
create index webhook_endpoint_list on webhook_endpoint (organization_id, created_at desc, id desc) where deleted_at is null;
select isolate_tenant('webhook_endpoint');

create table delivery (
  id uuid primary key,
  organization_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  event_type text not null,
  status text not null default 'Pending' check (status in ('Pending', 'Delivered', 'Failed')),
  attempt_count int not null default 0,
  response_status int,
  response_excerpt text,
  failure_reason text,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  settled_at timestamptz,
  unique (event_id, endpoint_id),
  foreign key (organization_id, event_id) references event (organization_id, id),
  foreign key (organization_id, endpoint_id) references webhook_endpoint (organization_id, id)
) with (fillfactor = 80);
create index delivery_history on delivery (organization_id, endpoint_id, created_at desc, id desc);
select isolate_tenant('delivery');
