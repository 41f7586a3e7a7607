-- The second index of the same columns stays: organizations and programs refer to it, which every request reads, and
-- which nobody is to wait for because of a picture. There are few files.
-- contract: stored_file unique btree (id): no conflict names it; an index that is not unique stays
alter table stored_file drop constraint stored_file_pkey,
  add constraint stored_file_pkey primary key using index stored_file_key;
