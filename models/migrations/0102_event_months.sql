-- Events. Deliveries refer to them, and their foreign key is validated by the next migration.
-- The wider key refuses nothing that the key by id alone let in.
-- contract: event unique btree (id): nothing looks for one by its id without its organization
lock table event, delivery in access exclusive mode;
alter table delivery drop constraint delivery_organization_id_event_id_fkey;
select key_by_organization('event', 'event_key');
select partition_by_month('event', 'id');
alter table delivery add constraint delivery_organization_id_event_id_fkey
  foreign key (organization_id, event_id) references event (organization_id, id) not valid;
