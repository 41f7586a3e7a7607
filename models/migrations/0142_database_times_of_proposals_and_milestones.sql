-- As of refunds and payouts (0137).
create trigger payout_proposal_time before insert on payout_proposal
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

create trigger uncredited_conversion_time before insert on uncredited_conversion
  for each row when (new.occurred_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('occurred_at');

create trigger deal_milestone_time before insert or update of disputed_at, settled_at on deal_milestone
  for each row when (greatest(new.disputed_at, new.settled_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('disputed_at', 'settled_at');
