-- Conversions: from an accepted sale to a priced conversion, its refunds, its customer and its lead.
--
-- Rows of the hot path refer to their organization through a foreign key of several columns, or by the policy alone: a
-- key to organization itself would lock its one row in every sale.

-- The inbox of signed sales. The id of an event is unique per organization forever, so that a retry is never a second
-- sale. id is the id of the conversion, which the caller already got; settled_at is set once the conversion exists.
create table sale (
  id uuid not null,
  organization_id uuid not null,
  external_event_id text not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  amount_cents bigint not null check (amount_cents between 1 and 1000000000000),
  currency text not null,
  customer_id text,
  customer_key text,
  -- The number of this payment among the customer's, counted when it was accepted; 1 for a sale without a customer.
  customer_ordinal int not null default 1,
  customer_name text,
  customer_email text,
  customer_avatar_url text,
  sub_id text,
  is_test boolean not null,
  accepted_at timestamptz not null,
  settled_at timestamptz,
  -- The buyer's normalized email, by which leads are matched.
  email_normalized text,
  unique (organization_id, external_event_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
alter table sale add primary key (organization_id, id);
-- Earlier sales of a buyer, for payments of gateways.
create index sale_of_customer on sale (organization_id, customer_id, accepted_at)
  where customer_id is not null;
create index sale_of_inbox on sale (organization_id, email_normalized, accepted_at)
  where email_normalized is not null;
select isolate_tenant('sale');
-- accepted_at decides which leads and earlier payments count.
create trigger sale_time before insert on sale
  for each row when (new.accepted_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('accepted_at');

-- A priced conversion: a sale, a reward for a click or lead, or the override of a recruiter (parent_id).
create table conversion (
  id uuid not null,
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
  -- The import that the conversion came with; an import can be undone as a whole.
  import_job_id uuid,
  -- Why the conversion is credited as it is, step by step. Null if nothing but the row itself decided, as for a signed
  -- sale whose buyer is no lead.
  attribution_log text[],
  -- The amount that Paid payouts paid for the conversion, less the amount that later payouts held back. The amount it
  -- still owes, or is owed, is one subtraction.
  paid_cents bigint not null default 0 check (paid_cents >= 0),
  -- The conversion was Denied or Invalidated from the start, so it has no entry in the ledger. Its first history row
  -- says so too, but is deleted earlier.
  born_owing_nothing boolean not null default false,
  disputed_at timestamptz,
  -- The status before a full refund, restored when the money comes back.
  refunded_from text,
  restored_at timestamptz,
  -- The code that was redeemed, if it decided whom the sale credits.
  affiliate_coupon_id uuid,
  -- The buyer's normalized email, of imported and manual sales. Signed sales have it in sale, payments of gateways in
  -- gateway_payment.
  email_normalized text,
  -- The part of refunded_cents that the brand refunded and the gateway has not reported yet. Null: nothing. 0: all of a
  -- conversion without an amount. Used only for conversions of gateways: of any other it is all of refunded_cents.
  unreported_cents bigint,
  -- self_referral: the buyer is the credited affiliate. needs_approval: while the conversion is Pending, it enters no
  -- payout until a Manager approves it, which clears the column.
  self_referral boolean not null default false,
  needs_approval boolean not null default false,
  unique (organization_id, source, external_event_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  check (refunded_cents between 0 and amount_cents),
  check (reversed_cents between 0 and commission_cents),
  constraint conversion_import_job foreign key (organization_id, import_job_id)
    references import_job (organization_id, id),
  constraint conversion_unreported check (unreported_cents >= 0)
);
create index conversion_list on conversion (organization_id, created_at desc, id desc);
create index conversion_affiliate_list on conversion (organization_id, affiliate_id, created_at desc, id desc);
create index conversion_parent on conversion (organization_id, parent_id) where parent_id is not null;
create index conversion_program on conversion (organization_id, program_id, occurred_at desc, id desc);
-- Conversions that are charged to budgets. Sales are not in it.
create index conversion_reward on conversion (organization_id, program_id)
  where type in ('ClickReward', 'LeadReward');
-- Finds the currencies of an organization by reading one row of each.
create index conversion_currency on conversion (organization_id, currency);
create index conversion_program_list on conversion (organization_id, program_id, created_at desc, id desc);
create index conversion_status_list on conversion (organization_id, status, created_at desc, id desc);
create index conversion_kind_list on conversion (
  organization_id,
  (case type when 'LeadReward' then 'lead' when 'ClickReward' then 'click' else 'sale' end),
  created_at desc, id desc
);
create index conversion_affiliate_status_list on conversion
  (organization_id, affiliate_id, status, created_at desc, id desc);
create index conversion_program_status_list on conversion
  (organization_id, program_id, status, created_at desc, id desc);
-- Conversions that the hourly job approves, in order of their holds.
create index conversion_held on conversion (hold_until) where status = 'Pending' and not payout_locked;
create index conversion_imported on conversion (organization_id, import_job_id) where import_job_id is not null;
create index conversion_owing on conversion (organization_id, affiliate_id) where paid_cents >
  (case when status in ('Denied', 'Invalidated') then 0 else commission_cents - reversed_cents end);
-- Conversions that still earn and were paid in part. They are few, and each statistic needs them.
create index conversion_part_paid on conversion (organization_id)
  where paid_cents > 0 and status in ('Pending', 'Approved');
-- Held conversions in the order in which their holds end.
create index conversion_payable_list on conversion (organization_id, hold_until, id) where status = 'Pending';
create index conversion_coupon on conversion (organization_id, affiliate_coupon_id)
  include (currency, status, commission_cents, reversed_cents, parent_id, is_test)
  where affiliate_coupon_id is not null;
alter table conversion add primary key (organization_id, id);
alter table conversion add foreign key (organization_id, parent_id) references conversion (organization_id, id);
-- Filters of lists, in the order of the list. Conversions with and without a tag have separate indexes, since an index
-- with both gives no order for `is null`.
create index conversion_tag_list
  on conversion (organization_id, sub_id, created_at desc, id desc) where sub_id is not null;
create index conversion_untagged_list on conversion (organization_id, created_at desc, id desc) where sub_id is null;
create index conversion_affiliate_tag_list
  on conversion (organization_id, affiliate_id, sub_id, created_at desc, id desc) where sub_id is not null;
create index conversion_affiliate_untagged_list
  on conversion (organization_id, affiliate_id, created_at desc, id desc) where sub_id is null;
-- Filters of lists, in the order of the list, for rewards of clicks and leads. A sale is in none of these, so settling
-- a sale does not write them.
create index conversion_reward_status_list
  on conversion (organization_id, type, status, created_at desc, id desc) where type in ('ClickReward', 'LeadReward');
create index conversion_reward_program_list
  on conversion (organization_id, type, program_id, created_at desc, id desc)
  where type in ('ClickReward', 'LeadReward');
create index conversion_reward_affiliate_list
  on conversion (organization_id, type, affiliate_id, created_at desc, id desc)
  where type in ('ClickReward', 'LeadReward');
create index conversion_of_past_customer on conversion (organization_id, processor_customer_id, occurred_at)
  where source in ('import', 'manual') and processor_customer_id is not null;
create index conversion_of_past_subscription on conversion (organization_id, processor_subscription_id, occurred_at)
  where source = 'import' and processor_subscription_id is not null;
create index conversion_of_past_inbox
  on conversion (organization_id, email_normalized, occurred_at) where email_normalized is not null;
select isolate_tenant('conversion');

-- A conversion is deleted only once its ledger entries come to nothing.
create function conversion_owes_nothing() returns trigger language plpgsql as $$
begin
  if (select sum(l.amount_cents) from ledger_entry l
      where l.organization_id = old.organization_id and l.conversion_id = old.id) <> 0 then
    raise exception 'conversion % is still in the ledger', old.id using errcode = 'foreign_key_violation';
  end if;
  return old;
end $$;
create trigger conversion_owes_nothing before delete on conversion
  for each row execute function conversion_owes_nothing();

-- Record the cost of a change for the program's budget. A conversion never changes its program or its currency.
create function note_reward_spend() returns trigger language plpgsql as $$
declare
  change bigint := 0;
begin
  if tg_op <> 'DELETE' and not new.is_test and new.status not in ('Denied', 'Invalidated', 'Refunded') then
    change := new.commission_cents - new.reversed_cents;
  end if;
  if tg_op <> 'INSERT' and not old.is_test and old.status not in ('Denied', 'Invalidated', 'Refunded') then
    change := change - (old.commission_cents - old.reversed_cents);
  end if;
  if tg_op = 'DELETE' then
    new := old;
  end if;
  if change <> 0 then
    insert into reward_spend (organization_id, program_id, currency, spent_cents)
    values (new.organization_id, new.program_id, new.currency, change);
  end if;
  return null;
end $$;
-- The conditions are checked without a call, so a sale pays nothing for these.
create trigger reward_spend_new after insert on conversion for each row
  when (new.type in ('ClickReward', 'LeadReward')) execute function note_reward_spend();
create trigger reward_spend_changed after update on conversion for each row
  when (old.type in ('ClickReward', 'LeadReward')) execute function note_reward_spend();
create trigger reward_spend_gone after delete on conversion for each row
  when (old.type in ('ClickReward', 'LeadReward')) execute function note_reward_spend();

-- A conversion in a payout is never deleted.
create function conversion_has_no_line() returns trigger language plpgsql as $$
begin
  if exists (select from payout_line l where l.organization_id = old.organization_id and l.conversion_id = old.id) then
    raise exception 'conversion % is in a payout', old.id using errcode = 'foreign_key_violation';
  end if;
  return old;
end $$;
create trigger conversion_has_no_line before delete on conversion
  for each row execute function conversion_has_no_line();

-- Record the difference that a change makes to its day (decision 41). A conversion never changes its program,
-- affiliate, type, time or currency.
create function note_conversion_day() returns trigger language plpgsql as $$
declare
  counts constant boolean := tg_op <> 'DELETE' and not new.is_test and new.status not in ('Denied', 'Invalidated');
  counted constant boolean := tg_op <> 'INSERT' and not old.is_test and old.status not in ('Denied', 'Invalidated');
  number int := 0;
  refunds int := 0;
  revenue bigint := 0;
  refunded bigint := 0;
  commission bigint := 0;
begin
  if not counts and not counted then
    return null;
  end if;
  if counts then
    number := 1;
    refunds := (new.refunded_cents > 0)::int;
    revenue := new.amount_cents;
    refunded := new.refunded_cents;
    commission := new.commission_cents - new.reversed_cents;
  end if;
  if counted then
    number := number - 1;
    refunds := refunds - (old.refunded_cents > 0)::int;
    revenue := revenue - old.amount_cents;
    refunded := refunded - old.refunded_cents;
    commission := commission - (old.commission_cents - old.reversed_cents);
  end if;
  if tg_op = 'DELETE' then
    new := old;
  end if;
  if new.parent_id is not null then
    insert into day_change (organization_id, program_id, affiliate_id, day, currency, commission_cents, override_cents)
    values (new.organization_id, new.program_id, new.affiliate_id, (new.occurred_at at time zone 'UTC')::date,
      new.currency, commission, commission);
  elsif new.type in ('OneTime', 'Recurring') then
    insert into day_change (organization_id, program_id, affiliate_id, day, currency,
      sales, refunds, revenue_cents, refunded_cents, commission_cents)
    values (new.organization_id, new.program_id, new.affiliate_id, (new.occurred_at at time zone 'UTC')::date,
      new.currency, number, refunds, revenue, refunded, commission);
  else
    insert into day_change (organization_id, program_id, affiliate_id, day, currency, leads, commission_cents)
    values (new.organization_id, new.program_id, new.affiliate_id, (new.occurred_at at time zone 'UTC')::date,
      new.currency, case when new.type = 'LeadReward' then number else 0 end, commission);
  end if;
  return null;
end $$;
-- The conditions are checked without a call: approving, claiming and paying change no figure.
create trigger conversion_day_new after insert on conversion for each row
  when (not new.is_test and new.status not in ('Denied', 'Invalidated')) execute function note_conversion_day();
create trigger conversion_day_changed after update on conversion for each row
  when (not new.is_test and (
    (old.status in ('Denied', 'Invalidated')) <> (new.status in ('Denied', 'Invalidated'))
    or old.amount_cents <> new.amount_cents or old.refunded_cents <> new.refunded_cents
    or old.commission_cents <> new.commission_cents or old.reversed_cents <> new.reversed_cents))
  execute function note_conversion_day();
create trigger conversion_day_gone after delete on conversion for each row
  when (not old.is_test and old.status not in ('Denied', 'Invalidated')) execute function note_conversion_day();

-- A change that affects the amount owed for a day but none of its figures (status, hold, payment, lock, approval) is
-- also recorded as a change of the day, of zero: once per program and day, however many conversions a statement
-- changes. Other changes are recorded by conversion_day_changed.
create function note_owed_days() returns trigger language plpgsql as $$
begin
  insert into day_change (organization_id, program_id, affiliate_id, day, currency)
  select distinct on (organization_id, program_id, day) organization_id, program_id, affiliate_id, day, currency
  from (
    select c.organization_id, c.program_id, c.affiliate_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency
    from became c join was w on w.organization_id = c.organization_id and w.id = c.id
    where (c.status, c.hold_until, c.paid_cents, c.payout_locked, c.is_test, c.needs_approval)
        <> (w.status, w.hold_until, w.paid_cents, w.payout_locked, w.is_test, w.needs_approval)
      and not (c.is_test and w.is_test)
  ) changed;
  return null;
end $$;
create trigger conversion_owed_changed after update on conversion
  referencing old table as was new table as became for each statement execute function note_owed_days();
-- Not before updates: a trigger before updates would lock each updated row once more.
create trigger conversion_time before insert on conversion
  for each row when (greatest(new.occurred_at, new.created_at) > clock_timestamp() + interval '1 minute')
  execute function say_database_time('occurred_at', 'created_at');

-- The figures that a conversion adds to its day, computed from scratch: days are checked and rebuilt with it.
-- Conversions of test keys and those that earn nothing add nothing; the override of a recruiter is a commission and not
-- a sale.
create function day_figures(one conversion) returns table (
  leads int, sales int, refunds int, revenue_cents bigint, refunded_cents bigint, commission_cents bigint,
  override_cents bigint
) language sql immutable as $$
  select
    case when counts and one.type = 'LeadReward' and one.parent_id is null then 1 else 0 end,
    case when counts and is_sale then 1 else 0 end,
    case when counts and is_sale and one.refunded_cents > 0 then 1 else 0 end,
    case when counts and is_sale then one.amount_cents else 0 end,
    case when counts and is_sale then one.refunded_cents else 0 end,
    case when counts then one.commission_cents - one.reversed_cents else 0 end,
    case when counts and one.parent_id is not null then one.commission_cents - one.reversed_cents else 0 end
  from (select not one.is_test and one.status not in ('Denied', 'Invalidated') as counts,
    one.type in ('OneTime', 'Recurring') and one.parent_id is null as is_sale) known
$$;

-- The history of a conversion.
create table conversion_event (
  id uuid not null,
  organization_id uuid not null,
  conversion_id uuid not null,
  event_type text not null,
  amount_cents bigint not null,
  commission_cents bigint not null,
  occurred_at timestamptz not null,
  foreign key (organization_id, conversion_id) references conversion (organization_id, id)
);
create index conversion_event_conversion on conversion_event (organization_id, conversion_id);
alter table conversion_event add primary key (organization_id, id);
select isolate_tenant('conversion_event');
create trigger conversion_event_time before insert on conversion_event
  for each row when (new.occurred_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('occurred_at');

-- A refund of a conversion. Money that comes back is a separate row with a negative amount, so the order of refunds is
-- their place; two refunds computed from the same state cannot both be stored.
create table refund (
  id uuid not null,
  organization_id uuid not null,
  conversion_id uuid not null,
  amount_cents bigint not null,
  cumulative_cents bigint not null,
  is_full boolean not null,
  created_at timestamptz not null,
  reason text,
  place int not null,
  is_restoration boolean not null default false,
  -- Who booked it, and a person's note in addition to the reason.
  origin text not null,
  note text,
  foreign key (organization_id, conversion_id) references conversion (organization_id, id),
  constraint refund_sign check (case when is_restoration then amount_cents <= 0 else amount_cents >= 0 end),
  constraint refund_origin check (origin in ('brand', 'gateway'))
);
create unique index refund_place on refund (organization_id, conversion_id, place);
alter table refund add primary key (organization_id, id);
select isolate_tenant('refund');
create trigger refund_time before insert on refund
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- The part of a refund that reverses one conversion: first its own, later its override.
create table reversal (
  organization_id uuid not null,
  refund_id uuid not null,
  conversion_id uuid not null,
  commission_cents bigint not null,
  created_at timestamptz not null,
  -- The part that is reversed only once the conversion earns again, since the refund came while it was invalidated.
  late_cents bigint not null default 0,
  foreign key (organization_id, refund_id) references refund (organization_id, id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id)
);
alter table reversal add primary key (organization_id, refund_id, conversion_id);
select isolate_tenant('reversal');
create trigger reversal_time before insert on reversal
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- A person's change of a commission, and the resulting change of its override. Amounts are before refunds, in minor
-- units of the conversion's currency.
create table commission_change (
  organization_id uuid not null,
  id uuid not null,
  conversion_id uuid not null,
  previous_cents bigint not null check (previous_cents >= 0),
  commission_cents bigint not null check (commission_cents >= 0),
  reason text not null,
  note text,
  created_at timestamptz not null,
  primary key (organization_id, id, conversion_id),
  foreign key (organization_id, conversion_id) references conversion (organization_id, id)
);
create index commission_change_conversion on commission_change (organization_id, conversion_id);
select isolate_tenant('commission_change');
create trigger commission_change_time before insert on commission_change
  for each row when (new.created_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('created_at');

-- Sales that were accepted and credited no one, with the reason.
create table uncredited_conversion (
  id uuid not null,
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
  attribution_log text[],
  unique (organization_id, source, external_event_id),
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id)
);
-- Rows of test keys are not listed.
create index uncredited_conversion_list on uncredited_conversion
  (organization_id, status, occurred_at desc, id desc) where not is_test;
create index uncredited_conversion_all on uncredited_conversion
  (organization_id, occurred_at desc, id desc) where not is_test;
create index uncredited_conversion_affiliate on uncredited_conversion
  (organization_id, affiliate_id, status, occurred_at desc, id desc) where not is_test;
alter table uncredited_conversion add primary key (organization_id, id);
create index uncredited_conversion_affiliate_list
  on uncredited_conversion (organization_id, affiliate_id, occurred_at desc, id desc) where not is_test;
select isolate_tenant('uncredited_conversion');
create trigger uncredited_conversion_time before insert on uncredited_conversion
  for each row when (new.occurred_at > clock_timestamp() + interval '1 minute')
  execute function say_database_time('occurred_at');

-- A name of a customer in a program: an id (`id:…`), an id that belongs to another customer as well (`of:<gateway>:…`),
-- or an email (`email:…`). One customer is one customer, whichever way a payment comes (decision 68). The first payment
-- starts the recurring window.
create table program_customer (
  organization_id uuid not null,
  program_id uuid not null,
  customer_key text not null,
  first_paid_at timestamptz not null,
  payments int not null check (payments >= 0),
  -- joined_to: the name under which this one's payments are counted; null if they are counted here. gateway: the
  -- gateway that uses the id; null until one does. email_normalized: the customer's latest email. first_sold_at: their
  -- first payment that no import brought.
  joined_to text,
  gateway text,
  email_normalized text,
  first_sold_at timestamptz,
  primary key (organization_id, program_id, customer_key),
  foreign key (organization_id, program_id) references program (organization_id, id)
);
select isolate_tenant('program_customer');

-- The data of an import about a customer, so that undoing the import can remove it again.
create table import_customer (
  organization_id uuid not null,
  program_id uuid not null,
  customer_key text not null,
  import_job_id uuid not null,
  first_paid_at timestamptz not null,
  payments int not null check (payments > 0),
  primary key (organization_id, program_id, customer_key, import_job_id),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, import_job_id) references import_job (organization_id, id)
);
create index import_customer_job on import_customer (organization_id, import_job_id);
select isolate_tenant('import_customer');

-- The name under which an id is counted: the id itself, unless it belongs to another customer. The same id at two
-- gateways is two customers. An id without a gateway is the customer for whom any gateway uses it; an id of digits only
-- if their emails agree or one of them is unknown.
create function customer_name(org uuid, program uuid, id_name text, other_name text, via text, inbox text)
returns text language plpgsql stable as $$
declare
  known program_customer;
  is_known boolean;
begin
  select * into known from program_customer
  where organization_id = org and program_id = program and customer_key = id_name;
  is_known := found;
  if is_known and known.gateway is not distinct from via then
    return id_name;
  end if;
  if exists (select from program_customer
      where organization_id = org and program_id = program and customer_key = other_name) then
    return other_name;
  end if;
  if not is_known then
    return id_name;
  end if;
  if known.gateway is not null and via is not null then
    return other_name;
  end if;
  if id_name ~ '^(test-)?id:[0-9]+$' and known.email_normalized <> inbox then
    return other_name;
  end if;
  return id_name;
end $$;

-- How many payments a customer has made in a program, under all names, and since when (null: never).
create function customer_payments(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text,
  out payments int, out first_paid_at timestamptz
) language plpgsql stable as $$
declare
  by_email program_customer;
  name text;
begin
  select * into by_email from program_customer
  where organization_id = org and program_id = program and customer_key = email_name;
  name := case when id_name is null then coalesce(by_email.joined_to, email_name)
    else customer_name(org, program, id_name, other_name, via, inbox) end;
  select coalesce(sum(c.payments), 0), min(c.first_paid_at) filter (where c.payments > 0)
  into customer_payments.payments, customer_payments.first_paid_at
  from program_customer c
  where c.organization_id = org and c.program_id = program
    and c.customer_key = any(array[name, case when by_email.joined_to is null then email_name end]);
end $$;

-- Count a payment of a customer. Returns the name that has the count, the number of the payment, and the time of the
-- first one. A customer known only by email is joined to the first id that pays with this email. The names are locked,
-- the email before the id, until the transaction ends. Fails if this is not the expected payment (null: any), because
-- others were counted in the meantime.
create function count_payment(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text,
  paid_at timestamptz, import_job uuid, expected int,
  out name text, out payments int, out first_paid_at timestamptz
) language plpgsql as $$
declare
  by_email program_customer;
  sold_at timestamptz := case when import_job is null then paid_at end;
  is_new_inbox boolean := false;
begin
  <<counting>>
  begin
    -- Most payments are one of three cases: known by these names, new, or known by the email alone.
    if id_name is null then
      insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, first_sold_at, payments)
      values (org, program, email_name, paid_at, sold_at, 1)
      on conflict (organization_id, program_id, customer_key) do update
      set payments = c.payments + 1, first_sold_at = least(c.first_sold_at, sold_at),
        first_paid_at = case when c.payments > 0 then least(c.first_paid_at, excluded.first_paid_at)
          else excluded.first_paid_at end
      where c.joined_to is null
      returning c.customer_key, c.payments, c.first_paid_at
      into count_payment.name, count_payment.payments, count_payment.first_paid_at;
      exit counting when found;
    else
      update program_customer c
      set payments = c.payments + 1, first_paid_at = least(c.first_paid_at, paid_at),
        first_sold_at = least(c.first_sold_at, sold_at), email_normalized = coalesce(inbox, c.email_normalized)
      where c.organization_id = org and c.program_id = program and c.customer_key = id_name
        and c.payments > 0 and c.gateway is not distinct from via
        and (email_name is null or exists (select from program_customer e where e.organization_id = org
          and e.program_id = program and e.customer_key = email_name and e.joined_to is not null))
      returning c.customer_key, c.payments, c.first_paid_at
      into count_payment.name, count_payment.payments, count_payment.first_paid_at;
      exit counting when found;
      if email_name is not null then
        insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments, joined_to)
        values (org, program, email_name, paid_at, 0, id_name) on conflict do nothing;
        is_new_inbox := found;
      end if;
      if email_name is null or is_new_inbox then
        insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, first_sold_at,
          payments, gateway, email_normalized)
        select org, program, id_name, paid_at, sold_at, 1, via, inbox
        where not exists (select from program_customer
          where organization_id = org and program_id = program and customer_key = other_name)
        on conflict do nothing
        returning c.customer_key, c.payments, c.first_paid_at
        into count_payment.name, count_payment.payments, count_payment.first_paid_at;
        exit counting when found;
      end if;
    end if;

    if email_name is not null then
      select * into by_email from program_customer
      where organization_id = org and program_id = program and customer_key = email_name for update;
      name := by_email.joined_to;
    end if;
    if id_name is not null then
      insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments)
      values (org, program, id_name, paid_at, 0) on conflict do nothing;
      perform from program_customer
      where organization_id = org and program_id = program and customer_key = id_name for update;
      name := customer_name(org, program, id_name, other_name, via, inbox);
    end if;
    if id_name is not null and email_name is not null and (by_email.joined_to is null or is_new_inbox) then
      update program_customer set joined_to = count_payment.name, payments = 0
      where organization_id = org and program_id = program and customer_key = email_name;
      with moved as (
        delete from import_customer
        where organization_id = org and program_id = program and customer_key = email_name returning *
      )
      insert into import_customer as i
        (organization_id, program_id, customer_key, import_job_id, first_paid_at, payments)
      select org, program, count_payment.name, import_job_id, m.first_paid_at, m.payments from moved m
      on conflict (organization_id, program_id, customer_key, import_job_id) do update
      set payments = i.payments + excluded.payments, first_paid_at = least(i.first_paid_at, excluded.first_paid_at);
    else
      by_email := null;
    end if;
    insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, first_sold_at, payments,
      gateway, email_normalized)
    values (org, program, count_payment.name,
      least(paid_at, case when by_email.payments > 0 then by_email.first_paid_at end),
      least(sold_at, by_email.first_sold_at), 1 + coalesce(by_email.payments, 0), via, inbox)
    on conflict (organization_id, program_id, customer_key) do update
    set first_paid_at = case when c.payments > 0 then least(c.first_paid_at, excluded.first_paid_at)
        else excluded.first_paid_at end,
      first_sold_at = least(c.first_sold_at, excluded.first_sold_at),
      payments = c.payments + excluded.payments,
      gateway = coalesce(c.gateway, excluded.gateway),
      email_normalized = coalesce(excluded.email_normalized, c.email_normalized)
    returning c.payments, c.first_paid_at into count_payment.payments, count_payment.first_paid_at;
  end counting;

  if count_payment.payments <> expected then
    raise exception 'it is payment % of its customer by now, not %', count_payment.payments, expected
      using errcode = 'serialization_failure';
  end if;
  if import_job is not null then
    insert into import_customer as i (organization_id, program_id, customer_key, import_job_id, first_paid_at, payments)
    values (org, program, count_payment.name, import_job, paid_at, 1)
    on conflict (organization_id, program_id, customer_key, import_job_id) do update
    set payments = i.payments + 1, first_paid_at = least(i.first_paid_at, excluded.first_paid_at);
  end if;
end $$;

-- A lead and its conversion have the same id and exist together. event_id identifies the conversion: the id that the
-- brand sent, or one derived from the lead's id. Leads of test keys are separate, as their sales are.
create table lead (
  id uuid not null,
  organization_id uuid not null,
  program_id uuid not null,
  affiliate_id uuid not null,
  email text not null,
  email_normalized text not null,
  name text,
  external_event_id text,
  event_id text not null,
  sub_id text,
  method text not null check (method in ('lead_signup', 'lead_form')),
  state text not null default 'Open' check (state in ('Open', 'Converted', 'Expired', 'Invalidated')),
  converted_by_conversion_id uuid,
  converted_at timestamptz,
  is_test boolean not null,
  occurred_at timestamptz not null,
  expires_at timestamptz not null,
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id),
  foreign key (organization_id, id) references conversion (organization_id, id) deferrable initially deferred,
  foreign key (organization_id, converted_by_conversion_id) references conversion (organization_id, id)
    deferrable initially deferred,
  check ((converted_by_conversion_id is null) = (converted_at is null)),
  check (state <> 'Converted' or converted_by_conversion_id is not null)
);
-- One signup per person and affiliate. An invalidated lead blocks another, an expired one does not. A paid lead is
-- another row than the signup of the same person.
create unique index lead_person on lead (organization_id, affiliate_id, email_normalized, method, is_test)
  where external_event_id is null and state <> 'Expired';
-- The newest lead of a buyer.
create index lead_match on lead (organization_id, email_normalized, occurred_at desc, id desc)
  where state <> 'Invalidated';
create index lead_open on lead (expires_at) where state = 'Open';
-- One paid lead per person and program, forever; and how many an affiliate brought today.
create index lead_form_person on lead (organization_id, program_id, email_normalized) where method = 'lead_form';
create index lead_form_day on lead (organization_id, affiliate_id, occurred_at) where method = 'lead_form';
create index lead_forgettable on lead (expires_at) where state = 'Expired' and email <> '';
alter table lead add primary key (organization_id, id);
alter table lead add unique (organization_id, event_id);
select isolate_tenant('lead');

-- How many leads of an affiliate came from one network within an hour: a burst is a fraud event. Only the keyed hash of
-- the network is stored, for at most a day.
create table lead_network (
  organization_id uuid not null,
  affiliate_id uuid not null,
  network bytea not null,
  since timestamptz not null,
  leads int not null check (leads > 0),
  primary key (organization_id, affiliate_id, network),
  foreign key (organization_id, affiliate_id) references affiliate (organization_id, id)
);
create index lead_network_over on lead_network (since);
select isolate_tenant('lead_network');
