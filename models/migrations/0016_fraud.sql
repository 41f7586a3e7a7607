-- What the fraud rules found in clicks and leads, and how strict a brand wants them.

alter table organization add column fraud_strictness text not null default 'balanced'
  check (fraud_strictness in ('lenient', 'balanced', 'strict'));

-- One row per click or lead that was blocked or held. Written while clicks are stored, so like them it reaches its
-- organization through its affiliate. The subject itself may be gone: what is blocked need not be kept.
create table fraud_event (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  subject text not null check (subject in ('click', 'lead')),
  subject_id uuid not null,
  score int not null check (score between 0 and 100),
  reasons text[] not null,
  severity text not null check (severity in ('low', 'medium', 'high')),
  action text not null check (action in ('blocked', 'held')),
  status text not null default 'open' check (status in ('open', 'resolved', 'dismissed')),
  occurred_at timestamptz not null,
  resolved_at timestamptz,
  resolved_by uuid,
  unique (organization_id, subject, subject_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  check ((status = 'open') = (resolved_at is null)),
  check ((resolved_at is null) = (resolved_by is null))
);
create index fraud_event_list on fraud_event (organization_id, occurred_at desc, id desc);
create index fraud_event_status on fraud_event (organization_id, status, occurred_at desc, id desc);
create index fraud_event_program on fraud_event (organization_id, program_id, occurred_at desc, id desc);
select isolate_tenant('fraud_event');
