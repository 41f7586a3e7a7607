-- As of conversions. The service dates a payment that its gateway dates ahead by its event; this holds for every writer.
create trigger gateway_payment_time before insert on gateway_payment
  for each row when (greatest(new.paid_at, new.created_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('paid_at', 'created_at');
