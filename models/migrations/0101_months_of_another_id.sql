-- Says the column whose ids have the month, and takes along how a table keeps its rows (a delivery has room in its page
-- for its next state) and columns that are made of others.
drop function partition_by_month(regclass);
create function partition_by_month(whole regclass, made_in name) returns void language plpgsql as $$
declare
  name text := whole::text;
  earlier text := name || '_earlier';
  until text := (select substring(pg_get_constraintdef(oid) from '[0-9a-f]{8}-[0-9a-f-]{27}') from pg_constraint
    where conrelid = whole and conname = name || '_until' and convalidated);
  -- As they read while the table has its name. The key comes after the indexes, as it does in every partition then: of
  -- two that seem as good, the planner takes the newer one (decision 49).
  made text[] := array(select pg_get_indexdef(indexrelid) from pg_index where indrelid = whole
      and not exists (select from pg_constraint where conindid = indexrelid and conrelid = whole) order by indexrelid)
    || array(select format('alter table %I add constraint %I %s', name, conname, pg_get_constraintdef(oid))
      from pg_constraint where conrelid = whole and contype in ('p', 'u', 'f') and conparentid = 0
      order by contype = 'f', oid)
    || array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = whole and not tgisinternal order by oid);
  part text;
  statement text;
begin
  if until is null then
    raise exception 'the rows of % were not looked over', name;
  end if;
  for part in select tgname from pg_trigger where tgrelid = whole and not tgisinternal loop
    execute format('drop trigger %I on %I', part, name);
  end loop;
  for part in select relname from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = whole loop
    execute format('alter index %I rename to %I', part, left(part, 55) || '_earlier');
  end loop;
  execute format('alter table %I rename to %I', name, earlier);
  execute format('create table %I (like %I including defaults including generated including constraints)'
    ' partition by range (%I)', name, earlier, made_in);
  execute format('alter table %I drop constraint %I', name, name || '_until');
  foreach statement in array made loop execute statement; end loop;
  perform isolate_tenant(name::regclass);
  execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', name, earlier, until);
  execute format('alter table %I drop constraint %I', earlier, name || '_until');
  execute format('revoke all on %I from finderfee_app', earlier);
  perform part_made(name || '_default', name::regclass, earlier::regclass);
  execute format('alter table %I attach partition %I default', name, name || '_default');
  perform wall_in_partition((name || '_default')::regclass, name::regclass);
end $$;

-- Makes a table that can be attached to another as its partition, keeping its rows as a third does.
create function part_made(part text, whole regclass, kept_as regclass) returns void language plpgsql as $$
declare
  kept text := (select array_to_string(reloptions, ', ') from pg_class where oid = kept_as);
begin
  execute format('create table %I (like %s including defaults including generated including constraints)', part, whole);
  if kept is not null then
    execute format('alter table %I set (%s)', part, kept);
  end if;
end $$;

-- As before, besides how rows are kept, and that tables which refer to each other are locked in the order in which who
-- writes locks them, before anything else is.
create or replace function make_month(whole regclass, month date) returns boolean language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  part text := format('%s_%s', whole, to_char(month, 'YYYY_MM'));
  first timestamptz := date_trunc('month', month::timestamp) at time zone 'UTC';
  beyond timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC';
begin
  if not exists (select from pg_partitioned_table where partrelid = whole) or month > now() + interval '1 year' then
    raise exception 'no months are made of % for %', whole, month;
  end if;
  if to_regclass(part) is not null or exists (
    select from partition_bounds p where p.whole = make_month.whole and p.is_month and p.until >= first_id_at(beyond)
      and coalesce(p.since <= first_id_at(first), true)) then
    return false;
  end if;
  if whole::text in ('event', 'delivery') then
    lock table webhook_endpoint, event, delivery in share row exclusive mode;
  end if;
  perform part_made(part, whole, (whole || '_default')::regclass);
  execute format('alter table %s attach partition %I for values from (%L) to (%L)', whole, part, first_id_at(first),
    first_id_at(beyond));
  perform wall_in_partition(part::regclass, whole);
  return true;
end $$;
revoke execute on function part_made from public;

-- As before, besides what refers to what: attempts go when their deliveries have, and an event's month is let go of by
-- deliveries first.
create or replace function drop_month(part regclass) returns boolean language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '2s' set app.any_org = 'on' as $$
declare
  bounds partition_bounds := (select p from partition_bounds p where p.part = drop_month.part and p.is_month
    and p.whole <> 'audit_entry'::regclass and p.until <= first_id_at(now() - interval '1 month'));
  name text := bounds.whole::text;
  still_needed text := format('select exists (select from %s)', part);
  is_needed boolean;
begin
  if name is null then
    raise exception '% is no month that is over', part;
  end if;
  if name = 'delivery_attempt' then
    still_needed := format('select exists (select from delivery where event_id < %L and event_id >= %L)',
      bounds.until, coalesce(bounds.since, '00000000-0000-0000-0000-000000000000'));
  end if;
  execute still_needed into is_needed;
  if is_needed then
    return false;
  end if;
  -- In the order in which everybody else locks them.
  if name in ('event', 'delivery') then
    lock table only event, only delivery in access exclusive mode;
  end if;
  execute format('lock table only %I in access exclusive mode', name);
  execute format('lock table %s in access exclusive mode', part);
  execute still_needed into is_needed;
  if not is_needed then
    if name = 'event' then
      execute format('alter table event detach partition %s', part);
    end if;
    execute format('drop table %s', part);
  end if;
  return not is_needed;
end $$;
