-- outside a transaction
-- Every delivery there is lies in the first partition, up to the end of the month after the one that made it. An index of
-- the whole table cannot be built beside traffic; the next number makes one, and takes these for its parts.
create index concurrently if not exists delivery_type_earlier
  on delivery_earlier (organization_id, endpoint_id, event_type, created_at desc, id desc);
create index concurrently if not exists delivery_failed_type_earlier
  on delivery_earlier (organization_id, endpoint_id, event_type, created_at desc, id desc) where failed_since is not null;
-- Anew, so that it is the newer of the two: a window of all types would take the one of each for it (decision 49).
create index concurrently if not exists delivery_given_up_earlier
  on delivery_earlier (organization_id, endpoint_id, created_at desc, id desc) where failed_since is not null;
