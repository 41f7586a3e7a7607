-- Affiliates listed by status and by name; the newest and the oldest first are one index, read from either end.

-- A column and no expression: one that is not leakproof cannot be asked of an index behind row-level security.
alter table affiliate add column name_sought text generated always as (lower(full_name)) stored;
create index affiliate_name_list on affiliate (organization_id, name_sought, id) where deleted_at is null;
create index affiliate_status_list on affiliate (organization_id, status, created_at desc, id desc)
  where deleted_at is null;
