-- As of conversions.
create trigger conversion_event_time before insert on conversion_event
  for each row when (new.occurred_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('occurred_at');
