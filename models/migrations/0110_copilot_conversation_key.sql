-- The wider key refuses nothing that the key by id alone let in.
-- contract: copilot_conversation unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('copilot_conversation', 'copilot_conversation_key');
