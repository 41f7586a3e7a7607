-- Notifications of a brand's people: a row per notification of an organization. A person's mark of what they have read
-- and their switches are in another file.

-- From which amount a sale is large (null: a default of the home currency), and when the first sale arrived that
-- tracking or a connection recorded.
alter table organization
  add column large_sale_cents bigint check (large_sale_cents > 0),
  add column large_sale_currency text,
  add column first_sale_at timestamptz,
  add constraint organization_large_sale_currency
    check ((large_sale_cents is null) = (large_sale_currency is null));

-- The number of the organization's latest notification. Its row is locked from the writing of a notification until the
-- commit, so numbers become visible in their order: a person who has read up to a number has missed none before it.
create table notification_counter (
  organization_id uuid primary key references organization,
  last_number bigint not null check (last_number > 0)
);
select isolate_tenant('notification_counter');

create table notification (
  id uuid not null,
  organization_id uuid not null references organization,
  -- Changes with each event that the notification collects, so that it is unread again.
  number bigint not null check (number > 0),
  kind text not null check (kind in (
    'new_application', 'first_sale', 'large_sale', 'webhook_failing', 'connection_broken', 'payout_due')),
  -- How many events it reports, and the subjects of the first of them: affiliates, conversions, endpoints, a connection
  -- or a proposed payout run.
  event_count int not null check (event_count > 0),
  subject_ids uuid[] not null check (cardinality(subject_ids) between 1 and 10),
  -- What does not follow from the subjects: the title, the body of the email and the page. No personal data.
  title text check (length(title) <= 300),
  detail text check (length(detail) <= 50000),
  path text check (path ~ '^/dashboard(/[a-z0-9-]+)*$'),
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- When its emails were staged; until then it collects further events of its kind.
  emailed_at timestamptz
);
create unique index notification_number on notification (organization_id, number);
create index notification_list on notification (organization_id, last_at desc, id desc);
create index notification_open on notification (organization_id, kind) where emailed_at is null;
create index notification_age on notification (last_at);
alter table notification add primary key (organization_id, id);
select isolate_tenant('notification');
