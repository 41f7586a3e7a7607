-- The books of the rail that stands in where no real one is configured, and how an organization wants it to behave.

-- `key` is one attempt of one payout: whoever comes twice with it finds the row of the first time. `state` is what the
-- rail would say of it: an Accepted one settles when it is old enough, a Lost one never was carried out.
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

-- Null: a payout takes the rail that is configured for its method.
alter table organization
  add column sandbox_rail text check (sandbox_rail in ('ok', 'fail', 'ambiguous', 'slow'));
