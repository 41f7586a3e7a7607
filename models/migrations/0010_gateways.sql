-- Payment gateways and platforms: connections, events, payments and their refunds and disputes.

create table gateway_connection (
  id uuid primary key,
  organization_id uuid not null references organization,
  gateway text not null,
  mode text not null check (mode in ('live', 'test')),
  status text not null check (status in ('Active', 'Broken', 'Disconnected')),
  account text not null,
  token_hash bytea not null unique,
  token_sealed bytea not null,
  -- Sealed JSON: credentials that the brand entered, those that we created at the gateway, and those replaced less than
  -- an hour ago.
  credentials_sealed bytea not null,
  made_sealed bytea not null,
  former_sealed bytea,
  former_until timestamptz,
  connected_at timestamptz not null,
  disconnected_at timestamptz,
  last_event_at timestamptz,
  last_checked_at timestamptz,
  last_error text,
  -- When the gateway first refused the credentials since it last accepted them.
  refused_at timestamptz,
  -- All events until then were listed and processed.
  reconciled_to timestamptz,
  -- The gateway's id of the account. Empty if the gateway does not send it.
  identity text[] not null default '{}',
  -- Prefix of the ids of payments, which keeps them apart from those of another account or mode.
  id_prefix text not null default '',
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
  -- The request body, until it is deleted; facts stay.
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
  id uuid not null,
  organization_id uuid not null references organization,
  gateway text not null,
  external_id text not null,
  event_id uuid not null,
  -- Null: no one is credited, and reason says why.
  conversion_id uuid,
  reason text,
  -- The amounts paid and refunded, including tax and shipping, in minor units.
  paid_cents bigint not null check (paid_cents >= 0),
  refunded_cents bigint not null default 0,
  currency text not null,
  -- The refunded amount that the gateway last reported, and the time of that report: older reports are ignored.
  reread_cents bigint,
  reread_at timestamptz,
  customer_id text,
  email_normalized text,
  subscription_id text,
  is_test boolean not null,
  paid_at timestamptz not null,
  created_at timestamptz not null,
  -- The order or invoice of the payment, if the gateway distinguishes it from the payment's own id. Payments of one
  -- order are one conversion (decision 72).
  order_id text,
  -- When the gateway's object last changed: older reports are ignored. Null: it never changes.
  told_at timestamptz,
  -- The total of the object then: less than paid_cents if the order was reduced, 0 if it was cancelled.
  total_cents bigint,
  unique (organization_id, gateway, external_id),
  foreign key (organization_id, event_id) references gateway_event (organization_id, id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id),
  check (refunded_cents between 0 and paid_cents),
  constraint gateway_payment_total check (total_cents >= 0)
);
create index gateway_payment_customer on gateway_payment (organization_id, gateway, customer_id, paid_at)
  where customer_id is not null;
create index gateway_payment_email on gateway_payment (organization_id, gateway, email_normalized, paid_at)
  where email_normalized is not null;
create index gateway_payment_subscription on gateway_payment (organization_id, gateway, subscription_id, paid_at)
  where subscription_id is not null;
create index gateway_payment_order on gateway_payment (organization_id, gateway, order_id) where order_id is not null;
create index gateway_payment_conversion
  on gateway_payment (organization_id, conversion_id) where conversion_id is not null;
alter table gateway_payment add primary key (organization_id, id);
select isolate_tenant('gateway_payment');
-- The service dates a payment whose gateway dates it ahead by its event; this holds for every writer.
create trigger gateway_payment_time before insert on gateway_payment
  for each row when (greatest(new.paid_at, new.created_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('paid_at', 'created_at');

-- The ids by which refunds and disputes may name a payment, including its own.
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

-- The amount refunded under one id of the gateway and not reversed, in minor units of the payment, including tax and
-- shipping.
create table gateway_refund (
  organization_id uuid not null,
  gateway text not null,
  refund_id text not null,
  payment_id uuid not null,
  refunded_cents bigint not null check (refunded_cents >= 0),
  restored_at timestamptz,
  created_at timestamptz not null,
  primary key (organization_id, gateway, refund_id, payment_id),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
create index gateway_refund_payment on gateway_refund (organization_id, payment_id);
select isolate_tenant('gateway_refund');
create trigger gateway_refund_time before insert on gateway_refund
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- Events that name a payment that has not arrived yet, under each id by which they name it.
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

-- The state of a dispute. A lost one is a refund of the remaining amount, under the id dispute:ID.
create table gateway_dispute (
  organization_id uuid not null,
  gateway text not null,
  dispute_id text not null,
  payment_id uuid not null,
  state text not null check (state in ('opened', 'lost', 'won')),
  told_at timestamptz not null,
  -- Whether the lost amount is the same money as the refunds made before the decision.
  covers_refunds boolean not null default false,
  primary key (organization_id, gateway, dispute_id),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
create index gateway_dispute_payment on gateway_dispute (organization_id, payment_id);
select isolate_tenant('gateway_dispute');

-- Who referred a customer or subscription, as reported apart from payments. subject is customer:ID or subscription:ID.
create table gateway_referral (
  organization_id uuid not null references organization,
  gateway text not null,
  subject text not null,
  origin jsonb not null,
  told_at timestamptz not null,
  primary key (organization_id, gateway, subject)
);
select isolate_tenant('gateway_referral');

-- Totals of orders whose payment is not known: an older event of the payment may still arrive.
create table gateway_order (
  organization_id uuid not null references organization,
  gateway text not null,
  order_id text not null,
  told_at timestamptz not null,
  -- The total amount paid, and the total of the order: 0 if it was cancelled.
  amount_cents bigint not null check (amount_cents >= 0),
  total_cents bigint not null check (total_cents >= 0),
  primary key (organization_id, gateway, order_id)
);
select isolate_tenant('gateway_order');

-- Additions to a conversion after its first payment: a further payment of its order, or a higher total. A payment is
-- added once.
create table conversion_addition (
  organization_id uuid not null,
  id uuid not null,
  conversion_id uuid not null,
  -- Null: the total of a payment that the conversion already had went up.
  payment_id uuid,
  amount_cents bigint not null check (amount_cents >= 0),
  commission_cents bigint not null check (commission_cents >= 0),
  created_at timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, payment_id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
create index conversion_addition_conversion on conversion_addition (organization_id, conversion_id);
select isolate_tenant('conversion_addition');
select make_append_only('conversion_addition');
create trigger conversion_addition_time before insert on conversion_addition
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- Newsletter and CRM platforms, which are queried for the referrer of a buyer if no other source names one.
create table platform_connection (
  id uuid not null,
  organization_id uuid not null references organization,
  platform text not null,
  status text not null check (status in ('Active', 'Broken')),
  -- Sales since then may be credited by it. Null: the brand does not want that.
  credits_since timestamptz,
  -- The custom field with the slug. Null: the platform's usual one.
  slug_field text,
  credentials_sealed bytea not null,
  connected_at timestamptz not null,
  last_checked_at timestamptz,
  last_error text,
  unique (organization_id, platform)
);
alter table platform_connection add primary key (organization_id, id);
select isolate_tenant('platform_connection');

-- Payments that credited no one, while platforms are queried about their buyer. The row is deleted when that ends.
create table platform_lookup (
  id uuid not null,
  organization_id uuid not null,
  payment_id uuid not null,
  -- The payment as reported, with all that may credit an affiliate.
  paid jsonb not null,
  started_at timestamptz not null,
  unique (organization_id, payment_id),
  foreign key (organization_id, payment_id) references gateway_payment (organization_id, id)
);
alter table platform_lookup add primary key (organization_id, id);
select isolate_tenant('platform_lookup');

-- The web pixel of a store's connection; id is the connection's. Its key is public and identifies its clicks.
create table web_pixel (
  id uuid primary key,
  organization_id uuid not null,
  account text not null,
  public_key text not null unique,
  state text not null check (state in ('waiting', 'active', 'failed', 'ending', 'ended')),
  -- The gateway's id of the pixel, and its last error.
  external_id text,
  error text,
  wanted_at timestamptz not null,
  settled_at timestamptz,
  -- After the connection ended, only the data needed to delete the pixel is stored, until it is deleted.
  ended_at timestamptz,
  credentials_sealed bytea,
  check ((state in ('ending', 'ended')) = (ended_at is not null)),
  check ((state = 'ending') = (credentials_sealed is not null)),
  foreign key (organization_id, id) references gateway_connection (organization_id, id)
);
create index web_pixel_organization on web_pixel (organization_id, account);
select isolate_tenant('web_pixel');

-- Checkouts of browsers that had followed a link: the slug, or the event that waits for it.
create table pixel_checkout (
  organization_id uuid not null references organization,
  token_hash bytea not null,
  slug text,
  sub_id text,
  event_id uuid,
  told_at timestamptz not null,
  primary key (organization_id, token_hash),
  check (num_nonnulls(slug, event_id) > 0),
  foreign key (organization_id, event_id) references gateway_event (organization_id, id)
);
create index pixel_checkout_told on pixel_checkout (told_at);
select isolate_tenant('pixel_checkout');
