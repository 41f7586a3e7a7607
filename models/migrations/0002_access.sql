-- Access of people and records of requests: sessions, sign-in links, stored responses, the audit log, mail.

-- A session of the pages, known by the hash of its cookie. Sessions of affiliates and operators belong to no
-- organization, so no tenant sees them.
create table web_session (
  id_hash bytea primary key check (length(id_hash) = 32),
  kind text not null check (kind in ('member', 'account', 'operator')),
  organization_id uuid references organization,
  role text,
  subject text not null,
  email text not null,
  is_email_verified boolean not null,
  signed_in_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  user_agent text,
  -- issuer: the identity provider; null for a one-time link of our own. refreshed_at: when the provider last confirmed
  -- the person. refresh_from: when the provider is queried again, with the refresh token if it issued one.
  -- is_login_dated: whether the time of the login is known; if not, signed_in_at is when the person arrived here, and
  -- no login counts as recent.
  issuer text,
  refreshed_at timestamptz,
  refresh_from timestamptz,
  refresh_sealed bytea,
  is_login_dated boolean not null default true,
  check ((kind = 'member') = (organization_id is not null)),
  check ((kind = 'member') = (role is not null)),
  check ((issuer is null) = (refreshed_at is null)),
  check ((issuer is null) = (refresh_from is null)),
  check (issuer is not null or refresh_sealed is null),
  check (issuer is not null or is_login_dated)
);
create index web_session_subject on web_session (kind, subject);
create index web_session_end on web_session (expires_at);
select isolate_tenant('web_session');

create table sign_in_link (
  token_hash bytea primary key check (length(token_hash) = 32),
  kind text not null check (kind in ('member', 'account', 'operator')),
  organization_id uuid references organization,
  role text,
  email text not null,
  expires_at timestamptz not null,
  -- The browser that requested a mailed link, by the hash of its cookie: the link signs that browser in at once, and
  -- any other after a confirmation. Null: a link from the command line.
  asked_by bytea check (length(asked_by) = 32),
  check ((kind = 'member') = (organization_id is not null)),
  check ((kind = 'member') = (role is not null))
);
create index sign_in_link_end on sign_in_link (expires_at);
select isolate_tenant('sign_in_link');

-- Limits how often an address gets a link: it has three slots, and each is free again an hour after its use.
create table sign_in_letter (
  email_hash bytea not null check (length(email_hash) = 32),
  place smallint not null check (place between 1 and 3),
  expires_at timestamptz not null,
  primary key (email_hash, place)
);
create index sign_in_letter_end on sign_in_letter (expires_at);
grant select, insert, update, delete on sign_in_letter to finderfee_app;

-- Responses that are returned again to a retry with the same Idempotency-Key. Those of operators belong to no
-- organization.
create table stored_answer (
  organization_id uuid references organization,
  scope text not null,
  key text not null,
  request_hash bytea not null,
  status int,
  body bytea,
  headers jsonb,
  created_at timestamptz not null default now()
);
create index stored_answer_age on stored_answer (created_at);
create unique index stored_answer_name on stored_answer (scope, key, organization_id) nulls not distinct;
select isolate_tenant('stored_answer');

create table audit_entry (
  id uuid not null,
  organization_id uuid references organization,
  action text not null,
  entity_type text not null,
  entity_id text not null,
  actor_type text not null,
  actor_user_id uuid,
  actor_label text,
  ip text,
  user_agent text,
  request_id text,
  before jsonb,
  after jsonb,
  created_at timestamptz not null default now(),
  -- Set if the change was not made directly through the API: the channel that it came through, and the name that the
  -- program gives itself.
  via text,
  client text check (length(client) <= 100)
) partition by range (id);
create index audit_entry_list on audit_entry (organization_id, created_at desc, id desc);
create index audit_entry_action on audit_entry (organization_id, action, created_at desc, id desc);
create index audit_entry_address on audit_entry (created_at) where ip not like 'hash:%';
alter table audit_entry add primary key (id);
create index audit_entry_type on audit_entry (organization_id, entity_type, created_at desc, id desc);
create index audit_entry_actor on audit_entry (organization_id, actor_user_id, created_at desc, id desc)
  where actor_user_id is not null;
select isolate_tenant('audit_entry');
-- Same rows as the policy of other tables, but the settings are read once per statement: the total of the audit log is
-- counted row by row from an index, and reading the settings for each row was most of the cost.
alter policy tenant on audit_entry using (
  organization_id = (select nullif(current_setting('app.org', true), '')::uuid)
  or (select current_setting('app.any_org', true) = 'on')
);
create trigger append_only before delete on audit_entry for each row execute function refuse_change();
create trigger append_only_truncate before truncate on audit_entry
  for each statement execute function refuse_change();

-- The only change of an audit entry that is allowed: an address older than 30 days becomes its keyed hash.
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
create trigger append_only_update before update on audit_entry for each row execute function audit_address_forgotten();
select begin_months('audit_entry');

-- A row per email, staged with the change that it reports. The body is sealed, since it may contain a one-time link.
create table mail_message (
  id uuid not null,
  organization_id uuid not null references organization,
  kind text not null,
  recipient text not null,
  subject text not null,
  body_sealed bytea,
  status text not null default 'Queued' check (status in ('Queued', 'Sent', 'Kept', 'Failed')),
  attempts int not null default 0,
  last_error text,
  slot_at timestamptz,
  created_at timestamptz not null,
  sent_at timestamptz,
  check (status <> 'Queued' or body_sealed is not null),
  check (status <> 'Sent' or (body_sealed is null and sent_at is not null))
);
create index mail_message_list on mail_message (created_at desc, id desc);
create index mail_message_list_of_one on mail_message (organization_id, created_at desc, id desc);
create index mail_message_body on mail_message (created_at) where body_sealed is not null;
alter table mail_message add primary key (organization_id, id);
create index mail_message_anywhere on mail_message (id);
select isolate_tenant('mail_message');

-- When the next email may be sent, for the whole installation. Workers reserve slots one by one.
create table mail_pace (
  is_only boolean primary key default true check (is_only),
  next_at timestamptz not null
);
grant select, update on mail_pace to finderfee_app;
insert into mail_pace (next_at) values (now());
