-- Prepared statements on connections that several processes take turns on: behind a pool of transactions nobody knows
-- what was prepared on the connection before. A setting of the connection remembers it, which costs a look-up by name.
-- It is lost with a transaction that is rolled back, the prepared statement is not: then it is there already.
create function keep_prepared(name text, statement text) returns void language plpgsql as $$
begin
  if current_setting('prepared.' || name, true) is null then
    begin
      execute format('prepare %I as %s', name, statement);
    exception when duplicate_prepared_statement then null;
    end;
    perform set_config('prepared.' || name, 'on', false);
  end if;
end $$;
