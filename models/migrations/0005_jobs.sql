-- Work is a row, staged with the change that asks for it and deleted with the change that it made.
-- deadline null: waiting here. deadline set: handed to the broker until then. failed_at set: a dead letter.

create table job (
  id bigint generated always as identity primary key,
  organization_id uuid,
  queue text not null,
  name text not null,
  args jsonb not null default '{}',
  fair_key text not null,
  attempt int not null default 0,
  max_attempts int not null,
  lease_s int,
  run_at timestamptz not null default now(),
  deadline timestamptz,
  failed_at timestamptz,
  last_error text,
  created_at timestamptz not null default now()
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index job_due on job (queue, fair_key, run_at) where failed_at is null;
create index job_out on job (queue, deadline) where failed_at is null and deadline is not null;
create index job_dead on job (queue, failed_at) where failed_at is not null;
select isolate_tenant('job');

create table queue_pause (
  queue text primary key,
  paused_at timestamptz not null default now(),
  why text not null default ''
);
grant select, insert, delete on queue_pause to finderfee_app;

-- Worker processes announce themselves: how much is handed out follows how many threads there are to take it.
create table worker_process (
  id uuid primary key,
  queues text[] not null,
  threads int not null check (threads > 0),
  seen_at timestamptz not null default now()
);
grant select, insert, update, delete on worker_process to finderfee_app;

-- A tick of the scheduler is this row: whoever inserts it first has fired it.
create table tick (
  name text not null,
  scheduled_for timestamptz not null,
  fired_at timestamptz not null default now(),
  primary key (name, scheduled_for)
);
grant select, insert, delete on tick to finderfee_app;
