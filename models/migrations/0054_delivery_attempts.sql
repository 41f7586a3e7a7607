-- What came of each attempt to deliver an event; it ends with its delivery. Nothing waits for these rows.

create table delivery_attempt (
  organization_id uuid not null,
  delivery_id uuid not null references delivery on delete cascade,
  number int not null check (number > 0),
  began_at timestamptz not null,
  ended_at timestamptz not null check (ended_at >= began_at),
  response_status int,
  response_excerpt text,
  failure_reason text,
  primary key (delivery_id, number)
);
select isolate_tenant('delivery_attempt');
