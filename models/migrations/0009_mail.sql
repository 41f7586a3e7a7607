-- Mail: a row per message, staged with the change that it reports; the body is sealed, since it may carry a one-time link.

create table mail_message (
  id uuid primary key,
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
select isolate_tenant('mail_message');

-- The one throttle of the installation: when the next message may go out. Workers take slots from it one by one.
create table mail_pace (
  is_only boolean primary key default true check (is_only),
  next_at timestamptz not null
);
insert into mail_pace (next_at) values (now());
grant select, update on mail_pace to finderfee_app;
