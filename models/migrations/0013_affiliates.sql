-- What a brand decides about its affiliates, the tax forms they sent, and imports from another service.

-- One row per import; what it brought is known by it.
create table import_job (
  id uuid primary key,
  organization_id uuid not null references organization,
  kind text not null check (kind in ('Affiliates', 'Conversions')),
  status text not null check (status in ('Completed', 'Undone')),
  total int not null check (total >= 0),
  imported int not null check (imported >= 0),
  skipped int not null check (skipped >= 0),
  errored int not null check (errored >= 0),
  reasons jsonb not null,
  created_by uuid,
  created_at timestamptz not null,
  finished_at timestamptz,
  unique (organization_id, id),
  check (total = imported + skipped + errored)
);
create index import_job_list on import_job (organization_id, created_at desc, id desc);
select isolate_tenant('import_job');

alter table affiliate
  add column rejection_reason text,
  -- Where an affiliate of an import is paid; shown to nobody who reads affiliates.
  add column wallet_email text,
  add column import_job_id uuid,
  add constraint affiliate_import_job foreign key (organization_id, import_job_id)
    references import_job (organization_id, id);
create index affiliate_pending on affiliate (organization_id, created_at desc, id desc)
  where status = 'Pending' and deleted_at is null;
create index affiliate_imported on affiliate (organization_id, import_job_id) where import_job_id is not null;

-- The form in force of an affiliate: a sealed file of ours, or one that the payout provider keeps.
create table tax_form (
  id uuid primary key,
  organization_id uuid not null references organization,
  affiliate_id uuid not null,
  type text check (type in ('W9', 'W8BEN', 'W8BENE')),
  file_id uuid,
  held_by_stripe boolean not null default false,
  submitted_at timestamptz not null,
  unique (organization_id, affiliate_id),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id),
  foreign key (organization_id, file_id) references stored_file (organization_id, id),
  check (held_by_stripe = (file_id is null) and held_by_stripe = (type is null))
);
select isolate_tenant('tax_form');
