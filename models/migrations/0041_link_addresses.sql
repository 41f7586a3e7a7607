-- An address with a campaign's slug (/r/{program_slug}/{slug}) is its organization's for ever, like a bare one: slugs of
-- campaigns are one brand's only within it, and whoever has the same pair must not inherit the visitors of another.

set local app.any_org = 'on';

-- Who had a pair first. Its rows outlive links and names of campaigns; only the triggers below write them.
create table link_address (
  program_slug text not null,
  slug text not null,
  organization_id uuid not null,
  primary key (slug, program_slug)
);
select isolate_tenant('link_address');
revoke insert, update, delete on link_address from finderfee_app;

-- Waits for a renaming of the campaign that is under way, and is waited for by the next one: of the two statements one
-- sees what the other committed, so no link is without its pair.
create function keep_link_address() returns trigger language plpgsql volatile security definer
set app.any_org = 'on' set search_path from current as $$
declare
  named text;
begin
  select slug into named from program
  where organization_id = new.organization_id and id = new.program_id for key share;
  insert into link_address (program_slug, slug, organization_id) values (named, new.slug, new.organization_id)
  on conflict do nothing;
  return null;
end $$;
create trigger keep_link_address after insert on tracking_link
  for each row execute function keep_link_address();

-- A campaign with another slug has the pairs that nobody had; those of its former slug stay the organization's.
create function keep_link_addresses() returns trigger language plpgsql volatile security definer
set app.any_org = 'on' set search_path from current as $$
begin
  insert into link_address (program_slug, slug, organization_id)
  select new.slug, l.slug, l.organization_id from tracking_link l
  where l.organization_id = new.organization_id and l.program_id = new.id and l.deleted_at is null order by l.slug
  on conflict do nothing;
  return null;
end $$;
create trigger keep_link_addresses after update of slug on program
  for each row when (old.slug is distinct from new.slug) execute function keep_link_addresses();

-- A pair that was there is whose living link it leads to, the oldest of them; else whose first link had it. The triggers
-- are there already and hold others off, so that nothing they write meanwhile is missed.
insert into link_address (program_slug, slug, organization_id)
select distinct on (program_slug, slug) program_slug, slug, organization_id from (
  select p.slug as program_slug, l.slug, l.organization_id, l.deleted_at is null as is_living, l.created_at, l.id
  from tracking_link l join program p on p.organization_id = l.organization_id and p.id = l.program_id
  union all
  select f.slug, l.slug, l.organization_id, false, l.created_at, l.id
  from program_former_slug f
  join tracking_link l on l.organization_id = f.organization_id and l.program_id = f.program_id
    and l.created_at < f.retired_at
) had
order by program_slug, slug, is_living desc, created_at, id;
