-- Organizations, their people and keys, and the separation of tenants; and functions that later files use: for
-- evidence, times of the database, months and host names.
--
-- Every tenant table has organization_id and the same policy: a transaction sees the rows of the organization that it
-- names (app.org); functions that work across tenants say so (app.any_org). FORCE applies the policy to the owner of
-- the tables too. The service runs as the role finderfee_app, which owns nothing (decision 4).
--
-- In all files the indexes of a table are in the order of their creation: of two indexes that look equally good on an
-- empty table, the planner uses the newer one (decision 49). This is why many a primary key is added after other
-- indexes.

do $$ begin
  create role finderfee_app nologin;
exception when duplicate_object or unique_violation then null;
end $$;

-- A role that migrates may also serve. Any other login gets the role by hand: grant finderfee_app to ….
do $$ begin
  if not pg_has_role(current_user, 'finderfee_app', 'member') then
    execute format('grant finderfee_app to %I', current_user);
  end if;
end $$;

grant usage on schema public to finderfee_app;

-- Separate the rows of one tenant from the others'. Called once for each tenant table, where it is created.
create function isolate_tenant(tenant_table regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', tenant_table);
  execute format('alter table %s force row level security', tenant_table);
  execute format($policy$
    create policy tenant on %s
      using (organization_id = nullif(current_setting('app.org', true), '')::uuid
             or current_setting('app.any_org', true) = 'on')
      with check (organization_id = nullif(current_setting('app.org', true), '')::uuid
             or current_setting('app.any_org', true) = 'on')
  $policy$, tenant_table);
  execute format('grant select, insert, update, delete on %s to finderfee_app', tenant_table);
end $$;

-- For tables of evidence: a row is written once and never changed or deleted, by any role.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create function make_append_only(evidence_table regclass) returns void language plpgsql as $$
begin
  execute format('create trigger append_only before update or delete on %s'
    ' for each row execute function refuse_change()', evidence_table);
  execute format('create trigger append_only_truncate before truncate on %s'
    ' for each statement execute function refuse_change()', evidence_table);
end $$;

-- For tables of money: a row whose time is more than a minute ahead of the database's clock gets the database's time
-- instead. The service takes every time from that clock already; this also holds for a process whose clock is wrong.
-- The arguments are the columns. Each trigger has a condition that costs next to nothing, so that the function runs for
-- such a row only.
create function say_database_time() returns trigger language plpgsql as $$
declare
  name text;
begin
  foreach name in array tg_argv loop
    if (to_jsonb(new) ->> name)::timestamptz > clock_timestamp() + interval '1 minute' then
      new := jsonb_populate_record(new, jsonb_build_object(name, clock_timestamp()));
    end if;
  end loop;
  return new;
end $$;

-- Prepare a statement once per connection. For a pool that gives one connection to several processes in turn, so that
-- none of them knows which statements are prepared on it. A setting of the connection stores this. A rollback undoes
-- the setting but not the prepared statement, so a second `prepare` may find that the statement exists already.
create function keep_prepared(name text, statement text) returns void language plpgsql as $$
begin
  if current_setting('prepared.' || name, true) is null then
    begin
      execute format('prepare %I as %s', name, statement);
    exception when duplicate_prepared_statement then null;
    end;
    perform set_config('prepared.' || name, 'on', false);
  end if;
end $$;

-- First statement of a transaction at a read replica. Fails if the server is no replica, or if it has not yet replayed
-- the log up to the position `wanted`, so that a reader never sees less than was committed before. It is sent together
-- with the first query, so it costs no round trip, and the same server answers both, even if several servers share an
-- address.
create function replica_stands_at(wanted pg_lsn) returns void language plpgsql as $$
begin
  if not pg_is_in_recovery() then
    raise exception 'this server is no replica' using errcode = '57P03';
  elsif pg_last_wal_replay_lsn() < wanted then
    raise exception 'the replica has not replayed % yet', wanted using errcode = '55000';
  end if;
end $$;

-- Months. Tables that grow with traffic are partitioned by month, by an id that begins with its time in milliseconds
-- (decision 51): NAME_earlier has everything up to the end of the month after the installation, then NAME_YYYY_MM each
-- month, and NAME_default takes any other row, so that none is refused; it should stay empty.

-- The first id that can be created at a time.
create function first_id_at(moment timestamptz) returns uuid language sql immutable strict parallel safe as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Create a table that can be attached to `whole` as a partition, with the storage parameters of `kept_as`.
create function part_made(part text, whole regclass, kept_as regclass) returns void language plpgsql as $$
declare
  kept text := (select array_to_string(reloptions, ', ') from pg_class where oid = kept_as);
begin
  execute format('create table %I (like %s including defaults including generated including constraints)', part, whole);
  if kept is not null then
    execute format('alter table %I set (%s)', part, kept);
  end if;
end $$;

-- Add to a partition the parts that it does not inherit: row security, and triggers that run once per statement. The
-- service reads and writes through the whole table, and has no rights on a partition.
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

-- The partitions and their bounds. is_month is false for NAME_default; since is null for NAME_earlier.
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

-- Create the partition of a month; returns whether it was missing. The service may call it although it owns no table:
-- it only creates empty months of the near future. Writers go on meanwhile, so tables that refer to each other are
-- locked first, in the order in which writers lock them.
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
  if whole::text in ('event', 'delivery') then
    lock table webhook_endpoint, event, delivery in share row exclusive mode;
  end if;
  perform part_made(part, whole, (whole || '_default')::regclass);
  execute format('alter table %s attach partition %I for values from (%L) to (%L)', whole, part, first_id_at(first),
    first_id_at(beyond));
  perform wall_in_partition(part::regclass, whole);
  return true;
end $$;

-- Drop an empty partition that ended at least a month ago; returns whether it was dropped. A month of attempts is
-- dropped once its deliveries are, and a month of events is detached from its deliveries first.
create function drop_month(part regclass) returns boolean language plpgsql security definer
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
  -- In the order in which all others lock them.
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

-- Create NAME_earlier and NAME_default of a new table, with the given storage parameters.
create function begin_months(whole regclass, storage text default null) returns void language plpgsql as $$
declare
  until uuid := first_id_at((date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
begin
  execute format('create table %I partition of %s for values from (minvalue) to (%L)', whole || '_earlier', whole, until);
  execute format('create table %I partition of %s default', whole || '_default', whole);
  if storage is not null then
    execute format('alter table %I set (%s)', whole || '_earlier', storage);
    execute format('alter table %I set (%s)', whole || '_default', storage);
  end if;
  perform wall_in_partition((whole || '_earlier')::regclass, whole);
  perform wall_in_partition((whole || '_default')::regclass, whole);
end $$;
revoke execute on function part_made, begin_months, make_month, drop_month from public;
grant execute on function make_month, drop_month to finderfee_app;

-- The organization that a verified host name belongs to, and until when after the organization gave it up: for 90 days
-- no other organization may verify it, since its DNS may still lead here. 'infinity': the organization still uses it.
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

-- Start the 90 days of a host name, unless the organization still uses it in another place. The row is locked first: if
-- two transactions each give up one use, the second sees the change of the first.
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

-- Free a host name that another organization gave up. Called when a TXT record names the new holder and neither a CNAME
-- nor an address of the name leads here any more.
create function free_host(host text, claimant uuid) returns void
language sql security definer set app.any_org = 'on' set search_path from current as $$
  delete from host_hold where name = host and organization_id <> claimant and held_until <> 'infinity'
$$;

-- A brand: the tenant.
create table organization (
  id uuid primary key,
  name text not null,
  slug text not null unique,
  plan_tier text not null check (plan_tier in ('Free', 'Starter', 'Growth', 'Pro')),
  subscription_status text not null check (subscription_status in ('Trialing', 'Active', 'PastDue', 'Canceled')),
  trial_ends_at timestamptz,
  home_currency text not null default 'USD',
  payout_grace_days int not null default 30 check (payout_grace_days between 0 and 365),
  payout_grace_days_max int not null default 90,
  gateways text[] not null default '{}',
  created_at timestamptz not null default now(),
  -- The label in the address of the brand's portal, and the handle of its storefront.
  subdomain text check (subdomain = lower(subdomain)),
  subdomain_change_count int not null default 0,
  -- A host name of the brand's own for its portal, set by the operator.
  portal_host text check (portal_host = lower(portal_host)),
  description text,
  billing_email text,
  timezone text not null default 'UTC',
  industry_category text,
  primary_brand_color text check (primary_brand_color ~ '^#[0-9a-f]{6}$'),
  logo_file_id uuid,
  favicon_file_id uuid,
  white_label_enabled boolean not null default false,
  min_payout_cents bigint check (min_payout_cents >= 0),
  automatic_payout_enabled boolean not null default false,
  automatic_payout_cadence text not null default 'Manual'
    check (automatic_payout_cadence in ('Manual', 'Weekly', 'Biweekly', 'Monthly')),
  last_automatic_payout_at timestamptz,
  home_currency_changed_at timestamptz,
  attribution_params text,
  billing_provider text,
  billing_interval text check (billing_interval in ('Month', 'Year')),
  processor_customer_id text,
  processor_subscription_id text,
  -- Null: the plan's limit.
  affiliate_limit int check (affiliate_limit >= 0),
  min_payout_currency text,
  -- How strict the fraud rules are for this brand.
  fraud_strictness text not null default 'balanced'
    check (fraud_strictness in ('lenient', 'balanced', 'strict')),
  -- How many leads of the hosted form one affiliate may bring to one program per UTC day.
  leads_per_day int not null default 100 check (leads_per_day between 1 and 1000000),
  -- Set by the operator: inputs of the fraud rules, and whether paid leads are accepted from browsers.
  fraud_score int not null default 0 check (fraud_score between 0 and 100),
  banned_referrers text[] not null default '{}' check (array_position(banned_referrers, null) is null),
  lead_preview boolean not null default false,
  -- Set by the operator: the public name of the brand's pixel.
  pixel_public_key text,
  -- A host name of the brand's own from which its pages load our script; used once the operator has verified it.
  tracking_domain text check (tracking_domain = lower(tracking_domain)),
  tracking_domain_verified boolean not null default false,
  -- How the sandbox rail behaves for this organization. Null: payouts use the rail that is configured for their method.
  sandbox_rail text check (sandbox_rail in ('ok', 'fail', 'ambiguous', 'slow')),
  -- The limits of payouts, which the operator sets.
  verification_state text not null default 'unverified'
    check (verification_state in ('unverified', 'pending', 'verified')),
  -- Null: the fraud score decides. True: a reviewer requires the identity check. False: it was passed, or waived by an
  -- operator.
  identity_required boolean,
  identity_threshold int not null default 85 check (identity_threshold between 1 and 101),
  high_risk_threshold int not null default 60 check (high_risk_threshold between 1 and 101),
  funding_mode text not null default 'balance' check (funding_mode in ('debit', 'balance')),
  bank_balance_cents bigint not null default 0 check (bank_balance_cents >= 0),
  funding_frozen boolean not null default false,
  payouts_need_review boolean not null default false,
  payout_hold_days int not null default 0 check (payout_hold_days between 0 and 365),
  tax_form_required boolean not null default false,
  -- The day, in the organization's time zone, from which the periods of the cadence are counted.
  automatic_payout_since date,
  -- Gateways with a live connection, in the order of connecting. The operator sets the column gateways.
  connected_gateways text[] not null default '{}',
  commission_basis text not null default 'gross' check (commission_basis in ('gross', 'net')),
  -- Source that the processor charges for deals: CUSTOMER or CUSTOMER/PAYMENT_METHOD. Null: none.
  deal_funding_source text,
  -- The treatment of a conversion whose buyer is the credited affiliate.
  self_referrals text not null default 'earn'
    constraint organization_self_referrals check (self_referrals in ('earn', 'hold', 'deny')),
  constraint organization_min_payout_currency
    check ((min_payout_cents is null) = (min_payout_currency is null)),
  constraint organization_cadence_since
    check ((automatic_payout_cadence = 'Manual') = (automatic_payout_since is null))
);
-- Partial indexes instead of unique constraints: a foreign key could refer to a constraint, so that a change of the
-- column would wait for each transaction that refers to the organization, and two changes at once would deadlock.
create unique index organization_subdomain on organization (subdomain) where subdomain is not null;
create unique index organization_portal_host on organization (portal_host) where portal_host is not null;
create unique index organization_tracking_domain on organization (tracking_domain) where tracking_domain_verified;
create index organization_cadence on organization (id) where automatic_payout_cadence <> 'Manual';
create index organization_any_tracking_domain on organization (tracking_domain) where tracking_domain is not null;
-- Finds the brands of a rare currency.
create index organization_home_currency on organization (home_currency);
alter table organization enable row level security;
alter table organization force row level security;
create policy tenant on organization using (
  id = nullif(current_setting('app.org', true), '')::uuid
  or coalesce(current_setting('app.any_org', true) = 'on', false)
) with check (
  id = nullif(current_setting('app.org', true), '')::uuid or current_setting('app.any_org', true) = 'on'
);
grant select, insert, update, delete on organization to finderfee_app;

-- Hold the host names that an organization uses, and release those that it gives up.
create function keep_organization_hosts() returns trigger language plpgsql set search_path from current as $$
declare
  before text[] := '{}';
  after text[];
  host text;
begin
  if tg_op = 'UPDATE' then
    before := array_remove(
      array[old.portal_host, case when old.tracking_domain_verified then old.tracking_domain end], null);
  end if;
  after := array_remove(
    array[new.portal_host, case when new.tracking_domain_verified then new.tracking_domain end], null);
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

-- Small files that must survive the loss of a machine: logos, pictures, tax forms. Private ones are sealed.
create table stored_file (
  id uuid not null,
  organization_id uuid not null references organization,
  kind text not null check (kind in ('logo', 'favicon', 'tax_form', 'asset', 'hero')),
  content_type text not null,
  content bytea not null,
  created_at timestamptz not null
);
create index stored_hero on stored_file (organization_id, created_at desc) where kind = 'hero';
create index stored_file_anywhere on stored_file (id);
alter table stored_file add primary key (organization_id, id);
select isolate_tenant('stored_file');

alter table organization
  add constraint organization_logo foreign key (id, logo_file_id) references stored_file (organization_id, id),
  add constraint organization_favicon foreign key (id, favicon_file_id) references stored_file (organization_id, id);

-- A person of a brand.
create table member (
  id uuid not null,
  organization_id uuid not null references organization,
  email text not null,
  role text not null check (role in ('Owner', 'Admin', 'Manager', 'Viewer')),
  created_at timestamptz not null default now(),
  -- The subject of the person's token. A member whom an operator created has none until the first sign-in with the same
  -- verified email claims it.
  subject text,
  -- When the person last came with a token, to the day.
  seen_at timestamptz not null default now()
);
create unique index member_subject on member (organization_id, subject) where subject is not null;
create unique index member_unclaimed_email on member (organization_id, email) where subject is null;
create index member_seen on member (seen_at) where subject is not null;
alter table member add primary key (organization_id, id);
select isolate_tenant('member');

create table api_key (
  id uuid primary key,
  organization_id uuid not null references organization,
  member_id uuid not null,
  name text not null,
  scope text not null check (scope in ('read', 'read_write')),
  is_test boolean not null,
  last_four text not null,
  key_hash bytea not null unique,
  signing_secret_sealed bytea not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  -- When the key was last used, to the hour.
  last_used_at timestamptz,
  unique (organization_id, id),
  foreign key (organization_id, member_id) references member (organization_id, id)
);
create index api_key_list on api_key (organization_id, created_at desc, id desc);
select isolate_tenant('api_key');
