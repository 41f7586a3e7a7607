-- outside a transaction
-- The timeline of an affiliate reads the audit entries of one entity, and the invites of one affiliate. An index of a
-- partitioned table cannot be built concurrently, but the next file takes over this one, of the partition with the
-- first months of an installation.
create index concurrently if not exists audit_entry_earlier_entity
  on audit_entry_earlier (organization_id, entity_id, created_at desc, id desc);
create index concurrently if not exists affiliate_invite_of_affiliate
  on affiliate_invite (organization_id, affiliate_id) where affiliate_id is not null;
