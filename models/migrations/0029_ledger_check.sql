-- What the last check of an organization's money found: the newest one is all that counts.
create table ledger_check (
  organization_id uuid primary key references organization,
  checked_at timestamptz not null,
  -- One object per exception, as many as were asked for: {"rule": ..., "exception": ...}.
  findings jsonb not null,
  is_red boolean generated always as (jsonb_array_length(findings) > 0) stored
);
select isolate_tenant('ledger_check');
