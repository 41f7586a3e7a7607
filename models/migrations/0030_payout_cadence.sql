-- Automatic payouts: what an organization's cadence prepared, for an Owner to confirm or, where one said so, by itself.

-- The day, in the organization's own time zone, from which the periods of its cadence are counted.
alter table organization add column automatic_payout_since date;
set local app.any_org = 'on';
update organization set automatic_payout_since = (now() at time zone 'UTC')::date
  where automatic_payout_cadence <> 'Manual';
-- What was turned on while it did nothing was turned on by whoever could, so it is asked for again.
update organization set automatic_payout_enabled = false where automatic_payout_enabled;
alter table organization add constraint organization_cadence_since
  check ((automatic_payout_cadence = 'Manual') = (automatic_payout_since is null));
create index organization_cadence on organization (id) where automatic_payout_cadence <> 'Manual';

-- One per organization and day on which its cadence came round. The money in it is what was due then: nothing is claimed.
create table payout_proposal (
  id uuid primary key,
  organization_id uuid not null references organization,
  due_on date not null,
  status text not null check (status in ('Open', 'Confirmed', 'Replaced', 'Empty')),
  recipients int not null,
  confirm_total_cents bigint not null,
  native_totals jsonb not null,
  usd_estimate_cents bigint not null,
  -- Why it did not confirm itself.
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
select isolate_tenant('payout_proposal');
