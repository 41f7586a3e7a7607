-- Takes over the index of audit_entry_earlier. Later months are indexed here: they wait for no one, but audited changes
-- wait until their index is built.
create index audit_entry_entity on audit_entry (organization_id, entity_id, created_at desc, id desc);
