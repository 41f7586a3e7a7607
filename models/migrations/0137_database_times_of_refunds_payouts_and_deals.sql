-- A row of money that says a time more than a minute ahead of the database's clock says the database's time. Every time
-- that the service writes is by that clock already; this holds whatever a process, or somebody else's clock, believes.
-- The condition of a trigger costs next to nothing, and the function runs for such a row alone.
create function say_database_time() returns trigger language plpgsql as $$
declare
  name text;
begin
  foreach name in array tg_argv loop
    if (to_jsonb(new) ->> name)::timestamptz > clock_timestamp() + interval '1 minute' then
      new := jsonb_populate_record(new, jsonb_build_object(name, clock_timestamp()));
    end if;
  end loop;
  return new;
end $$;

create trigger refund_time before insert on refund
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

create trigger reversal_time before insert on reversal
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

create trigger payout_run_time before insert on payout_run
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

create trigger payout_time before insert or update of submitted_at, paid_at, failed_at, voided_at on payout
  for each row when (greatest(new.created_at, new.submitted_at, new.paid_at, new.failed_at, new.voided_at)
    > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'submitted_at', 'paid_at', 'failed_at', 'voided_at');

create trigger payout_attempt_time before insert or update of answered_at on payout_attempt
  for each row when (greatest(new.created_at, new.answered_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'answered_at');

create trigger deal_time before insert or update of offered_at, answered_at, funded_at, ended_at on deal
  for each row when (greatest(new.created_at, new.offered_at, new.answered_at, new.funded_at, new.ended_at)
    > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'offered_at', 'answered_at', 'funded_at', 'ended_at');

create trigger deal_request_time before insert or update of sent_at, answered_at on deal_request
  for each row when (greatest(new.created_at, new.sent_at, new.answered_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'sent_at', 'answered_at');

create trigger deal_release_time before insert on deal_release
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');
