-- What stops a payment from being made a second time when two rails, or two words of one, disagree.

-- Which books may hold the attempt: a rail with others does not know its key, and is not asked to pay it. Null: none do.
alter table payout_attempt add column books text;

-- Whether a payout was paid after all is asked before it is sent, retried or let go of again.
create index rail_event_doubt on rail_event (organization_id, payout_id)
  where outcome = 'Contradicts' and answer = 'Paid';

-- A run takes down what it claims in a temporary table. Said now, where it is not allowed, and not when money is due.
do $$ begin
  if not has_database_privilege('finderfee_app', current_database(), 'temporary') then
    begin
      execute format('grant temporary on database %I to finderfee_app', current_database());
    exception when insufficient_privilege then null;
    end;
  end if;
  if not has_database_privilege('finderfee_app', current_database(), 'temporary') then
    raise insufficient_privilege using
      message = 'payout runs need temporary tables, and the role finderfee_app may not make any',
      hint = format('grant temporary on database %I to finderfee_app', current_database());
  end if;
end $$;
