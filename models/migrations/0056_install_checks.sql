-- What the last page that a brand had checked carried: a row per program.
create table install_check (
  organization_id uuid not null,
  program_id uuid not null,
  -- Where the page is, without its query.
  page_url text not null,
  checked_at timestamptz not null,
  finding text not null check (finding in ('Newest', 'Older', 'OtherProgram', 'NoTag')),
  page_bytes integer not null check (page_bytes >= 0),
  took_ms integer not null check (took_ms >= 0),
  policy_allows boolean not null,
  -- Directives that would let the script in, where the page's policy does not.
  policy_lines text[] not null,
  primary key (organization_id, program_id),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('install_check');
