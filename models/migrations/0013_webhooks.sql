-- Webhooks: endpoints, events as they will be sent, and their deliveries. An event, its deliveries and their attempts
-- are in partitions of the same month, by the id of the event (decision 56).

create table webhook_endpoint (
  id uuid not null,
  organization_id uuid not null references organization,
  url text not null,
  events text[] not null check (cardinality(events) > 0),
  description text,
  secret_sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Since when nothing has reached the endpoint, and when its Owners were notified. Null while it works.
  failing_since timestamptz,
  failure_told_at timestamptz,
  -- Endpoints that a no-code platform created for its workflows: each gets one type, and one address may exist once per
  -- type. A brand's own address exists once.
  managed_by text check (managed_by = 'automation'),
  check (managed_by is null or cardinality(events) = 1)
);
create index webhook_endpoint_list on webhook_endpoint (organization_id, created_at desc, id desc) where deleted_at is null;
create index webhook_endpoint_failing on webhook_endpoint (failing_since) where failing_since is not null;
create unique index webhook_endpoint_url on webhook_endpoint (organization_id, url)
  where deleted_at is null and managed_by is null;
create unique index webhook_endpoint_hook on webhook_endpoint (organization_id, url, events)
  where deleted_at is null and managed_by is not null;
create index webhook_endpoint_anywhere on webhook_endpoint (id);
alter table webhook_endpoint add primary key (organization_id, id);
select isolate_tenant('webhook_endpoint');

create table event (
  id uuid not null,
  organization_id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz not null,
  -- Sent by a Test; it never happened.
  is_sample boolean not null default false
) partition by range (id);
create index event_age on event (created_at);
create index event_type_list on event (organization_id, type, created_at desc, id desc) where not is_sample;
alter table event add primary key (organization_id, id);
select isolate_tenant('event');
select begin_months('event');

create table delivery (
  id uuid not null,
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
  -- A column that is null for successful deliveries, so that the indexes below contain failed ones alone and the update
  -- of a successful one stays cheap.
  failed_since timestamptz generated always as (case when status = 'Failed' then created_at end) stored,
  foreign key (organization_id, event_id) references event (organization_id, id),
  foreign key (organization_id, endpoint_id) references webhook_endpoint (organization_id, id)
) partition by range (event_id);
create index delivery_history on delivery (organization_id, endpoint_id, created_at desc, id desc);
create index delivery_by_id on delivery (organization_id, id);
alter table delivery add primary key (organization_id, event_id, endpoint_id);
create index delivery_type on delivery (organization_id, endpoint_id, event_type, created_at desc, id desc);
create index delivery_failed_type on delivery (organization_id, endpoint_id, event_type, created_at desc, id desc)
  where failed_since is not null;
create index delivery_failed on delivery (organization_id, endpoint_id, created_at desc, id desc)
  where failed_since is not null;
select isolate_tenant('delivery');
select begin_months('delivery', 'fillfactor = 80');

-- The result of each attempt, deleted with its delivery.
create table delivery_attempt (
  organization_id uuid not null,
  event_id uuid not null,
  delivery_id uuid not null,
  number int not null check (number > 0),
  began_at timestamptz not null,
  ended_at timestamptz not null check (ended_at >= began_at),
  response_status int,
  response_excerpt text,
  failure_reason text,
  primary key (organization_id, event_id, delivery_id, number)
) partition by range (event_id);
select isolate_tenant('delivery_attempt');
select begin_months('delivery_attempt');
