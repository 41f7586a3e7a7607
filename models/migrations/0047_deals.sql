-- Creator deals: a fixed fee in milestones. What the brand is charged is held in escrow, milestone by milestone, until it
-- is paid to the affiliate or goes back.

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
  -- What came in, what of it the platform kept, what was paid out and what went back, in minor units.
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
  -- Nothing moves before the deal is funded, and a deal is over when nothing is held any more.
  check (status in ('Funded', 'Completed') or charged_cents = 0),
  check (status <> 'Completed' or (charged_cents > 0 and escrow_cents = 0)),
  check (not is_test or charged_cents = 0),
  check ((status in ('Funded', 'Completed')) = (funded_at is not null)),
  check ((status in ('Completed', 'Declined', 'Cancelled')) = (ended_at is not null))
);
create index deal_list on deal (organization_id, created_at desc, id desc);
create index deal_affiliate_list on deal (organization_id, affiliate_id, created_at desc, id desc);
select isolate_tenant('deal');

create table deal_milestone (
  id uuid primary key,
  organization_id uuid not null,
  deal_id uuid not null,
  seq int not null check (seq > 0),
  title text not null,
  amount_cents bigint not null check (amount_cents between 1 and 1000000000000),
  -- Fixed when the brand is charged.
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
  -- What an operator decided that the affiliate gets; the rest goes back.
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
select isolate_tenant('deal_milestone');

-- What the funding source was asked, written down before it is asked: the charge of a deal, or what of a milestone goes
-- back. The number grows only after a definitive refusal.
create table deal_request (
  id uuid primary key,
  organization_id uuid not null,
  deal_id uuid not null,
  milestone_id uuid,
  kind text not null check (kind in ('charge', 'refund')),
  number int not null check (number > 0),
  key text not null unique,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  -- In US cents, as the day's rate valued it: what an organization that is not verified may move is counted in them.
  usd_cents bigint not null check (usd_cents >= 0),
  -- Whom a charge takes it from (null: the sandbox), and the charge that a refund gives back from.
  source text,
  charge_reference text,
  state text not null default 'intent' check (state in ('intent', 'unknown', 'accepted', 'paid', 'rejected')),
  reference text,
  detail text,
  asked int not null default 0,
  books text,
  created_at timestamptz not null,
  -- When it was first asked for, by the database's clock.
  sent_at timestamptz,
  answered_at timestamptz,
  unique (organization_id, id),
  foreign key (organization_id, deal_id) references deal (organization_id, id),
  foreign key (organization_id, milestone_id) references deal_milestone (organization_id, id),
  check ((kind = 'refund') = (milestone_id is not null)),
  check ((kind = 'refund') = (charge_reference is not null)),
  check (state <> 'paid' or reference is not null)
);
-- Nobody is charged twice for a deal, and nothing goes back twice.
create unique index deal_request_charge on deal_request (deal_id) where kind = 'charge' and state <> 'rejected';
create unique index deal_request_refund on deal_request (milestone_id) where kind = 'refund' and state <> 'rejected';
create index deal_request_deal on deal_request (organization_id, deal_id);
create index deal_request_cap on deal_request (organization_id, created_at) where kind = 'charge';
select isolate_tenant('deal_request');

-- The books of the source that stands in where no real one is configured: one row per key, however often it is asked.
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

-- Whom the processor charges for an organization's deals: CUSTOMER or CUSTOMER/PAYMENT_METHOD. Null: nobody.
alter table organization add column deal_funding_source text;

-- A payout of a milestone has no lines. What was let go of (voided) may be paid by another one, and nothing else may.
alter table payout
  add column milestone_id uuid,
  add constraint payout_milestone foreign key (organization_id, milestone_id)
    references deal_milestone (organization_id, id);
create unique index payout_milestone_open on payout (organization_id, milestone_id)
  where milestone_id is not null and voided_at is null;

-- What a payout of a milestone pays in the deal's currency, and the rate that made US cents of it.
create table deal_release (
  payout_id uuid primary key,
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
select isolate_tenant('deal_release');

-- Escrow is booked per milestone, each kind once; all other money per conversion.
alter table ledger_entry drop constraint ledger_entry_kind, drop constraint ledger_entry_sign;
alter table ledger_entry
  add column milestone_id uuid,
  add constraint ledger_entry_milestone foreign key (organization_id, milestone_id)
    references deal_milestone (organization_id, id),
  add constraint ledger_entry_kind check (kind in
    ('earn', 'reverse', 'restore', 'pay', 'clawback', 'adjust', 'escrow_in', 'take', 'escrow_out', 'escrow_back')),
  add constraint ledger_entry_sign check (case
    when kind in ('earn', 'restore', 'clawback', 'escrow_in') then amount_cents > 0
    when kind = 'adjust' then true else amount_cents < 0 end),
  add constraint ledger_entry_subject check (case
    when kind in ('escrow_in', 'take', 'escrow_out', 'escrow_back') then milestone_id is not null and conversion_id is null
    else milestone_id is null end);
create unique index ledger_entry_escrow on ledger_entry (organization_id, milestone_id, kind)
  where milestone_id is not null;

-- What was paid to partners in a month is what deals paid, too.
drop index ledger_entry_paid;
create index ledger_entry_paid on ledger_entry (organization_id, created_at)
  where kind in ('pay', 'clawback', 'escrow_out');
