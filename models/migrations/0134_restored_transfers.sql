-- After a restore: what rails show as paid since that time, and what was made of it.

-- What was sent with an attempt besides its key and the ids of payout and organization: the same each time it is sent.
-- Null: it was sent by a release that sent no more than those.
alter table payout_attempt add column labels jsonb;

-- A transfer on a rail's list, once. The ids are those that were sent with it; `organization_id` is null where no such
-- organization exists here. `account` is masked. `affiliate_id` and `booked_payout_id` say what was booked for it.
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
  outcome text not null check (outcome in ('Known', 'Resumed', 'Booked', 'MovedNothing', 'Undecided', 'LeftOut')),
  problem text,
  booked_payout_id uuid,
  -- The rail did not say in which currencies it was earned, and the organization had no other than US dollars.
  assumes_usd boolean not null default false,
  decided_because text,
  first_seen_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  unique (method, reference),
  foreign key (organization_id, booked_payout_id) references payout (organization_id, id),
  check (outcome <> 'Undecided' or problem is not null),
  check ((outcome = 'Booked') <= (booked_payout_id is not null)),
  check ((outcome = 'LeftOut') <= (decided_because is not null))
);
create index restored_transfer_open on restored_transfer (made_at) where outcome = 'Undecided';
select isolate_tenant('restored_transfer');

-- Which lists were read to their end and compared, on which server (`this_server()`), and since when they reach.
create table restore_listing (
  id uuid primary key,
  server text not null,
  method text not null,
  since timestamptz not null,
  -- rail: it was asked; file: its list was given; declared: an operator said that nothing was paid by it.
  source text not null check (source in ('rail', 'file', 'declared')),
  transfers int not null check (transfers >= 0),
  listed_at timestamptz not null default now()
);
create index restore_listing_server on restore_listing (server, method);
grant select, insert on restore_listing to finderfee_app;
