-- How the profile, the keys and the audit log are read and changed.

-- A unique constraint can be what a foreign key points at, so changing its column waits for every transaction that
-- refers to the row, and two changes at once deadlock. A partial index cannot, and nothing waits.
alter table organization drop constraint organization_subdomain_key, drop constraint organization_portal_host_key;
create unique index organization_subdomain on organization (subdomain) where subdomain is not null;
create unique index organization_portal_host on organization (portal_host) where portal_host is not null;

create index api_key_list on api_key (organization_id, created_at desc, id desc);
create index audit_entry_action on audit_entry (organization_id, action, created_at desc, id desc);
-- What was paid out of late; the rest of the ledger is not in it.
create index ledger_entry_paid on ledger_entry (organization_id, created_at) where kind = 'pay';
