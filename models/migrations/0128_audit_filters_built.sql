-- outside a transaction
-- The audit log by what was done to and by who did it, built beside the traffic on the partition that takes entries from
-- before the months on: what is rare was looked for, and counted, in every entry of an organization.
create index concurrently if not exists audit_entry_type_earlier
  on audit_entry_earlier (organization_id, entity_type, created_at desc, id desc);
create index concurrently if not exists audit_entry_actor_earlier
  on audit_entry_earlier (organization_id, actor_user_id, created_at desc, id desc) where actor_user_id is not null;
