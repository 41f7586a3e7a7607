-- What changes what a day owes and none of its figures (approved, held anew, paid, locked) is a change of the day as well: one
-- of nothing, once for a program's day however many conversions a statement changes. What changes a figure has
-- one by then (conversion_day_changed).
create function note_owed_days() returns trigger language plpgsql as $$
begin
  insert into day_change (organization_id, program_id, affiliate_id, day, currency)
  select distinct on (organization_id, program_id, day) organization_id, program_id, affiliate_id, day, currency
  from (
    select c.organization_id, c.program_id, c.affiliate_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency
    from became c join was w on w.organization_id = c.organization_id and w.id = c.id
    where (c.status, c.hold_until, c.paid_cents, c.payout_locked, c.is_test)
        <> (w.status, w.hold_until, w.paid_cents, w.payout_locked, w.is_test)
      and not (c.is_test and w.is_test)
  ) changed;
  return null;
end $$;
create trigger conversion_owed_changed after update on conversion
  referencing old table as was new table as became for each statement execute function note_owed_days();
