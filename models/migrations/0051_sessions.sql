-- Who is signed in at the pages of this service, and the one-time links that sign in.

-- A session is known by the hash of its cookie. An affiliate's and an operator's belong to no organization, so that
-- no tenant sees them.
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
  check ((kind = 'member') = (organization_id is not null)),
  check ((kind = 'member') = (role is not null))
);
select isolate_tenant('web_session');
create index web_session_subject on web_session (kind, subject);
create index web_session_end on web_session (expires_at);

create table sign_in_link (
  token_hash bytea primary key check (length(token_hash) = 32),
  kind text not null check (kind in ('member', 'account', 'operator')),
  organization_id uuid references organization,
  role text,
  email text not null,
  expires_at timestamptz not null,
  check ((kind = 'member') = (organization_id is not null)),
  check ((kind = 'member') = (role is not null))
);
select isolate_tenant('sign_in_link');
create index sign_in_link_end on sign_in_link (expires_at);
