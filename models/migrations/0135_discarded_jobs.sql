-- Discarded jobs whose arguments say what is owed and that no other row repeats: by them the ledger check names what is left
-- undone, and a repeated sale brings the job back. The row goes when the work is asked for again.

create table discarded_job (
  id bigint not null,
  organization_id uuid not null references organization,
  name text not null,
  args jsonb not null,
  discarded_at timestamptz not null default now(),
  primary key (organization_id, id)
);
create index discarded_job_of on discarded_job (organization_id, name);
select isolate_tenant('discarded_job');
