-- The wider key refuses nothing that the key by id alone let in.
-- contract: click unique btree (organization_id, id): ids were unique before
-- contract: click unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('click', 'click_key');
