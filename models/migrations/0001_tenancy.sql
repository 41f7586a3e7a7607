-- Organizations, their people, their API keys, and the walls between them.
--
-- Every tenant table carries organization_id and the same policy: a row is visible to a transaction that
-- named its organization (app.org) and to the few functions that work across tenants and say so (app.any_org).
-- FORCE makes the policy hold for the table's owner too; the service itself runs as finderfee_app, who owns nothing.

do $$ begin
  create role finderfee_app nologin;
exception when duplicate_object or unique_violation then null;
end $$;

-- Whoever migrates may also be who serves; another login is given the role by hand: grant finderfee_app to ....
do $$ begin
  if not pg_has_role(current_user, 'finderfee_app', 'member') then
    execute format('grant finderfee_app to %I', current_user);
  end if;
end $$;

grant usage on schema public to finderfee_app;

-- Called once per tenant table by the migrations that create one.
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

-- For tables whose rows are evidence: they can be written once and never changed, by anyone.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create function make_append_only(evidence_table regclass) returns void language plpgsql as $$
begin
  execute format('create trigger append_only before update or delete on %s for each row execute function refuse_change()', evidence_table);
  execute format('create trigger append_only_truncate before truncate on %s for each statement execute function refuse_change()', evidence_table);
end $$;

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
  created_at timestamptz not null default now()
);
alter table organization enable row level security;
alter table organization force row level security;
create policy tenant on organization
  using (id = nullif(current_setting('app.org', true), '')::uuid or current_setting('app.any_org', true) = 'on')
  with check (id = nullif(current_setting('app.org', true), '')::uuid or current_setting('app.any_org', true) = 'on');
grant select, insert, update, delete on organization to finderfee_app;

create table member (
  id uuid primary key,
  organization_id uuid not null references organization,
  email text not null,
  role text not null check (role in ('Owner', 'Admin', 'Manager', 'Viewer')),
  created_at timestamptz not null default now(),
  unique (organization_id, id),
  unique (organization_id, email)
);
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
  unique (organization_id, id),
  foreign key (organization_id, member_id) references member (organization_id, id)
);
select isolate_tenant('api_key');
