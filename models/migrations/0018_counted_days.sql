-- How much of an affiliate's day is contained in the affiliate's totals (decision 79): the counts, and its revenue and
-- commission as they were valued, by the fraction times / over in the home currency of that time. Without a fraction
-- they are in the currency of the day. A day whose figures change is counted again, whichever release changes it.
alter table affiliate_day
  add column is_counted boolean not null default false,
  add column counted_clicks bigint not null default 0,
  add column counted_sales bigint not null default 0,
  add column counted_revenue numeric(40) not null default 0,
  add column counted_commission numeric(40) not null default 0,
  add column times numeric,
  add column over numeric;

create function note_uncounted_day() returns trigger language plpgsql as $$
begin
  new.is_counted := false;
  return new;
end $$;
create trigger affiliate_day_changed before update on affiliate_day for each row
  when (old.is_counted and (old.clicks <> new.clicks or old.sales <> new.sales
    or old.revenue_cents <> new.revenue_cents or old.refunded_cents <> new.refunded_cents
    or old.commission_cents <> new.commission_cents))
  execute function note_uncounted_day();
