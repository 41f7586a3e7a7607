-- Events, their deliveries and the attempts of those go into months, all by the month of the event: so an event, who is
-- told of it and what came of that lie and end together, and what may be there only once holds in every partition.

-- What was noted before says only whose attempt it is: it has the first id there is, and lies in the first partition.
alter table delivery_attempt add column event_id uuid not null default '00000000-0000-0000-0000-000000000000';

do $$
declare
  until uuid := first_id_at((date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
begin
  execute format('alter table event add constraint event_until check (id < %L) not valid', until);
  execute format('alter table delivery add constraint delivery_until check (event_id < %L) not valid', until);
  execute format('alter table delivery_attempt add constraint delivery_attempt_until check (event_id < %L) not valid',
    until);
end $$;
