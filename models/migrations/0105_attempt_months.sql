-- contract: delivery_attempt unique btree (delivery_id, number): the key is the same with the organization and the event
alter table delivery_attempt drop constraint delivery_attempt_pkey,
  add constraint delivery_attempt_pkey primary key using index delivery_attempt_key;
select partition_by_month('delivery_attempt', 'event_id');
