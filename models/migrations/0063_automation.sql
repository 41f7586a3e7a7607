-- Endpoints that a no-code platform put up for its own workflows: each is told of one type, and one address may stand
-- there once for each type. The brand's own endpoints keep their rule, one per address.
alter table webhook_endpoint
  add managed_by text check (managed_by = 'automation'),
  add check (managed_by is null or cardinality(events) = 1);
drop index webhook_endpoint_url;
create unique index webhook_endpoint_url on webhook_endpoint (organization_id, url)
  where deleted_at is null and managed_by is null;
create unique index webhook_endpoint_hook on webhook_endpoint (organization_id, url, events)
  where deleted_at is null and managed_by is not null;

-- The newest events of a type are shown to whoever builds a workflow on them; what a Test sent never happened.
alter table event add is_sample boolean not null default false;
create index event_type_list on event (organization_id, type, created_at desc, id desc) where not is_sample;

create index program_name_list on program (organization_id, name, created_at desc, id desc) where archived_at is null;
