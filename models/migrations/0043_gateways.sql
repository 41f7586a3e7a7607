-- Native connections to payment gateways: what comes in through them, and what is known of every payment.

alter table organization
  -- The live connections by their names, in the order of connecting; `gateways` stays what an operator says.
  add column connected_gateways text[] not null default '{}',
  add column commission_basis text not null default 'gross' check (commission_basis in ('gross', 'net'));

create table gateway_connection (
  id uuid primary key,
  organization_id uuid not null references organization,
  gateway text not null,
  mode text not null check (mode in ('live', 'test')),
  status text not null check (status in ('Active', 'Broken', 'Disconnected')),
  account text not null,
  token_hash bytea not null unique,
  token_sealed bytea not null,
  -- Sealed JSON: what the brand typed, what we made at the gateway, and what was replaced less than an hour ago.
  credentials_sealed bytea not null,
  made_sealed bytea not null,
  former_sealed bytea,
  former_until timestamptz,
  connected_at timestamptz not null,
  disconnected_at timestamptz,
  last_event_at timestamptz,
  last_checked_at timestamptz,
  last_error text,
  -- When the gateway first refused the credentials, since they were last taken.
  refused_at timestamptz,
  -- Everything until then has been listed and taken in.
  reconciled_to timestamptz,
  unique (organization_id, id)
);
create unique index gateway_connection_one on gateway_connection (organization_id, gateway, mode)
  where status <> 'Disconnected';
create index gateway_connection_list on gateway_connection (organization_id, connected_at desc, id desc);
select isolate_tenant('gateway_connection');

create table gateway_event (
  id uuid primary key,
  organization_id uuid not null,
  connection_id uuid not null,
  event_key text not null,
  gateway_event_id text,
  type text not null,
  status text not null check (status in ('Received', 'Processed', 'Ignored', 'Parked', 'Failed')),
  reason text,
  error text,
  -- What was sent, until it is dropped; the facts stay.
  raw bytea,
  facts jsonb,
  conversion_ids uuid[] not null default '{}',
  received_at timestamptz not null,
  processed_at timestamptz,
  unique (organization_id, id),
  unique (connection_id, event_key),
  foreign key (organization_id, connection_id) references gateway_connection (organization_id, id)
);
create index gateway_event_list on gateway_event (connection_id, received_at desc, id desc);
create index gateway_event_status on gateway_event (connection_id, status, received_at desc, id desc)
  where status <> 'Processed';
create index gateway_event_raw on gateway_event (received_at) where raw is not null;
select isolate_tenant('gateway_event');

create table gateway_payment (
  id uuid primary key,
  organization_id uuid not null references organization,
  gateway text not null,
  external_id text not null,
  event_id uuid not null,
  -- Null: nobody is credited for it, and `reason` says why.
  conversion_id uuid,
  reason text,
  -- What was paid and what went back, tax and shipping in, in minor units.
  paid_cents bigint not null check (paid_cents >= 0),
  refunded_cents bigint not null default 0,
  currency text not null,
  -- What the gateway said last of what is refunded still, and of when that is: what it told of earlier is no news.
  reread_cents bigint,
  reread_at timestamptz,
  customer_id text,
  email_normalized text,
  subscription_id text,
  is_test boolean not null,
  paid_at timestamptz not null,
  created_at timestamptz not null,
  unique (organization_id, id),
  unique (organization_id, gateway, external_id),
  foreign key (organization_id, event_id) references gateway_event (organization_id, id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id),
  check (refunded_cents between 0 and paid_cents)
);
create index gateway_payment_customer on gateway_payment (organization_id, gateway, customer_id, paid_at)
  where customer_id is not null;
create index gateway_payment_email on gateway_payment (organization_id, gateway, email_normalized, paid_at)
  where email_normalized is not null;
create index gateway_payment_subscription on gateway_payment (organization_id, gateway, subscription_id, paid_at)
  where subscription_id is not null;
select isolate_tenant('gateway_payment');

-- The ids by which refunds and disputes may name a payment, its own among them.
create table gateway_alias (
  organization_id uuid not null,
  gateway text not null,
  alias text not null,
  payment_id uuid not null,
  primary key (organization_id, gateway, alias),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
create index gateway_alias_payment on gateway_alias (organization_id, payment_id);
select isolate_tenant('gateway_alias');

-- What went back under one id of the gateway and did not come back, in minor units of the payment, tax and shipping in.
create table gateway_refund (
  organization_id uuid not null,
  gateway text not null,
  refund_id text not null,
  payment_id uuid not null,
  refunded_cents bigint not null check (refunded_cents >= 0),
  restored_at timestamptz,
  created_at timestamptz not null,
  -- Some gateways give one refund back of several payments.
  primary key (organization_id, gateway, refund_id, payment_id),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
create index gateway_refund_payment on gateway_refund (organization_id, payment_id);
select isolate_tenant('gateway_refund');

-- Events that name a payment which has not come yet, by every id that they name it by.
create table gateway_parked (
  organization_id uuid not null,
  gateway text not null,
  alias text not null,
  event_id uuid not null,
  primary key (organization_id, gateway, alias, event_id),
  foreign key (organization_id, event_id) references gateway_event (organization_id, id)
);
create index gateway_parked_event on gateway_parked (organization_id, event_id);
select isolate_tenant('gateway_parked');

-- Where a dispute stands; lost is a refund of what remained, under the id dispute:ID.
create table gateway_dispute (
  organization_id uuid not null,
  gateway text not null,
  dispute_id text not null,
  payment_id uuid not null,
  state text not null check (state in ('opened', 'lost', 'won')),
  told_at timestamptz not null,
  primary key (organization_id, gateway, dispute_id),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
create index gateway_dispute_payment on gateway_dispute (organization_id, payment_id);
select isolate_tenant('gateway_dispute');

-- Who referred a customer or a subscription, told apart from any payment: `subject` is customer:ID or subscription:ID.
create table gateway_referral (
  organization_id uuid not null references organization,
  gateway text not null,
  subject text not null,
  origin jsonb not null,
  told_at timestamptz not null,
  primary key (organization_id, gateway, subject)
);
select isolate_tenant('gateway_referral');

alter table conversion add column disputed_at timestamptz;
-- The status that a full refund turned to Refunded, for the day on which its money comes back.
alter table conversion add column refunded_from text, add column restored_at timestamptz;

-- What comes back is a row of its own that lowers the running total, so it is their places that tell the order; two that
-- build on the same one still cannot both stand.
alter table refund add column reason text, add column place int, add column is_restoration boolean not null default false;
set local app.any_org = 'on';
update refund r set place = numbered.place
from (select id, row_number() over (partition by conversion_id order by cumulative_cents) as place from refund) numbered
where numbered.id = r.id;
alter table refund
  alter column place set not null,
  drop constraint refund_conversion_id_cumulative_cents_key,
  add constraint refund_place unique (conversion_id, place),
  drop constraint refund_amount_cents_check,
  add constraint refund_sign check (case when is_restoration then amount_cents <= 0 else amount_cents >= 0 end);
alter table reversal drop constraint reversal_commission_cents_check, drop constraint reversal_late_cents_check;

alter table ledger_entry drop constraint ledger_entry_kind_check, drop constraint ledger_entry_sign;
alter table ledger_entry
  add constraint ledger_entry_kind check (kind in ('earn', 'reverse', 'restore', 'pay', 'clawback', 'adjust')),
  add constraint ledger_entry_sign check (case
    when kind in ('earn', 'restore', 'clawback') then amount_cents > 0
    when kind = 'adjust' then true else amount_cents < 0 end);
