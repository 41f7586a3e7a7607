-- The wider key refuses nothing that the key by id alone let in.
-- contract: import_job unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('import_job', 'import_job_key');
