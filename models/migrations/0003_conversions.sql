-- From an accepted sale to a priced conversion, its refunds and the money each of them moved.
--
-- Rows written on the hot path reach their organization through a composite foreign key (or, where they have
-- none, through the policy alone): a key of their own would lock the organization's one row in every sale.

-- The inbox of signed sales: unique per organization for ever, so a retry is never a second sale.
-- id is the conversion id that the caller was given; settled_at says that the conversion row exists.
create table sale (
  id uuid primary key,
  organization_id uuid not null,
  external_event_id text not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  amount_cents bigint not null check (amount_cents between 1 and 1000000000000),
  currency text not null,
  customer_id text,
  customer_key text,
  -- Which payment of this customer it is, counted when it was accepted; 1 for a sale that names no customer.
  customer_ordinal int not null default 1,
  customer_name text,
  customer_email text,
  customer_avatar_url text,
  sub_id text,
  is_test boolean not null,
  accepted_at timestamptz not null,
  settled_at timestamptz,
  unique (organization_id, external_event_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
select isolate_tenant('sale');

create table conversion (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  source text not null,
  external_event_id text not null,
  amount_cents bigint not null check (amount_cents >= 0),
  currency text not null,
  commission_cents bigint not null check (commission_cents >= 0),
  refunded_cents bigint not null default 0,
  reversed_cents bigint not null default 0,
  status text not null check (status in ('Pending', 'Approved', 'Paid', 'Refunded', 'Denied', 'Invalidated')),
  type text not null check (type in ('OneTime', 'Recurring', 'Bonus', 'ClickReward', 'LeadReward')),
  payability text not null default 'payable' check (payability in ('payable', 'not_paid_on_campaign', 'attribution_only')),
  attribution_method text,
  coupon_code text,
  sub_id text,
  processor_customer_id text,
  processor_subscription_id text,
  customer_name text,
  customer_email text,
  customer_avatar_url text,
  rate_source text not null,
  rate_type text,
  rate_value numeric(20, 6),
  parent_id uuid,
  payout_locked boolean not null default false,
  is_test boolean not null default false,
  occurred_at timestamptz not null,
  hold_until timestamptz not null,
  refunded_at timestamptz,
  created_at timestamptz not null,
  unique (organization_id, id),
  unique (organization_id, source, external_event_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  foreign key (organization_id, parent_id) references conversion (organization_id, id),
  check (refunded_cents between 0 and amount_cents),
  check (reversed_cents between 0 and commission_cents)
);
create index conversion_list on conversion (organization_id, created_at desc, id desc);
create index conversion_affiliate_list on conversion (organization_id, affiliate_id, created_at desc, id desc);
create index conversion_parent on conversion (organization_id, parent_id) where parent_id is not null;
select isolate_tenant('conversion');

create table conversion_event (
  id uuid primary key,
  organization_id uuid not null,
  conversion_id uuid not null,
  event_type text not null,
  amount_cents bigint not null,
  commission_cents bigint not null,
  occurred_at timestamptz not null,
  foreign key (organization_id, conversion_id) references conversion (organization_id, id)
);
create index conversion_event_conversion on conversion_event (organization_id, conversion_id);
select isolate_tenant('conversion_event');

-- One row per accepted refund of a parent conversion; the running total makes the order of refunds a fact.
create table refund (
  id uuid primary key,
  organization_id uuid not null,
  conversion_id uuid not null,
  amount_cents bigint not null check (amount_cents >= 0),
  cumulative_cents bigint not null,
  is_full boolean not null,
  created_at timestamptz not null,
  unique (organization_id, id),
  unique (conversion_id, cumulative_cents),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id)
);
select isolate_tenant('refund');

-- What a refund took back from one conversion row: the parent's own, and later its override's.
create table reversal (
  organization_id uuid not null,
  refund_id uuid not null,
  conversion_id uuid not null,
  commission_cents bigint not null check (commission_cents >= 0),
  created_at timestamptz not null,
  primary key (refund_id, conversion_id),
  foreign key (organization_id, refund_id) references refund (organization_id, id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id)
);
select isolate_tenant('reversal');

-- Every minor unit earned, taken back, paid. Balances are sums over it; nothing in it ever changes.
create table ledger_entry (
  id uuid primary key,
  organization_id uuid not null,
  affiliate_id uuid not null,
  program_id uuid not null,
  conversion_id uuid,
  kind text not null check (kind in ('earn', 'reverse', 'pay', 'clawback', 'adjust')),
  amount_cents bigint not null check (amount_cents <> 0),
  currency text not null,
  cause_id uuid not null,
  is_test boolean not null,
  created_at timestamptz not null,
  unique (organization_id, kind, cause_id, conversion_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id),
  check ((kind = 'earn') = (amount_cents > 0) or kind = 'adjust')
);
create index ledger_entry_affiliate on ledger_entry (organization_id, affiliate_id, currency);
select isolate_tenant('ledger_entry');
select make_append_only('ledger_entry');

create table uncredited_conversion (
  id uuid primary key,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  source text not null,
  external_event_id text not null,
  amount_cents bigint not null,
  currency text not null,
  reason text not null,
  affiliate_status_at_drop text not null,
  status text not null default 'open' check (status in ('open', 'dismissed')),
  is_test boolean not null,
  occurred_at timestamptz not null,
  unique (organization_id, source, external_event_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
select isolate_tenant('uncredited_conversion');

-- A buyer as one campaign knows them: when they first paid and how often. Anchors the recurring window.
create table program_customer (
  organization_id uuid not null,
  program_id uuid not null,
  customer_key text not null,
  first_paid_at timestamptz not null,
  payments int not null check (payments > 0),
  primary key (organization_id, program_id, customer_key),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('program_customer');

-- Net referred revenue per day and currency: what performance tiers are measured by, without reading every sale.
create table affiliate_revenue (
  organization_id uuid not null,
  affiliate_id uuid not null,
  day date not null,
  currency text not null,
  net_cents numeric(30) not null,
  primary key (organization_id, affiliate_id, day, currency),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id)
);
select isolate_tenant('affiliate_revenue');

-- Reference rates are the same for everybody: native major units per 1 USD, with the day they were published.
create table fx_rate (
  currency text not null,
  published_on date not null,
  per_usd numeric(30, 12) not null check (per_usd > 0),
  primary key (currency, published_on)
);
grant select, insert, update on fx_rate to finderfee_app;
