-- What payout rails told us by themselves: each once, whatever became of it.

-- `organization_id` is null for what is about no payment of ours. `outcome`: Settled changed a payout; Noted is a step on
-- the way; Late came after the end that it tells of; Parked is about nothing that we know; Contradicts says that money
-- went where we hold that it did not, or came back: an operator has to look at the last two.
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
select isolate_tenant('rail_event');
