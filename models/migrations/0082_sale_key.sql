-- The wider key refuses nothing that the key by id alone let in.
-- contract: sale unique btree (organization_id, id): ids were unique before
-- contract: sale unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('sale', 'sale_key');
