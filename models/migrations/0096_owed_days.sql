-- What every day of a program still owes, reckoned once and looked up until something of that day changes. Nothing is
-- added and taken off here: a day is either as its conversions say, or it stands in day_to_reckon or in day_change and
-- whoever asks adds up its conversions.

-- Money of conversions that occurred on that day, less what was paid for it, as if no payout held any of it: what is
-- still to be paid, and what was paid beyond what is earned (less than 0). `hold_day` is the day of UTC on which the hold
-- of what is Pending ends, null for what nobody holds. `home_cents` is each conversion times the fraction times / over,
-- rounded alone; all three are null where there was no rate. It holds for as long as that is the fraction of the day.
-- Written out of conversions, which name the program: no foreign key.
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

-- Who takes a change out of day_change, whichever release it is of, leaves its day to be reckoned anew.
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
