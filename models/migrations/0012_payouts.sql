-- Payouts: runs, the payouts of a run, their lines, and the requests to rails and their reports (decision 12).

create table payout_run (
  id uuid primary key,
  organization_id uuid not null references organization,
  -- Null: the automatic cadence.
  confirmed_by uuid,
  confirmed_cents bigint not null check (confirmed_cents >= 0),
  confirmed_totals jsonb not null,
  filters jsonb not null,
  notes text,
  external_transaction_id text,
  review_status text check (review_status in ('Pending', 'Approved', 'Rejected')),
  hold_until timestamptz,
  created_at timestamptz not null,
  unique (organization_id, id)
);
create index payout_run_list on payout_run (organization_id, created_at desc, id desc);
-- Runs that wait for a review; read every few seconds.
create index payout_run_review on payout_run (created_at) where review_status = 'Pending';
select isolate_tenant('payout_run');
create trigger payout_run_time before insert on payout_run
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- One per affiliate and run. While it can change (Pending, Failed), refunds shrink it, possibly to zero. The amount of
-- a payout that was sent to a rail stays positive forever.
create table payout (
  id uuid primary key,
  organization_id uuid not null,
  run_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  amount_cents bigint not null,
  currency text not null default 'USD',
  method text not null check (method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts', 'Manual')),
  destination text not null,
  status text not null default 'Pending' check (status in ('Pending', 'Processing', 'Paid', 'Failed')),
  attempt int not null default 1 check (attempt > 0),
  processor_transfer_id text,
  wallet_batch_id text,
  wallet_transaction_id text,
  gp_outbound_payment_id text,
  external_transaction_id text,
  notes text,
  failure_code text,
  failure_reason text,
  period_start date not null,
  period_end date not null,
  created_at timestamptz not null,
  -- Listed for payment by hand: from then on no rail is called.
  exported_at timestamptz,
  submitted_at timestamptz,
  paid_at timestamptz,
  failed_at timestamptz,
  -- A failed payout whose lines were released: it is never retried.
  voided_at timestamptz,
  -- A payout of a milestone has no lines. A milestone is paid by one payout, or by another after that one was voided.
  milestone_id uuid,
  unique (organization_id, id),
  unique (run_id, affiliate_id),
  foreign key (organization_id, run_id) references payout_run (organization_id, id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  check (status not in ('Processing', 'Paid') or amount_cents > 0),
  check ((status = 'Paid') = (paid_at is not null)),
  check ((status = 'Failed') = (failed_at is not null)),
  check (status <> 'Failed' or failure_reason is not null),
  check (voided_at is null or status = 'Failed'),
  constraint payout_milestone foreign key (organization_id, milestone_id)
    references deal_milestone (organization_id, id)
);
create index payout_list on payout (organization_id, created_at desc, id desc);
create index payout_affiliate_list on payout (organization_id, affiliate_id, created_at desc, id desc);
create index payout_unfinished on payout (status, submitted_at) where status in ('Pending', 'Processing');
-- Lists by status and by run, newest first.
create index payout_status_list on payout (organization_id, status, created_at desc, id desc);
create index payout_of_run on payout (organization_id, run_id, created_at desc, id desc);
create unique index payout_milestone_open on payout (organization_id, milestone_id)
  where milestone_id is not null and voided_at is null;
create index payout_open_of_affiliate on payout (organization_id, affiliate_id)
  where status <> 'Paid' and voided_at is null;
select isolate_tenant('payout');
create trigger payout_time before insert or update of submitted_at, paid_at, failed_at, voided_at on payout
  for each row when (greatest(new.created_at, new.submitted_at, new.paid_at, new.failed_at, new.voided_at)
    > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'submitted_at', 'paid_at', 'failed_at', 'voided_at');

-- The amount that one payout pays (or, below 0, holds back) for one conversion. A run writes up to a million, so a
-- trigger looks up the referenced rows once per statement, instead of foreign keys.
create table payout_line (
  id uuid primary key,
  organization_id uuid not null,
  payout_id uuid not null,
  conversion_id uuid not null,
  native_amount_cents bigint not null,
  native_currency text not null,
  fx_rate numeric(30, 12) not null check (fx_rate > 0),
  fx_rate_date date not null,
  amount_cents bigint not null,
  reversed_native_cents bigint not null default 0,
  reversed_amount_cents bigint not null default 0,
  reversed_at timestamptz,
  -- Until the payout is Paid or the line is released.
  is_open boolean not null default true,
  released_at timestamptz,
  check (reversed_native_cents between 0 and greatest(native_amount_cents, 0)),
  check ((reversed_native_cents = 0) = (reversed_at is null)),
  check (released_at is null or not is_open)
);
-- A conversion is in at most one open payout, regardless of the run.
create unique index payout_line_open on payout_line (organization_id, conversion_id) where is_open;
create index payout_line_payout on payout_line (organization_id, payout_id);
create index payout_line_conversion on payout_line (organization_id, conversion_id);
select isolate_tenant('payout_line');

-- Each statement is planned for the rows at hand and counts all misses: to find only the first miss, the planner chose
-- to read the whole table for each row. Sequential scans are off for the same reason.
create function payout_lines_name_rows() returns trigger language plpgsql
set enable_seqscan = off set work_mem = '64MB' as $$
declare
  missing bigint;
begin
  execute 'select count(*) from (select distinct organization_id, payout_id from added) a where not exists
    (select from payout p where p.organization_id = a.organization_id and p.id = a.payout_id)' into missing;
  if missing > 0 then
    raise exception 'a line names a payout that is not there' using errcode = 'foreign_key_violation';
  end if;
  execute 'select count(*) from added a where not exists
    (select from conversion c where c.organization_id = a.organization_id and c.id = a.conversion_id)' into missing;
  if missing > 0 then
    raise exception 'a line names a conversion that is not there' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger payout_lines_name_rows after insert on payout_line
  referencing new table as added for each statement execute function payout_lines_name_rows();

-- An attempt to pay at a rail, stored before it is sent. The number grows only after a definitive refusal.
create table payout_attempt (
  organization_id uuid not null,
  payout_id uuid not null,
  number int not null check (number > 0),
  key text not null,
  method text not null,
  destination text not null,
  amount_cents bigint not null check (amount_cents > 0),
  state text not null default 'intent' check (state in ('intent', 'unknown', 'accepted', 'paid', 'rejected')),
  detail text,
  asked int not null default 0,
  created_at timestamptz not null,
  answered_at timestamptz,
  -- The rail's books that may contain the attempt: a rail with other books does not know the key and is not called to
  -- pay it. Null: none.
  books text,
  -- The data sent with the attempt in addition to its key and the ids of payout and organization; the same each time.
  -- Null: nothing else was sent.
  labels jsonb,
  foreign key (organization_id, payout_id) references payout (organization_id, id)
);
create index payout_attempt_open on payout_attempt (created_at) where state in ('intent', 'unknown', 'accepted');
alter table payout_attempt add primary key (organization_id, payout_id, number);
-- The key comes first, since a rail knows nothing else; with the organization, the index can be distributed.
create unique index payout_attempt_key_key on payout_attempt (key, organization_id);
select isolate_tenant('payout_attempt');
create trigger payout_attempt_time before insert or update of answered_at on payout_attempt
  for each row when (greatest(new.created_at, new.answered_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'answered_at');

-- One per organization and day on which its cadence was due. Amounts are those due at that time; nothing is claimed.
create table payout_proposal (
  id uuid not null,
  organization_id uuid not null references organization,
  due_on date not null,
  status text not null check (status in ('Open', 'Confirmed', 'Replaced', 'Dismissed', 'Empty')),
  recipients int not null,
  confirm_total_cents bigint not null,
  native_totals jsonb not null,
  usd_estimate_cents bigint not null,
  -- Why it was not confirmed automatically.
  refusal_code text,
  refusal_message text,
  run_id uuid,
  created_at timestamptz not null,
  closed_at timestamptz,
  unique (organization_id, due_on),
  foreign key (organization_id, run_id) references payout_run (organization_id, id),
  check ((status = 'Confirmed') = (run_id is not null)),
  check ((status = 'Open') = (closed_at is null)),
  check ((refusal_code is null) = (refusal_message is null))
);
create unique index payout_proposal_open on payout_proposal (organization_id) where status = 'Open';
alter table payout_proposal add primary key (organization_id, id);
select isolate_tenant('payout_proposal');
create trigger payout_proposal_time before insert on payout_proposal
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- Each event that a payout rail sent, once. organization_id is null if it is about no payment of ours. outcome: Settled
-- changed a payout; Noted is an intermediate step; Late came after the end that it reports; Parked is about nothing
-- known; Contradicts says that money was paid, or came back, against our records. An operator must review the last two.
create table rail_event (
  rail text not null,
  event_id text not null,
  organization_id uuid,
  payout_id uuid,
  payout_key text,
  answer text not null check (answer in ('Paid', 'Accepted', 'Rejected', 'Unknown', 'NotFound')),
  "references" jsonb not null,
  detail text,
  outcome text not null default 'Parked' check (outcome in ('Settled', 'Noted', 'Late', 'Parked', 'Contradicts')),
  received_at timestamptz not null,
  primary key (rail, event_id),
  foreign key (organization_id, payout_id) references payout (organization_id, id),
  check (payout_id is null or organization_id is not null),
  check ((outcome = 'Parked') = (payout_id is null))
);
create index rail_event_list on rail_event (received_at desc, rail, event_id);
create index rail_event_open on rail_event (received_at desc) where outcome in ('Parked', 'Contradicts');
-- Checked before a payout is sent, retried or released: a rail may have paid it in the meantime.
create index rail_event_doubt on rail_event (organization_id, payout_id)
  where outcome = 'Contradicts' and answer = 'Paid';
select isolate_tenant('rail_event');

-- Books of the sandbox rail, which is used where no real one is configured. key is one attempt of one payout: a
-- repeated request finds the row of the first. state is the rail's report: an Accepted transfer settles when it is old
-- enough, a Lost one was never carried out.
create table sandbox_transfer (
  organization_id uuid not null references organization (id),
  key text not null unique check (length(key) between 1 and 255),
  method text not null check (method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts')),
  amount_cents bigint not null check (amount_cents > 0),
  currency char(3) not null,
  account text not null,
  state text not null check (state in ('Accepted', 'Paid', 'Rejected', 'Lost')),
  "references" jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (organization_id, key)
);
select isolate_tenant('sandbox_transfer');

-- The amount of a milestone's payout in the deal's currency, and the rate to US cents.
create table deal_release (
  payout_id uuid not null,
  organization_id uuid not null,
  milestone_id uuid not null,
  native_amount_cents bigint not null check (native_amount_cents > 0),
  native_currency text not null,
  fx_rate numeric(30, 12) not null check (fx_rate > 0),
  fx_rate_date date not null,
  created_at timestamptz not null,
  foreign key (organization_id, payout_id) references payout (organization_id, id),
  foreign key (organization_id, milestone_id) references deal_milestone (organization_id, id)
);
create index deal_release_milestone on deal_release (organization_id, milestone_id);
alter table deal_release add primary key (organization_id, payout_id);
select isolate_tenant('deal_release');
create trigger deal_release_time before insert on deal_release
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- A transfer on a rail's list after a restore (decision 61), once. The ids are those sent with it; organization_id is
-- null if no such organization exists here. account is masked. affiliate_id and booked_payout_id are the booking made
-- for it.
create table restored_transfer (
  id uuid primary key,
  organization_id uuid references organization,
  method text not null check (method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts', 'Manual')),
  reference text not null,
  payout_key text,
  payout_id uuid,
  affiliate_id uuid,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  account text,
  state text not null check (state in ('paid', 'in_flight', 'returned')),
  made_at timestamptz not null,
  outcome text not null
    check (outcome in ('Known', 'Resumed', 'Booked', 'MovedNothing', 'Undecided', 'Waiting', 'LeftOut')),
  problem text,
  booked_payout_id uuid,
  decided_because text,
  first_seen_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  -- The other data of the list, so that a later decision books the same.
  milestone_id uuid,
  native text,
  unique (method, reference),
  foreign key (organization_id, booked_payout_id) references payout (organization_id, id),
  check (outcome <> 'Undecided' or problem is not null),
  check ((outcome = 'Booked') <= (booked_payout_id is not null)),
  check ((outcome = 'LeftOut') <= (decided_because is not null))
);
create index restored_transfer_open on restored_transfer (made_at) where outcome = 'Undecided';
-- Transfers that paid a milestone whose deal is behind here: they pay the milestone once it is due.
create index restored_transfer_waiting on restored_transfer (organization_id, milestone_id) where outcome = 'Waiting';
select isolate_tenant('restored_transfer');

-- Lists of rails that were read and compared, on which server (this_server()), and since when they reach.
create table restore_listing (
  id uuid primary key,
  server text not null,
  method text not null,
  since timestamptz not null,
  -- rail: it was queried. file: the list was uploaded. declared: an operator stated that nothing was paid by it.
  source text not null check (source in ('rail', 'file', 'declared')),
  transfers int not null check (transfers >= 0),
  listed_at timestamptz not null default now(),
  -- Null: it is running, or it stopped before the end of its list.
  finished_at timestamptz
);
create index restore_listing_server on restore_listing (server, method);
grant select, insert, update on restore_listing to finderfee_app;

-- A run collects its claims in a temporary table. If the role may not create one, the migration fails, not a run.
do $$ begin
  if not has_database_privilege('finderfee_app', current_database(), 'temporary') then
    begin
      execute format('grant temporary on database %I to finderfee_app', current_database());
    exception when insufficient_privilege then null;
    end;
  end if;
  if not has_database_privilege('finderfee_app', current_database(), 'temporary') then
    raise insufficient_privilege using
      message = 'payout runs need temporary tables, and the role finderfee_app may not create any',
      hint = format('grant temporary on database %I to finderfee_app', current_database());
  end if;
end $$;
