-- Jobs as rows (decision 1), the processes that run them, and the database servers that hold them.

-- A job is staged with the change that needs it and deleted with the change that it made. deadline null: it waits here.
-- deadline set: it is dispatched to the broker until then. failed_at set: it is a failed job and is not retried
-- automatically.
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
  created_at timestamptz not null default now(),
  -- Worker process that began an external call. If that process goes silent, the job is due again before its lease
  -- ends. Null before the call, and for jobs that are one transaction: their row is locked while they run.
  process_id uuid,
  -- For how many seconds the job has waited, over all tries, for a worker whose release knows its kind.
  unknown_s int not null default 0,
  -- The request or job whose transaction created this job.
  asked_by text default nullif(current_setting('app.asked_by', true), ''),
  -- The dispatched job together with which a worker took this one. Both run in one thread, so only the first counts
  -- against the worker's threads. Null if the relay dispatched it.
  taken_with bigint,
  -- Trace and span under which the job was created. Null if no traces are collected.
  trace text default nullif(current_setting('app.trace', true), ''),
  -- Why the job postponed itself, for example because a gateway is unavailable. Null if it did not.
  waits_for text
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

-- Worker processes announce themselves here; the number of dispatched jobs follows the number of their threads.
create table worker_process (
  id uuid primary key,
  queues text[] not null,
  threads int not null check (threads > 0),
  seen_at timestamptz not null default now(),
  -- How many jobs of each queue the process did in the last minute.
  done jsonb not null default '{}'
);
grant select, insert, update, delete on worker_process to finderfee_app;

-- A tick of the scheduler. The process that inserts the row has fired it.
create table tick (
  name text not null,
  scheduled_for timestamptz not null,
  fired_at timestamptz not null default now(),
  primary key (name, scheduled_for)
);
grant select, insert, delete on tick to finderfee_app;

-- Discarded jobs whose arguments are the only record of something owed (decision 64). The ledger check reports them,
-- and a repeated sale re-creates the job. The row is deleted when the work is requested again.
create table discarded_job (
  id bigint not null,
  organization_id uuid not null references organization,
  name text not null,
  args jsonb not null,
  discarded_at timestamptz not null default now(),
  -- When and why an operator accepted the loss; the ledger check then no longer reports it.
  accepted_at timestamptz,
  accepted_why text,
  primary key (organization_id, id)
);
create index discarded_job_of on discarded_job (organization_id, name);
select isolate_tenant('discarded_job');

-- The last run of each kind of retention. finished_at null: it is running.
create table retention_run (
  kind text primary key,
  started_at timestamptz not null,
  finished_at timestamptz,
  ended bigint not null default 0
);
grant select, insert, update on retention_run to finderfee_app;

-- Servers whose books are complete (decision 53). A server that was restored to an earlier time, or took over from one
-- that was ahead of it, starts a new timeline and may lack recent payments: no payout is made on it until an operator
-- has compared it with the rails.
create function this_server() returns text language plpgsql stable as $$
begin
  return (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
exception when insufficient_privilege or undefined_function or feature_not_supported then
  return 'unknown';  -- a service that does not tell: its operator looks after a restore without being asked
end $$;

create table known_server (
  name text primary key,
  known_since timestamptz not null default now(),
  -- The operator who confirmed it, and up to which time its books are those of the previous server. Null for the first
  -- server.
  known_by text,
  restored_to timestamptz,
  constraint known_server_said check ((known_by is null) = (restored_to is null))
);
grant select, insert on known_server to finderfee_app;
insert into known_server (name) values (this_server());
