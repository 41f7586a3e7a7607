-- The ledger, and the sums that are maintained with it: budgets, days, amounts owed.

-- Every minor unit earned, reversed or paid. Balances are sums of it; rows never change.
create table ledger_entry (
  id uuid not null,
  organization_id uuid not null,
  affiliate_id uuid not null,
  program_id uuid not null,
  conversion_id uuid,
  kind text not null,
  amount_cents bigint not null check (amount_cents <> 0),
  currency text not null,
  cause_id uuid not null,
  is_test boolean not null,
  created_at timestamptz not null,
  milestone_id uuid,
  unique (organization_id, kind, cause_id, conversion_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  constraint ledger_entry_milestone foreign key (organization_id, milestone_id)
    references deal_milestone (organization_id, id),
  constraint ledger_entry_kind check (kind in
    ('earn', 'reverse', 'restore', 'pay', 'clawback', 'adjust', 'escrow_in', 'take', 'escrow_out', 'escrow_back')),
  constraint ledger_entry_sign check (case
    when kind in ('earn', 'restore', 'clawback', 'escrow_in') then amount_cents > 0
    when kind = 'adjust' then true else amount_cents < 0 end),
  constraint ledger_entry_subject check (case
    when kind in ('escrow_in', 'take', 'escrow_out', 'escrow_back') then milestone_id is not null and conversion_id is null
    else milestone_id is null end)
);
create index ledger_entry_conversion on ledger_entry (organization_id, conversion_id) where conversion_id is not null;
create unique index ledger_entry_escrow on ledger_entry (organization_id, milestone_id, kind)
  where milestone_id is not null;
create index ledger_entry_paid on ledger_entry (organization_id, created_at)
  where kind in ('pay', 'clawback', 'escrow_out');
create index ledger_entry_affiliate on ledger_entry (organization_id, affiliate_id, currency, kind)
  include (amount_cents, milestone_id, is_test);
alter table ledger_entry add primary key (organization_id, id);
select isolate_tenant('ledger_entry');
select make_append_only('ledger_entry');

-- An entry needs its conversion when it is booked. It stays when the conversion is deleted with its import, which is
-- possible only once the entries add up to zero (conversion_owes_nothing). So this is a trigger, not a foreign key.
create function ledger_names_conversion() returns trigger language plpgsql as $$
begin
  perform from conversion c where c.organization_id = new.organization_id and c.id = new.conversion_id for key share;
  if not found then
    raise exception 'there is no conversion %', new.conversion_id using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_names_conversion after insert on ledger_entry
  for each row when (new.conversion_id is not null) execute function ledger_names_conversion();
create trigger ledger_entry_time before insert on ledger_entry
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- The last check of an organization's ledger.
create table ledger_check (
  organization_id uuid primary key references organization,
  checked_at timestamptz not null,
  -- One object per exception, up to the requested number: {"rule": ..., "exception": ...}.
  findings jsonb not null,
  is_red boolean generated always as (jsonb_array_length(findings) > 0) stored
);
select isolate_tenant('ledger_check');

-- Reference rates, the same for all tenants: major units per 1 USD, and the day they were published.
create table fx_rate (
  currency text not null,
  published_on date not null,
  per_usd numeric(30, 12) not null check (per_usd > 0),
  primary key (currency, published_on)
);
grant select, insert, update on fx_rate to finderfee_app;

-- An amount times a fraction, rounded half to even in one step. The amount is not negative; the result is null unless
-- `over` is positive. A function, since an expression would compute the fraction of each row several times.
create function times_fraction(cents bigint, times bigint, over bigint) returns numeric
language plpgsql immutable parallel safe as $$
declare
  narrow bigint;
  wide numeric;
begin
  if over is null or over <= 0 then
    return null;
  end if;
  if cents <= 4611686018427387904 / times then
    narrow := cents * times;
    return narrow / over + (2 * (narrow % over) + (narrow / over & 1) > over)::int;
  end if;
  wide := cents::numeric * times;
  return div(wide, over) + (2 * mod(wide, over) + mod(div(wide, over), 2) > over)::int;
end $$;

-- Net referred revenue per day and currency, for performance tiers: reading every sale would take too long.
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

-- Changes of a program's cost of rewards for clicks and leads; the cost is their sum. A change adds a row and locks
-- none, so that requests that deny, refund or validate conversions do not wait. The reader of the sum, which holds the
-- budget's lock, folds the rows from time to time.
create table reward_spend (
  id bigint generated always as identity,
  organization_id uuid not null,
  program_id uuid not null,
  currency text not null,
  spent_cents numeric(30) not null,
  foreign key (organization_id, program_id) references program (organization_id, id)
);
create index reward_spend_program on reward_spend (organization_id, program_id) include (currency, spent_cents);
alter table reward_spend add primary key (organization_id, id);
select isolate_tenant('reward_spend');

-- Daily figures of programs and affiliates (UTC, the day of the sale or click). The database records them in the
-- transaction of the change, so they always equal the rows (decision 41).
--
-- A change adds a row here and locks none, so that two sales of one affiliate do not wait for each other. A tick folds
-- the rows into the two tables below; a day is its row there plus the changes here. Written on a hot path: no foreign
-- key. Changes of conversions have a currency and no country, those of clicks no currency and maybe a country.
create table day_change (
  id bigint generated always as identity,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  day date not null,
  currency text,
  country text,
  clicks bigint not null default 0,
  leads bigint not null default 0,
  sales bigint not null default 0,
  refunds bigint not null default 0,
  revenue_cents numeric(30) not null default 0,
  refunded_cents numeric(30) not null default 0,
  commission_cents numeric(30) not null default 0,
  override_cents numeric(30) not null default 0,
  primary key (organization_id, id)
);
select isolate_tenant('day_change');

-- A change that is removed from day_change makes its day due to be recomputed, whichever release removes it.
create function forget_reckoned_days() returns trigger language plpgsql as $$
begin
  delete from owed_day o using (select distinct organization_id, program_id, day from gone where currency is not null) g
  where o.organization_id = g.organization_id and o.day = g.day and o.program_id = g.program_id;
  insert into day_to_reckon (organization_id, program_id, day)
  select distinct organization_id, program_id, day from gone where currency is not null on conflict do nothing;
  return null;
end $$;
create trigger day_changes_gone after delete on day_change
  referencing old table as gone for each statement execute function forget_reckoned_days();

create table affiliate_day (
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  day date not null,
  currency text,
  country text,
  clicks bigint not null,
  leads bigint not null,
  sales bigint not null,
  refunds bigint not null,
  revenue_cents numeric(30) not null,
  refunded_cents numeric(30) not null,
  commission_cents numeric(30) not null,
  override_cents numeric(30) not null,
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
create unique index affiliate_day_figures on affiliate_day
  (organization_id, affiliate_id, day, currency, country) nulls not distinct;
create index affiliate_day_when on affiliate_day (organization_id, day);
select isolate_tenant('affiliate_day');

create table program_day (
  organization_id uuid not null,
  program_id uuid not null,
  day date not null,
  currency text,
  country text,
  clicks bigint not null,
  leads bigint not null,
  sales bigint not null,
  refunds bigint not null,
  revenue_cents numeric(30) not null,
  refunded_cents numeric(30) not null,
  commission_cents numeric(30) not null,
  override_cents numeric(30) not null,
  foreign key (organization_id, program_id) references program (organization_id, id)
);
create unique index program_day_figures on program_day
  (organization_id, day, program_id, currency, country) nulls not distinct;
select isolate_tenant('program_day');

-- The amounts that each day of a program still owes, computed once and valid until the day changes (decision 55). They
-- are never adjusted: a day either equals its conversions, or is in day_to_reckon or day_change and the reader adds up
-- its conversions.
--
-- Amounts are those of the conversions of that day less the amounts paid for them, as if no payout held any: the sum
-- still to pay, and (less than 0) the sum overpaid. hold_day is the UTC day on which the hold of Pending ones ends,
-- null for others. home_cents is each conversion times the fraction times / over, rounded separately; these three are
-- null if there was no rate, and valid while the fraction is the day's. No foreign key: it is written from conversions,
-- which name the program.
create table owed_day (
  organization_id uuid not null,
  program_id uuid not null,
  day date not null,
  currency text not null,
  hold_day date,
  cents numeric(30) not null,
  home_cents numeric(40),
  times numeric,
  over numeric,
  check ((home_cents is null) = (times is null) and (home_cents is null) = (over is null))
);
create unique index owed_day_parts on owed_day (organization_id, day, program_id, currency, hold_day) nulls not distinct;
select isolate_tenant('owed_day');

create table day_to_reckon (
  organization_id uuid not null,
  program_id uuid not null,
  day date not null,
  primary key (organization_id, day, program_id)
);
select isolate_tenant('day_to_reckon');
