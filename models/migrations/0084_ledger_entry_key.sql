-- The wider key refuses nothing that the key by id alone let in.
-- contract: ledger_entry unique btree (organization_id, id): ids were unique before
-- contract: ledger_entry unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('ledger_entry', 'ledger_entry_key');
