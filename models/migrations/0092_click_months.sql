-- Puts a table into a partitioned one of the same name as its first partition, NAME_earlier, with everything that
-- belongs to it: keys, checks, foreign keys, indexes, triggers and the walls between tenants. Nothing is rewritten, no
-- row is read. NAME_default takes what no month is there for, so that nothing is refused: it should stay empty.
create function partition_by_month(whole regclass) returns void language plpgsql as $$
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
      from pg_constraint where conrelid = whole and contype in ('p', 'u', 'f') order by contype = 'f', oid)
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
  execute format('create table %I (like %I including defaults including constraints) partition by range (id)',
    name, earlier);
  execute format('alter table %I drop constraint %I', name, name || '_until');
  foreach statement in array made loop execute statement; end loop;
  perform isolate_tenant(name::regclass);
  execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', name, earlier, until);
  execute format('alter table %I drop constraint %I', earlier, name || '_until');
  execute format('revoke all on %I from finderfee_app', earlier);
  execute format('create table %I (like %I including defaults including constraints)', name || '_default', name);
  execute format('alter table %I attach partition %I default', name, name || '_default');
  perform wall_in_partition((name || '_default')::regclass, name::regclass);
end $$;

-- What a partition does not take over from the table: row security, and triggers that go once per statement. Whoever
-- serves reads and writes through the table; of a partition alone the service may say nothing.
create function wall_in_partition(part regclass, whole regclass) returns void language plpgsql as $$
declare
  statement text;
begin
  perform isolate_tenant(part);
  execute format('revoke all on %s from finderfee_app', part);
  for statement in
    select replace(pg_get_triggerdef(oid), format(' ON public.%s ', whole), format(' ON %s ', part)) from pg_trigger
    where tgrelid = whole and tgname = 'append_only_truncate' loop
    execute statement;
  end loop;
end $$;

-- Makes the partition of a month and says whether it was missing. The service may ask for it: it owns no table, and
-- this makes none but empty months that are near. Whoever writes goes on meanwhile.
create function make_month(whole regclass, month date) returns boolean language plpgsql security definer
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
  execute format('create table %I (like %s including defaults including constraints)', part, whole);
  execute format('alter table %s attach partition %I for values from (%L) to (%L)', whole, part, first_id_at(first),
    first_id_at(beyond));
  perform wall_in_partition(part::regclass, whole);
  return true;
end $$;

-- Drops an empty partition that ended a month ago or more, and says whether it did.
create function drop_month(part regclass) returns boolean language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '2s' set app.any_org = 'on' as $$
declare
  whole regclass := (select p.whole from partition_bounds p where p.part = drop_month.part and p.is_month
    and p.whole <> 'audit_entry'::regclass and p.until <= first_id_at(now() - interval '1 month'));
  has_rows boolean;
begin
  if whole is null then
    raise exception '% is no month that is over', part;
  end if;
  execute format('select exists (select from %s)', part) into has_rows;
  if has_rows then
    return false;
  end if;
  -- In the order in which everybody else locks them.
  execute format('lock table only %s in access exclusive mode', whole);
  execute format('lock table %s in access exclusive mode', part);
  execute format('select exists (select from %s)', part) into has_rows;
  if not has_rows then
    execute format('drop table %s', part);
  end if;
  return not has_rows;
end $$;

-- The partitions with their bounds. `is_month` is false of a default; `since` is null where it begins with the first.
create view partition_bounds as
select i.inhparent::regclass as whole, i.inhrelid::regclass as part,
  (regexp_match(said, 'FROM \(''([0-9a-f-]{36})''\)'))[1]::uuid as since,
  (regexp_match(said, 'TO \(''([0-9a-f-]{36})''\)'))[1]::uuid as until,
  said <> 'DEFAULT' as is_month, c.reltuples, pg_total_relation_size(c.oid) as bytes
from pg_inherits i
join pg_partitioned_table t on t.partrelid = i.inhparent
join pg_class c on c.oid = i.inhrelid
cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as said) s
where c.relkind = 'r';
grant select on partition_bounds to finderfee_app;
revoke execute on function make_month, drop_month from public;
grant execute on function make_month, drop_month to finderfee_app;

select partition_by_month('click');
