-- Money out: runs, the payouts that they make, the lines that payouts are the sums of, and what rails were asked.

-- What an organization may pay, as its operator decides.
alter table organization
  add column verification_state text not null default 'unverified'
    check (verification_state in ('unverified', 'pending', 'verified')),
  -- Null: the fraud score decides. True: a reviewer wants the check. False: it was passed, or an operator cleared it.
  add column identity_required boolean,
  add column identity_threshold int not null default 85 check (identity_threshold between 1 and 101),
  add column high_risk_threshold int not null default 60 check (high_risk_threshold between 1 and 101),
  add column funding_mode text not null default 'balance' check (funding_mode in ('debit', 'balance')),
  add column bank_balance_cents bigint not null default 0 check (bank_balance_cents >= 0),
  add column funding_frozen boolean not null default false,
  add column payouts_need_review boolean not null default false,
  add column payout_hold_days int not null default 0 check (payout_hold_days between 0 and 365),
  add column tax_form_required boolean not null default false;

-- Where a person wants to be paid. What they say themselves holds in every organization; what an organization's
-- operator or import says holds there, for those who have said nothing.
alter table affiliate_account
  add column payout_method text check (payout_method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts')),
  add column payout_destination text,
  add column payout_changed_at timestamptz,
  add constraint affiliate_account_payout check (
    (payout_method is null) = (payout_destination is null) and (payout_method is null) = (payout_changed_at is null));
alter table affiliate
  add column payout_method text check (payout_method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts')),
  add column payout_destination text,
  add constraint affiliate_payout check ((payout_method is null) = (payout_destination is null));

-- What payouts that became Paid have paid for a conversion, less what later ones held back: with it, what a conversion
-- still has to give (or to get back) is one subtraction.
alter table conversion add column paid_cents bigint not null default 0 check (paid_cents >= 0);
create index conversion_owing on conversion (organization_id, affiliate_id) where paid_cents >
  (case when status in ('Denied', 'Invalidated') then 0 else commission_cents - reversed_cents end);

-- A payment is taken from what is owed, what a later payout holds back for a reversal is given back to it.
alter table ledger_entry drop constraint ledger_entry_check;
alter table ledger_entry add constraint ledger_entry_sign check (
  case kind when 'earn' then amount_cents > 0 when 'clawback' then amount_cents > 0
    when 'adjust' then true else amount_cents < 0 end);

create table payout_run (
  id uuid primary key,
  organization_id uuid not null references organization,
  -- Null: the automatic cadence.
  confirmed_by uuid,
  confirmed_cents bigint not null check (confirmed_cents >= 0),
  confirmed_totals jsonb not null,
  filters jsonb not null,
  notes text,
  external_transaction_id text,
  review_status text check (review_status in ('Pending', 'Approved', 'Rejected')),
  hold_until timestamptz,
  created_at timestamptz not null,
  unique (organization_id, id)
);
create index payout_run_list on payout_run (organization_id, created_at desc, id desc);
select isolate_tenant('payout_run');

-- One per affiliate and run. While it can still change (Pending, Failed) refunds shrink it, so it may come to nothing;
-- what was sent to a rail is a positive amount for ever.
create table payout (
  id uuid primary key,
  organization_id uuid not null,
  run_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  amount_cents bigint not null,
  currency text not null default 'USD',
  method text not null check (method in ('ProcessorConnect', 'Wallet', 'GlobalPayouts', 'Manual')),
  destination text not null,
  status text not null default 'Pending' check (status in ('Pending', 'Processing', 'Paid', 'Failed')),
  attempt int not null default 1 check (attempt > 0),
  processor_transfer_id text,
  wallet_batch_id text,
  wallet_transaction_id text,
  gp_outbound_payment_id text,
  external_transaction_id text,
  notes text,
  failure_code text,
  failure_reason text,
  period_start date not null,
  period_end date not null,
  created_at timestamptz not null,
  -- Listed for a payment by hand: from then on no rail is asked.
  exported_at timestamptz,
  submitted_at timestamptz,
  paid_at timestamptz,
  failed_at timestamptz,
  -- A failed payout whose lines were let go: never retried.
  voided_at timestamptz,
  unique (organization_id, id),
  unique (run_id, affiliate_id),
  foreign key (organization_id, run_id) references payout_run (organization_id, id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  check (status not in ('Processing', 'Paid') or amount_cents > 0),
  check ((status = 'Paid') = (paid_at is not null)),
  check ((status = 'Failed') = (failed_at is not null)),
  check (status <> 'Failed' or failure_reason is not null),
  check (voided_at is null or status = 'Failed')
);
create index payout_list on payout (organization_id, created_at desc, id desc);
create index payout_affiliate_list on payout (organization_id, affiliate_id, created_at desc, id desc);
create index payout_unfinished on payout (status, submitted_at) where status in ('Pending', 'Processing');
select isolate_tenant('payout');

-- What one payout pays (or holds back: less than 0) for one conversion. Written a million at a time, so the rows that
-- it names are looked up once per statement, by a trigger.
create table payout_line (
  id uuid primary key,
  organization_id uuid not null,
  payout_id uuid not null,
  conversion_id uuid not null,
  native_amount_cents bigint not null,
  native_currency text not null,
  fx_rate numeric(30, 12) not null check (fx_rate > 0),
  fx_rate_date date not null,
  amount_cents bigint not null,
  reversed_native_cents bigint not null default 0,
  reversed_amount_cents bigint not null default 0,
  reversed_at timestamptz,
  -- Until its payout is Paid or it is let go.
  is_open boolean not null default true,
  released_at timestamptz,
  check (reversed_native_cents between 0 and greatest(native_amount_cents, 0)),
  check ((reversed_native_cents = 0) = (reversed_at is null)),
  check (released_at is null or not is_open)
);
-- Nothing is paid by two payouts at once, whoever runs them.
create unique index payout_line_open on payout_line (organization_id, conversion_id) where is_open;
create index payout_line_payout on payout_line (organization_id, payout_id);
create index payout_line_conversion on payout_line (organization_id, conversion_id);
select isolate_tenant('payout_line');

-- Planned anew for as many rows as there are, and never by reading a table once per row.
create function payout_lines_name_rows() returns trigger language plpgsql
set enable_seqscan = off set work_mem = '64MB' as $$
declare
  is_missing boolean;
begin
  execute 'select exists (select from (select distinct organization_id, payout_id from added) a where not exists
    (select from payout p where p.organization_id = a.organization_id and p.id = a.payout_id))' into is_missing;
  if is_missing then
    raise exception 'a line names a payout that is not there' using errcode = 'foreign_key_violation';
  end if;
  execute 'select exists (select from added a where not exists
    (select from conversion c where c.organization_id = a.organization_id and c.id = a.conversion_id))' into is_missing;
  if is_missing then
    raise exception 'a line names a conversion that is not there' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger payout_lines_name_rows after insert on payout_line
  referencing new table as added for each statement execute function payout_lines_name_rows();

-- A conversion that a payout names is never deleted.
create function conversion_has_no_line() returns trigger language plpgsql as $$
begin
  if exists (select from payout_line l where l.organization_id = old.organization_id and l.conversion_id = old.id) then
    raise exception 'conversion % is in a payout', old.id using errcode = 'foreign_key_violation';
  end if;
  return old;
end $$;
create trigger conversion_has_no_line before delete on conversion
  for each row execute function conversion_has_no_line();

-- What a rail was asked, written down before it is asked. The number grows only after a definitive refusal.
create table payout_attempt (
  organization_id uuid not null,
  payout_id uuid not null,
  number int not null check (number > 0),
  key text not null unique,
  method text not null,
  destination text not null,
  amount_cents bigint not null check (amount_cents > 0),
  state text not null default 'intent' check (state in ('intent', 'unknown', 'accepted', 'paid', 'rejected')),
  detail text,
  asked int not null default 0,
  created_at timestamptz not null,
  answered_at timestamptz,
  primary key (payout_id, number),
  foreign key (organization_id, payout_id) references payout (organization_id, id)
);
create index payout_attempt_open on payout_attempt (created_at) where state in ('intent', 'unknown', 'accepted');
select isolate_tenant('payout_attempt');
