-- What was seen of the proof of a host name: of a program's custom domain, or of an organization's tracking domain, where
-- holder_id is the organization's own id. Whether the name is verified stays where it was, beside the name; a row of
-- another name than its holder has now says nothing.
create table host_proof (
  organization_id uuid not null references organization,
  holder_id uuid not null,
  name text not null check (name = lower(name)),
  waiting_since timestamptz not null,
  checked_at timestamptz,
  outcome text check (outcome in ('Proved', 'Missing', 'Silent', 'Taken')),
  found_at_name text,
  found_in_text text,
  proved_by text check (proved_by in ('CNAME', 'TXT')),
  missing_since timestamptz,
  missing_s integer not null default 0 check (missing_s >= 0),
  due_at timestamptz,
  primary key (organization_id, holder_id)
);
select isolate_tenant('host_proof');

-- The names that are looked at by the clock.
create index program_custom_domain on program (custom_domain) where custom_domain is not null and archived_at is null;
create index organization_any_tracking_domain on organization (tracking_domain) where tracking_domain is not null;

-- Whether somebody else answers for a name: a program other than this one (null: an organization as a whole), another
-- organization's scripts, or another organization's portal. It tells that one bit, and not whose it is.
create function is_host_proved_elsewhere(host text, holder uuid, program_id uuid) returns boolean
language sql stable security definer set app.any_org = 'on' set search_path from current as $$
  select exists (
    select from program p
    where p.custom_domain = host and p.custom_domain_verified and p.archived_at is null
      and (p.organization_id <> holder or p.id <> coalesce(program_id, p.id))
  ) or exists (
    select from organization o where o.tracking_domain = host and o.tracking_domain_verified and o.id <> holder
  ) or exists (
    select from organization o where o.portal_host = host and o.id <> holder
  )
$$;
