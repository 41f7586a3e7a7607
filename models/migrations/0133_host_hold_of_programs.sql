-- The same for custom domains of programs. An archived one counts from the day on which it was archived.
create function keep_program_host() returns trigger language plpgsql set search_path from current as $$
declare
  before text;
  after text;
begin
  if tg_op <> 'INSERT' and old.custom_domain_verified and old.archived_at is null then
    before := lower(old.custom_domain);
  end if;
  if tg_op <> 'DELETE' and new.custom_domain_verified and new.archived_at is null then
    after := lower(new.custom_domain);
  end if;
  if before is not distinct from after then
    return null;
  end if;
  if after is not null then
    perform hold_host(after, new.organization_id);
  end if;
  if before is not null then
    perform release_host(before, old.organization_id);
  end if;
  return null;
end $$;
create trigger keep_host after insert or delete or update of custom_domain, custom_domain_verified, archived_at on program
  for each row execute function keep_program_host();

set local app.any_org = 'on';
insert into host_hold (name, organization_id)
select lower(custom_domain), organization_id from program
where custom_domain is not null and custom_domain_verified and archived_at is null
on conflict do nothing;
insert into host_hold (name, organization_id, held_until)
select distinct on (lower(custom_domain)) lower(custom_domain), organization_id, archived_at + interval '90 days' from program
where custom_domain is not null and custom_domain_verified and archived_at > now() - interval '90 days'
order by lower(custom_domain), archived_at desc
on conflict do nothing;
