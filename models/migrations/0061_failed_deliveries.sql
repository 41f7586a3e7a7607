-- Which deliveries were given up is asked among millions that arrived. A column that stays null for those that arrive has
-- an index that they are not in, and their updates stay as cheap as they were.
alter table delivery add failed_since timestamptz generated always as (case when status = 'Failed' then created_at end) stored;
create index delivery_failed on delivery (organization_id, endpoint_id, created_at desc, id desc)
  where failed_since is not null;
