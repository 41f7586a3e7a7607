-- The same of the whole table: it takes what the last number built. Other partitions are empty yet, or a month's; nobody
-- writes to the log while one of those is built on, which is two seconds for a million entries.
create index audit_entry_type on audit_entry (organization_id, entity_type, created_at desc, id desc);
create index audit_entry_actor on audit_entry (organization_id, actor_user_id, created_at desc, id desc)
  where actor_user_id is not null;
