-- The second index of the same columns stays: deliveries refer to it from partitions, where no foreign key can be made
-- again without reading them all (before PostgreSQL 18). There are few endpoints.
-- contract: webhook_endpoint unique btree (id): no conflict names it; an index that is not unique stays
alter table webhook_endpoint drop constraint webhook_endpoint_pkey,
  add constraint webhook_endpoint_pkey primary key using index webhook_endpoint_key;
