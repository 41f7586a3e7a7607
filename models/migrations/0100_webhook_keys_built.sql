-- outside a transaction
-- Keys that begin with the organization and hold the event, and the one look-up that has neither.
create unique index concurrently if not exists event_key on event (organization_id, id);
create unique index concurrently if not exists delivery_key on delivery (organization_id, event_id, endpoint_id);
create index concurrently if not exists delivery_by_id on delivery (organization_id, id);
create unique index concurrently if not exists delivery_attempt_key
  on delivery_attempt (organization_id, event_id, delivery_id, number);
alter table event validate constraint event_until;
alter table delivery validate constraint delivery_until;
alter table delivery_attempt validate constraint delivery_attempt_until;
