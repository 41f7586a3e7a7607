-- What an import did otherwise than its rows say, row by row; and the service that conversions came from.
alter table import_job
  add column warnings jsonb not null default '[]',
  add column source text;
