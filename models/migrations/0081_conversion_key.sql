-- Makes (organization_id, id) the primary key of a table, out of a unique index that was built before; the key by id
-- alone goes, and a second unique constraint of the same columns. Foreign keys that counted on that one are made again
-- for what is written from now on: a later migration validates them, outside of a transaction. No row is read here.
create function key_by_organization(keyed regclass, built name) returns void language plpgsql as $$
declare
  columns smallint[] := array(
    select attnum from pg_attribute where attrelid = keyed and attname in ('organization_id', 'id')
    order by attname = 'id');
  doubled name := (select conname from pg_constraint where conrelid = keyed and contype = 'u' and conkey = columns);
  -- Of what is partitioned the partitions' follow.
  let_go text[] := array(
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint
    where contype = 'f' and confrelid = keyed and confkey = columns and conparentid = 0 order by oid);
  made_again text[] := array(
    select format('alter table %s add constraint %I %s not valid', conrelid::regclass, conname,
      regexp_replace(pg_get_constraintdef(oid), ' NOT VALID$', '')) from pg_constraint
    where contype = 'f' and confrelid = keyed and confkey = columns and conparentid = 0 order by oid);
  statement text;
begin
  foreach statement in array let_go loop execute statement; end loop;
  if doubled is not null then
    execute format('alter table %s drop constraint %I', keyed, doubled);
  end if;
  execute format('alter table %s drop constraint %I', keyed,
    (select conname from pg_constraint where conrelid = keyed and contype = 'p'));
  execute format('alter table %s add constraint %I primary key using index %I', keyed, keyed::text || '_pkey', built);
  foreach statement in array made_again loop execute statement; end loop;
end $$;

-- What ran before there was a release groups by the id alone in its check of the ledger, which fails until its process
-- is replaced, and is asked for again.
-- contract: conversion unique btree (id): the first release knows conversions by both columns
select key_by_organization('conversion', 'conversion_key');
