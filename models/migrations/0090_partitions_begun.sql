-- Months of what grows with traffic, each a partition. Clicks and the audit log come first.

-- The first id that can be made at a moment: ids begin with their milliseconds.
create function first_id_at(moment timestamptz) returns uuid language sql immutable strict parallel safe as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- What is there becomes the first partition, up to the end of the next month. The check says so beforehand, so that
-- nobody waits for a look at every row when it does.
do $$
declare
  until uuid := first_id_at((date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
begin
  execute format('alter table click add constraint click_until check (id < %L) not valid', until);
  execute format('alter table audit_entry add constraint audit_entry_until check (id < %L) not valid', until);
end $$;
