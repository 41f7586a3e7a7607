-- Short links: which link a bare slug stands for, whoever shares it. And whether a page ever asked for its counter.

set local app.any_org = 'on';

-- A link whose slug an older living link has, in any organization, is shared with its program in the address.
alter table tracking_link add column needs_program boolean not null default false;

update tracking_link l set needs_program = true
where l.deleted_at is null and exists (
  select from tracking_link older
  where older.slug = l.slug and older.deleted_at is null and (older.created_at, older.id) < (l.created_at, l.id)
);

-- Holds a row per slug that was ever given, and nobody reads it: locking that row is how two that give the same slug at
-- once take turns. A thousand advisory locks in the transaction of an import would not fit the server's table.
create table slug_turn (slug text primary key);

-- Runs as the owner, because whether a slug is taken anywhere is no tenant's to see; it tells them that one bit.
-- The second statement sees what the turn before it committed: each has a snapshot of its own.
create function mark_needs_program() returns trigger language plpgsql volatile security definer
set app.any_org = 'on' set search_path from current as $$
begin
  insert into slug_turn (slug) values (new.slug) on conflict (slug) do update set slug = excluded.slug;
  new.needs_program := exists (select from tracking_link l where l.slug = new.slug and l.deleted_at is null);
  return new;
end $$;
create trigger needs_program before insert on tracking_link
  for each row execute function mark_needs_program();

-- The same bit before the link is there, without a turn: for what only wants to know.
create function is_slug_taken_anywhere(wanted text) returns boolean language sql stable set app.any_org = 'on' as $$
  select exists (select from tracking_link l where l.slug = wanted and l.deleted_at is null)
$$;

alter table program add column install_seen_at timestamptz;
