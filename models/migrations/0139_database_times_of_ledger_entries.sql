-- As of refunds and payouts.
create trigger ledger_entry_time before insert on ledger_entry
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');
