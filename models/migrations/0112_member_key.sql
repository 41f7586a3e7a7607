-- The wider key refuses nothing that the key by id alone let in.
-- contract: member unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('member', 'member_key');
