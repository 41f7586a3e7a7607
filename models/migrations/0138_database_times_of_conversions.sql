-- As of refunds and payouts. Only new rows: a trigger before updates would lock each row that is updated once more.
create trigger conversion_time before insert on conversion
  for each row when (greatest(new.occurred_at, new.created_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('occurred_at', 'created_at');
