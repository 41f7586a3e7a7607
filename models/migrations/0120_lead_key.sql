-- The wider key refuses nothing that the key by id alone let in.
-- contract: lead unique btree (id): the two hourly ones that go by the id alone read the table meanwhile
select key_by_organization('lead', 'lead_key');
alter table lead drop constraint lead_organization_id_event_id_key,
  add constraint lead_organization_id_event_id_key unique using index lead_one_event;
