-- Payments that name one order or invoice are one conversion; an order may be told again with another total, or as cancelled.

alter table gateway_payment
  -- The order or invoice that the payment is a part of, where its gateway tells it apart from the payment's own id.
  add column order_id text,
  -- When the gateway's object last changed, by what was told of it: what is older is no news. Null: it never changes.
  add column told_at timestamptz,
  -- What the object came to then: less than paid_cents where the order was reduced, 0 where it was cancelled.
  add column total_cents bigint;
alter table gateway_payment add constraint gateway_payment_total check (total_cents >= 0) not valid;

-- What orders came to whose payment is not known: an older event of the payment may still come.
create table gateway_order (
  organization_id uuid not null references organization,
  gateway text not null,
  order_id text not null,
  told_at timestamptz not null,
  -- What was paid in all, and what the order came to then: 0 for one that was cancelled.
  amount_cents bigint not null check (amount_cents >= 0),
  total_cents bigint not null check (total_cents >= 0),
  primary key (organization_id, gateway, order_id)
);
select isolate_tenant('gateway_order');

-- What was added to a conversion after its first payment: a further payment of its order, or a higher total of the order.
-- A payment is added once, whatever happens.
create table conversion_addition (
  organization_id uuid not null,
  id uuid not null,
  conversion_id uuid not null,
  -- Null: the total of a payment that the conversion had already went up.
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
-- As of conversions.
create trigger conversion_addition_time before insert on conversion_addition
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');
