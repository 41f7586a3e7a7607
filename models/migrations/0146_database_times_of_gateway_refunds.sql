-- As of gateway payments.
create trigger gateway_refund_time before insert on gateway_refund
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');
