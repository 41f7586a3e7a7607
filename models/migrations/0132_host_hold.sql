-- Which organization a verified host name belongs to, and until when after the organization has left it: for 90 days no
-- other organization may verify it, since its DNS may still lead here. 'infinity': the organization still uses it.
create table host_hold (
  name text primary key check (name = lower(name)),
  organization_id uuid not null,
  held_until timestamptz not null default 'infinity'
);
select isolate_tenant('host_hold');

-- Hold a host name for an organization. Fails like a unique index while another organization holds it.
create function hold_host(host text, holder uuid) returns void
language plpgsql security definer set app.any_org = 'on' set search_path from current as $$
begin
  insert into host_hold (name, organization_id) values (host, holder)
  on conflict (name) do update set organization_id = excluded.organization_id, held_until = 'infinity'
  where host_hold.organization_id = excluded.organization_id or host_hold.held_until <= now();
  if not found then
    raise exception 'another organization holds the host name %', host
      using errcode = 'unique_violation', constraint = 'host_hold_pkey', table = 'host_hold';
  end if;
end $$;

-- Start the 90 days of a host name, unless the organization still uses it in another place. The row is locked first, so that
-- of two transactions that each give up one use the second sees what the first has done.
create function release_host(host text, holder uuid) returns void
language plpgsql security definer set app.any_org = 'on' set search_path from current as $$
begin
  perform from host_hold where name = host and organization_id = holder for update;
  update host_hold set held_until = now() + interval '90 days'
  where name = host and organization_id = holder and held_until = 'infinity'
    and not exists (
      select from program
      where organization_id = holder and lower(custom_domain) = host and custom_domain_verified and archived_at is null)
    and not exists (
      select from organization
      where id = holder and (portal_host = host or tracking_domain = host and tracking_domain_verified));
end $$;

-- Free a host name that another organization has left. Called when a TXT record names its new holder and neither a CNAME
-- nor an address of the name leads here any more.
create function free_host(host text, claimant uuid) returns void
language sql security definer set app.any_org = 'on' set search_path from current as $$
  delete from host_hold where name = host and organization_id <> claimant and held_until <> 'infinity'
$$;

create function keep_organization_hosts() returns trigger language plpgsql set search_path from current as $$
declare
  before text[] := '{}';
  after text[];
  host text;
begin
  if tg_op = 'UPDATE' then
    before := array_remove(array[old.portal_host, case when old.tracking_domain_verified then old.tracking_domain end], null);
  end if;
  after := array_remove(array[new.portal_host, case when new.tracking_domain_verified then new.tracking_domain end], null);
  foreach host in array after loop
    if host <> all (before) then
      perform hold_host(host, new.id);
    end if;
  end loop;
  foreach host in array before loop
    if host <> all (after) then
      perform release_host(host, new.id);
    end if;
  end loop;
  return null;
end $$;
create trigger keep_hosts after insert or update of portal_host, tracking_domain, tracking_domain_verified on organization
  for each row execute function keep_organization_hosts();

set local app.any_org = 'on';
insert into host_hold (name, organization_id)
select portal_host, id from organization where portal_host is not null
union
select tracking_domain, id from organization where tracking_domain is not null and tracking_domain_verified
on conflict do nothing;

-- As before, and true as well for a name that another organization has left less than 90 days ago.
create or replace function is_host_proved_elsewhere(host text, holder uuid, program_id uuid) returns boolean
language sql stable security definer set app.any_org = 'on' set search_path from current as $$
  select exists (
    select from program p
    where p.custom_domain = host and p.custom_domain_verified and p.archived_at is null
      and (p.organization_id <> holder or p.id <> coalesce(program_id, p.id))
  ) or exists (
    select from organization o where o.tracking_domain = host and o.tracking_domain_verified and o.id <> holder
  ) or exists (
    select from organization o where o.portal_host = host and o.id <> holder
  ) or exists (
    select from host_hold h where h.name = host and h.organization_id <> holder and h.held_until > now()
  )
$$;
