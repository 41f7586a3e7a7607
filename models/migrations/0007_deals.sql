-- Creator deals: a fixed fee in milestones. The brand's charge is held in escrow per milestone until it is paid to the
-- affiliate or returned (decision 25).

create table deal (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  title text not null,
  currency text not null,
  status text not null default 'Draft'
    check (status in ('Draft', 'Offered', 'Accepted', 'Funded', 'Completed', 'Declined', 'Cancelled')),
  is_test boolean not null,
  -- The amounts charged, kept of it by the platform, paid out and returned, in minor units.
  charged_cents bigint not null default 0 check (charged_cents >= 0),
  take_cents bigint not null default 0 check (take_cents >= 0),
  paid_cents bigint not null default 0 check (paid_cents >= 0),
  returned_cents bigint not null default 0 check (returned_cents >= 0),
  escrow_cents bigint not null generated always as (charged_cents - take_cents - paid_cents - returned_cents) stored,
  created_at timestamptz not null,
  offered_at timestamptz,
  answered_at timestamptz,
  funded_at timestamptz,
  ended_at timestamptz,
  unique (organization_id, id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  constraint deal_escrow check (escrow_cents >= 0),
  -- No money moves before the deal is funded, and a deal is completed when nothing is held any more.
  check (status in ('Funded', 'Completed') or charged_cents = 0),
  check (status <> 'Completed' or (charged_cents > 0 and escrow_cents = 0)),
  check (not is_test or charged_cents = 0),
  check ((status in ('Funded', 'Completed')) = (funded_at is not null)),
  check ((status in ('Completed', 'Declined', 'Cancelled')) = (ended_at is not null))
);
create index deal_list on deal (organization_id, created_at desc, id desc);
create index deal_affiliate_list on deal (organization_id, affiliate_id, created_at desc, id desc);
create index deal_program_list on deal (organization_id, program_id, created_at desc, id desc);
create index deal_status_list on deal (organization_id, status, created_at desc, id desc);
select isolate_tenant('deal');
create trigger deal_time before insert or update of offered_at, answered_at, funded_at, ended_at on deal
  for each row when (greatest(new.created_at, new.offered_at, new.answered_at, new.funded_at, new.ended_at)
    > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'offered_at', 'answered_at', 'funded_at', 'ended_at');

create table deal_milestone (
  id uuid primary key,
  organization_id uuid not null,
  deal_id uuid not null,
  seq int not null check (seq > 0),
  title text not null,
  amount_cents bigint not null check (amount_cents between 1 and 1000000000000),
  -- Set when the brand is charged.
  take_cents bigint check (take_cents >= 0),
  due_at timestamptz,
  status text not null default 'Pending'
    check (status in ('Pending', 'Funded', 'Submitted', 'Released', 'Disputed', 'Settled')),
  submission_urls text[] not null default '{}',
  auto_release_at timestamptz,
  changes_requested int not null default 0 check (changes_requested between 0 and 2),
  change_note text,
  opened_by text check (opened_by in ('brand', 'affiliate')),
  dispute_reason text,
  proposed_resolution text,
  disputed_at timestamptz,
  -- The affiliate's part by an operator's decision; the rest is returned.
  to_affiliate_cents bigint,
  settled_at timestamptz,
  paid_cents bigint not null default 0 check (paid_cents >= 0),
  returned_cents bigint not null default 0 check (returned_cents >= 0),
  unique (organization_id, id),
  unique (deal_id, seq),
  foreign key (organization_id, deal_id) references deal (organization_id, id),
  check (status = 'Pending' or take_cents is not null),
  check ((status = 'Submitted') = (auto_release_at is not null)),
  check (status <> 'Submitted' or cardinality(submission_urls) > 0),
  check ((status in ('Disputed', 'Settled')) = (disputed_at is not null)),
  check ((disputed_at is null) = (opened_by is null) and (disputed_at is null) = (dispute_reason is null)
    and (disputed_at is null) = (proposed_resolution is null)),
  check ((status = 'Settled') = (settled_at is not null) and (status = 'Settled') = (to_affiliate_cents is not null)),
  check (to_affiliate_cents between 0 and amount_cents),
  check (case status
    when 'Released' then paid_cents = amount_cents and returned_cents = 0
    when 'Settled' then paid_cents in (0, to_affiliate_cents)
      and returned_cents in (0, amount_cents - to_affiliate_cents)
    else paid_cents = 0 and returned_cents = 0 end)
);
create index deal_milestone_due on deal_milestone (id)
  where status = 'Submitted' or (status = 'Settled' and to_affiliate_cents > paid_cents);
-- Milestones that wait for an operator, longest first.
create index deal_milestone_disputed on deal_milestone (disputed_at, id) where status = 'Disputed';
select isolate_tenant('deal_milestone');
create trigger deal_milestone_time before insert or update of disputed_at, settled_at on deal_milestone
  for each row when (greatest(new.disputed_at, new.settled_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('disputed_at', 'settled_at');

-- A request to the funding source, stored before it is sent: the charge of a deal, or a refund of a milestone. The
-- number grows only after a definitive refusal.
create table deal_request (
  id uuid not null,
  organization_id uuid not null,
  deal_id uuid not null,
  milestone_id uuid,
  kind text not null check (kind in ('charge', 'refund')),
  number int not null check (number > 0),
  key text not null,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  -- In US cents at the day's rate: limits of organizations that are not verified are in US cents.
  usd_cents bigint not null check (usd_cents >= 0),
  -- The source of a charge (null: the sandbox), and the charge that a refund is part of.
  source text,
  charge_reference text,
  state text not null default 'intent' check (state in ('intent', 'unknown', 'accepted', 'paid', 'rejected')),
  reference text,
  detail text,
  asked int not null default 0,
  books text,
  created_at timestamptz not null,
  -- When it was first sent, by the database's clock.
  sent_at timestamptz,
  answered_at timestamptz,
  foreign key (organization_id, deal_id) references deal (organization_id, id),
  foreign key (organization_id, milestone_id) references deal_milestone (organization_id, id),
  check ((kind = 'refund') = (milestone_id is not null)),
  check ((kind = 'refund') = (charge_reference is not null)),
  check (state <> 'paid' or reference is not null)
);
create index deal_request_deal on deal_request (organization_id, deal_id);
create index deal_request_cap on deal_request (organization_id, created_at) where kind = 'charge';
alter table deal_request add primary key (organization_id, id);
create unique index deal_request_key_key on deal_request (organization_id, key);
create unique index deal_request_charge on deal_request (organization_id, deal_id)
  where kind = 'charge' and state <> 'rejected';
create unique index deal_request_refund on deal_request (organization_id, milestone_id)
  where kind = 'refund' and state <> 'rejected';
select isolate_tenant('deal_request');
create trigger deal_request_time before insert or update of sent_at, answered_at on deal_request
  for each row when (greatest(new.created_at, new.sent_at, new.answered_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at', 'sent_at', 'answered_at');

-- Books of the sandbox source, which is used where no real one is configured: one row per key, however often it is
-- sent.
create table sandbox_charge (
  organization_id uuid not null references organization (id),
  key text not null unique check (length(key) between 1 and 255),
  kind text not null check (kind in ('charge', 'refund')),
  amount_cents bigint not null check (amount_cents > 0),
  currency char(3) not null,
  charge_reference text,
  state text not null check (state in ('Accepted', 'Paid', 'Rejected', 'Lost')),
  reference text not null,
  created_at timestamptz not null,
  primary key (organization_id, key)
);
select isolate_tenant('sandbox_charge');
