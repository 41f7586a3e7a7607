-- What grows with traffic gets an end: single clicks become counts, what is over is dropped, addresses are forgotten.

-- Clicks that are no longer kept one by one, as many as a link had in an hour with the same fate. Nulls are one value.
create table click_hour (
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  slug text not null,
  sub_id text,
  hour timestamptz not null,
  is_duplicate boolean not null,
  outcome text not null,
  conversion_id uuid,
  number bigint not null check (number > 0),
  last_at timestamptz not null,
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
create unique index click_hour_fate on click_hour
  (organization_id, program_id, affiliate_id, hour, slug, sub_id, is_duplicate, outcome, conversion_id)
  nulls not distinct;
create index click_hour_last on click_hour (organization_id, program_id, last_at desc);
select isolate_tenant('click_hour');

-- Which conversion a held click had, once the click is only a count.
alter table fraud_event add column conversion_id uuid;

-- A conversion that was Denied or Invalidated from its first moment has no entry in the ledger. Its first event says so;
-- when that is dropped, the conversion does.
alter table conversion add column born_owing_nothing boolean not null default false;

-- When a person last came with a token, to the day.
alter table member add column seen_at timestamptz not null default now();

-- What is old, the oldest first. Clicks, deliveries, fraud events, dead letters, rail events and mail have such an index.
create index event_age on event (created_at);
create index lead_forgettable on lead (expires_at) where state = 'Expired' and email <> '';
create index audit_entry_address on audit_entry (created_at) where ip not like 'hash:%';
create index member_seen on member (seen_at) where subject is not null;
create index affiliate_invite_over on affiliate_invite (expires_at) where state in ('Expired', 'Revoked');
create index import_job_empty on import_job (created_at) where status = 'Undone' or imported = 0;

-- The one change that an audit entry allows: an address that is a month old becomes its keyed hash.
create function audit_address_forgotten() returns trigger language plpgsql as $$
declare
  with_address audit_entry;
begin
  with_address := new;
  with_address.ip := old.ip;
  if old.ip is null or old.ip like 'hash:%' or new.ip is null or new.ip !~ '^hash:[0-9a-f]{32}$'
     or old.created_at > now() - interval '30 days' or with_address is distinct from old then
    raise exception 'audit_entry is append-only' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
drop trigger append_only on audit_entry;
create trigger append_only before delete on audit_entry for each row execute function refuse_change();
create trigger append_only_update before update on audit_entry for each row execute function audit_address_forgotten();

-- What the last run of each kind did. finished_at null: it goes on.
create table retention_run (
  kind text primary key,
  started_at timestamptz not null,
  finished_at timestamptz,
  ended bigint not null default 0
);
grant select, insert, update on retention_run to finderfee_app;
