-- As of conversions. When a sale was accepted decides which leads and earlier payments count.
create trigger sale_time before insert on sale
  for each row when (new.accepted_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('accepted_at');
