-- outside a transaction
-- Keys that begin with the organization, for the tables that a sale and a click write to. What follows puts them in
-- place of the keys by id alone, and of the second unique index that stood beside those.
create unique index concurrently if not exists conversion_key on conversion (organization_id, id);
create unique index concurrently if not exists sale_key on sale (organization_id, id);
create unique index concurrently if not exists conversion_event_key on conversion_event (organization_id, id);
create unique index concurrently if not exists ledger_entry_key on ledger_entry (organization_id, id);
create unique index concurrently if not exists click_key on click (organization_id, id);
