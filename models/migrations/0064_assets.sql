-- Texts and images that a brand gives its affiliates to advertise with.

alter table stored_file drop constraint stored_file_kind_check;
alter table stored_file add constraint stored_file_kind_check check (kind in ('logo', 'favicon', 'tax_form', 'asset'));

create table asset (
  id uuid primary key,
  organization_id uuid not null references organization,
  -- Null: for every program of the brand.
  program_id uuid,
  kind text not null check (kind in ('Text', 'Image')),
  name text not null check (name <> ''),
  text text,
  file_id uuid,
  width int,
  height int,
  size_bytes int not null check (size_bytes > 0),
  created_at timestamptz not null,
  unique (organization_id, id),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, file_id) references stored_file (organization_id, id),
  check (case kind when 'Text' then text is not null and num_nonnulls(file_id, width, height) = 0
    else text is null and num_nulls(file_id, width, height) = 0 end)
);
create index asset_newest on asset (organization_id, created_at desc, id desc);
select isolate_tenant('asset');
