-- What the HTTP edge remembers: answers that a retry must get again, and who did what.

create table stored_answer (
  organization_id uuid not null references organization,
  scope text not null,
  key text not null,
  request_hash bytea not null,
  status int,
  body bytea,
  headers jsonb,
  created_at timestamptz not null default now(),
  primary key (organization_id, scope, key)
);
create index stored_answer_age on stored_answer (created_at);
select isolate_tenant('stored_answer');

create table audit_entry (
  id uuid primary key,
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
  created_at timestamptz not null default now()
);
create index audit_entry_list on audit_entry (organization_id, created_at desc, id desc);
select isolate_tenant('audit_entry');
select make_append_only('audit_entry');
