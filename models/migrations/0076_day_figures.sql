-- What every day brought (UTC, the day on which a sale or a click occurred): of programs, and of their affiliates. Kept in
-- the transaction of whatever changes it, by the database itself, so it is at any instant what the rows come to.

-- A change adds a row and locks none: two sales of one affiliate at once wait for nobody. A tick folds the rows into the
-- days, so a day comes to what it holds and the changes that are not folded yet. Written on a hot path by the row that
-- it speaks of: no foreign key. Conversions have a currency and no country, clicks may have a country and no currency.
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

-- What one conversion adds to its day. A rehearsal and what earns nobody anything add nothing; the share of a recruiter
-- is a commission and no sale.
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

-- A conversion keeps its program, its affiliate, its moment and its currency for life.
create function note_conversion_day() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into day_change (organization_id, program_id, affiliate_id, day, currency,
      leads, sales, refunds, revenue_cents, refunded_cents, commission_cents, override_cents)
    select new.organization_id, new.program_id, new.affiliate_id, (new.occurred_at at time zone 'UTC')::date,
      new.currency, f.* from day_figures(new) f;
  elsif tg_op = 'DELETE' then
    insert into day_change (organization_id, program_id, affiliate_id, day, currency,
      leads, sales, refunds, revenue_cents, refunded_cents, commission_cents, override_cents)
    select old.organization_id, old.program_id, old.affiliate_id, (old.occurred_at at time zone 'UTC')::date,
      old.currency, -f.leads, -f.sales, -f.refunds, -f.revenue_cents, -f.refunded_cents, -f.commission_cents,
      -f.override_cents from day_figures(old) f;
  else
    insert into day_change (organization_id, program_id, affiliate_id, day, currency,
      leads, sales, refunds, revenue_cents, refunded_cents, commission_cents, override_cents)
    select new.organization_id, new.program_id, new.affiliate_id, (new.occurred_at at time zone 'UTC')::date,
      new.currency, f.leads - was.leads, f.sales - was.sales, f.refunds - was.refunds,
      f.revenue_cents - was.revenue_cents, f.refunded_cents - was.refunded_cents,
      f.commission_cents - was.commission_cents, f.override_cents - was.override_cents
    from day_figures(new) f, day_figures(old) was where f is distinct from was;
  end if;
  return null;
end $$;

-- The conditions are tested without a call: what is approved, claimed or paid changes no figure.
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

-- A click counts as long as it is nobody's second one and is not blocked. One that becomes a count of an hour when it is
-- old has been counted by then, so its end is none here.
create function note_click_days() returns trigger language plpgsql as $$
begin
  insert into day_change (organization_id, program_id, affiliate_id, day, country, clicks)
  select organization_id, program_id, affiliate_id, (occurred_at at time zone 'UTC')::date, country, count(*)
  from added where not is_duplicate and outcome <> 'blocked' group by 1, 2, 3, 4, 5;
  return null;
end $$;
create trigger click_days_new after insert on click
  referencing new table as added for each statement execute function note_click_days();

create function note_click_day() returns trigger language plpgsql as $$
begin
  insert into day_change (organization_id, program_id, affiliate_id, day, country, clicks)
  values (new.organization_id, new.program_id, new.affiliate_id, (new.occurred_at at time zone 'UTC')::date, new.country,
    case when not new.is_duplicate and new.outcome <> 'blocked' then 1 else -1 end);
  return null;
end $$;
create trigger click_day_changed after update of is_duplicate, outcome on click for each row
  when ((not old.is_duplicate and old.outcome <> 'blocked') <> (not new.is_duplicate and new.outcome <> 'blocked'))
  execute function note_click_day();

-- What was there before: the triggers hold off whoever writes until this is committed.
set local app.any_org = 'on';
insert into affiliate_day
select organization_id, program_id, affiliate_id, day, currency, country, sum(clicks), sum(leads), sum(sales),
  sum(refunds), sum(revenue_cents), sum(refunded_cents), sum(commission_cents), sum(override_cents)
from (
  select c.organization_id, c.program_id, c.affiliate_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency,
    null::text as country, 0::bigint as clicks, f.*
  from conversion c cross join lateral day_figures(c) f
  where not c.is_test and c.status not in ('Denied', 'Invalidated')
  union all
  select organization_id, program_id, affiliate_id, (occurred_at at time zone 'UTC')::date, null, country, 1,
    0, 0, 0, 0, 0, 0, 0
  from click where not is_duplicate and outcome <> 'blocked'
  union all
  select organization_id, program_id, affiliate_id, (hour at time zone 'UTC')::date, null, country, number,
    0, 0, 0, 0, 0, 0, 0
  from click_hour where not is_duplicate and outcome <> 'blocked'
) was group by 1, 2, 3, 4, 5, 6;
insert into program_day
select organization_id, program_id, day, currency, country, sum(clicks), sum(leads), sum(sales), sum(refunds),
  sum(revenue_cents), sum(refunded_cents), sum(commission_cents), sum(override_cents)
from affiliate_day group by 1, 2, 3, 4, 5;
