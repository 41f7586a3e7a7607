-- A bare short link (/r/{slug}) is its organization's for ever: it was shared, so nobody else may ever be led to by it.
-- And whose slug it is elsewhere is no answer's to tell.

set local app.any_org = 'on';

-- The table of turns learns whose a slug is. Nobody reads it but the functions below; its rows outlive their links.
alter table slug_turn rename to bare_slug;
alter table bare_slug add column organization_id uuid;

insert into bare_slug (slug, organization_id)
select distinct on (slug) slug, organization_id from tracking_link
order by slug, (deleted_at is null and not needs_program) desc, created_at, id
on conflict (slug) do update set organization_id = excluded.organization_id;
delete from bare_slug where organization_id is null;
alter table bare_slug alter column organization_id set not null;

-- The first organization that gives a slug has it bare, and only for one living link at a time. A link that was shared
-- with its program stays so: it does not inherit the visitors of the one that ended.
create or replace function mark_needs_program() returns trigger language plpgsql volatile security definer
set app.any_org = 'on' set search_path from current as $$
declare
  first_had_by uuid;
begin
  insert into bare_slug (slug, organization_id) values (new.slug, new.organization_id)
  on conflict (slug) do update set slug = excluded.slug returning organization_id into first_had_by;
  new.needs_program := first_had_by <> new.organization_id or exists (
    select from tracking_link l
    where l.organization_id = new.organization_id and l.slug = new.slug and l.deleted_at is null and not l.needs_program
  );
  return new;
end $$;

-- The same bit for the organization of the transaction before the link is there, without a turn.
create or replace function is_slug_taken_anywhere(wanted text) returns boolean language sql stable security definer
set app.any_org = 'on' set search_path from current as $$
  select exists (
    select from bare_slug b
    where b.slug = wanted and b.organization_id <> nullif(current_setting('app.org', true), '')::uuid
  ) or exists (
    select from tracking_link l
    where l.organization_id = nullif(current_setting('app.org', true), '')::uuid and l.slug = wanted
      and l.deleted_at is null and not l.needs_program
  )
$$;

-- Which of these people (by email) would be given a slug that is taken. Of other organizations, and of accounts, it
-- tells that one bit alike for every email: asked with the right one it must not say that the slug is that person's.
-- Who has the slug in this organization already may have it again; what the others hold plays no part then.
create or replace function slugs_of_others(wanted_slugs text[], for_emails text[])
returns table (wanted_slug text, for_email text) language sql stable set app.any_org = 'on' as $$
  with own as (
    select l.slug, a.email, a.deleted_at is not null as is_gone from tracking_link l
    join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
    where l.organization_id = nullif(current_setting('app.org', true), '')::uuid
      and l.slug = any(wanted_slugs) and l.deleted_at is null
  )
  select w.slug, w.email from unnest(wanted_slugs, for_emails) as w (slug, email)
  where exists (select from own where own.slug = w.slug and (own.email <> w.email or own.is_gone))
     or not exists (select from own where own.slug = w.slug)
        and (exists (select from affiliate_account a where a.slug = w.slug)
             or exists (select from tracking_link l where l.slug = w.slug and l.deleted_at is null))
$$;
