-- The team of an organization: invitations, removal, sign-in by email, and the second factor of a person.

-- A session or a link says how its person proved who they are: a link from the shell, from an email, or from an
-- invitation, a code of the second factor, or an identity provider. An emailed link of the kind `account` is for
-- everything that its address may open, which is decided when it is used.
alter table sign_in_link
  add column via text not null default 'shell' check (via in ('shell', 'email', 'invite'));
alter table web_session
  add column signed_in_by text not null default 'shell'
    check (signed_in_by in ('shell', 'email', 'invite', 'code', 'provider'));

alter table organization add column require_second_factor boolean not null default false;

alter table member
  -- When the team removed the person. The row stays, because the audit log, API keys and conversations refer to it.
  add column removed_at timestamptz,
  -- When the team last changed the role or removed the person: tokens of our own that are older are refused.
  add column access_changed_at timestamptz;
create index member_email on member (email) where removed_at is null;

-- A team keeps an active Owner. Two Owners who remove each other wait for each other here, and the second is refused.
-- What an identity provider or the operator's shell says about a role is not a change by the team.
create function keep_an_owner() returns trigger language plpgsql as $$
begin
  perform from organization where id = old.organization_id for no key update;
  if not exists (
    select from member
    where organization_id = old.organization_id and id <> old.id and role = 'Owner' and removed_at is null) then
    raise exception 'the last Owner of an organization stays'
      using errcode = 'restrict_violation', constraint = 'member_last_owner', table = 'member';
  end if;
  return new;
end $$;
create trigger last_owner before update of role, removed_at on member for each row
  when (old.role = 'Owner' and old.removed_at is null and (new.role <> 'Owner' or new.removed_at is not null)
        and new.access_changed_at is distinct from old.access_changed_at)
  execute function keep_an_owner();

-- An invitation to the team. It is deleted when it is accepted or revoked; the audit log keeps what happened.
create table member_invite (
  id uuid not null,
  organization_id uuid not null references organization,
  email text not null check (email <> ''),
  role text not null check (role in ('Owner', 'Admin', 'Manager', 'Viewer')),
  token_hash bytea not null check (length(token_hash) = 32),
  invited_by uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, email),
  unique (organization_id, token_hash),
  foreign key (organization_id, invited_by) references member (organization_id, id) on delete cascade
);
create index member_invite_token on member_invite (token_hash);
create index member_invite_email on member_invite (email);
create index member_invite_end on member_invite (expires_at);
select isolate_tenant('member_invite');

-- The second factor (TOTP, RFC 6238) of a person who signs in by email, in all of their organizations. Until
-- `enabled_at` its secret was shown and no code of it was entered yet. A code counts once: `last_step` is the time step
-- of the last one.
create table second_factor (
  email text primary key,
  secret_sealed bytea not null,
  enabled_at timestamptz,
  last_step bigint not null default 0,
  wrong_codes int not null default 0 check (wrong_codes between 0 and 4),
  blocked_until timestamptz,
  created_at timestamptz not null
);
grant select, insert, update, delete on second_factor to finderfee_app;

-- Recovery codes, each for one use: a used one is deleted.
create table recovery_code (
  email text not null references second_factor on delete cascade,
  code_hash bytea not null check (length(code_hash) = 32),
  primary key (email, code_hash)
);
grant select, insert, delete on recovery_code to finderfee_app;
