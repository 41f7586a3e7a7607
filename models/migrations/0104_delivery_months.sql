-- A delivery lies by its event: once for each endpoint is its key. Attempts no longer refer to it by the id alone, which
-- no partition could hold; they are noted by the statement that reads their delivery, and dropped with it.
-- contract: delivery unique btree (id): who looks for one knows its organization
-- contract: delivery unique btree (event_id, endpoint_id): the key is the same with the organization
-- contract: delivery unique btree (organization_id, event_id, endpoint_id): it refuses nothing that was let in before
alter table delivery_attempt drop constraint delivery_attempt_delivery_id_fkey;
alter table delivery drop constraint delivery_event_id_endpoint_id_key, drop constraint delivery_pkey,
  add constraint delivery_pkey primary key using index delivery_key;
select partition_by_month('delivery', 'event_id');
