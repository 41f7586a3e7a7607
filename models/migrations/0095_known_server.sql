-- The servers whose books are known to be whole. One that was restored to a moment of the past, or took over from one that
-- was ahead of it, begins a new timeline and may have forgotten what was paid since: nothing is paid on it until an
-- operator has compared it with the rails.
create function this_server() returns text language plpgsql stable as $$
begin
  return (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
exception when insufficient_privilege or undefined_function or feature_not_supported then
  return 'unknown';  -- a service that does not tell: its operator looks after a restore without being asked
end $$;

create table known_server (
  name text primary key,
  known_since timestamptz not null default now(),
  -- Who said so, and up to which moment its books are those of the server before; nobody of the first one.
  known_by text,
  restored_to timestamptz,
  constraint known_server_said check ((known_by is null) = (restored_to is null))
);
grant select, insert on known_server to finderfee_app;
insert into known_server (name) values (this_server());
