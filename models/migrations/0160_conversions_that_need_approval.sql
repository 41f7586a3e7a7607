-- self_referral: the buyer is the credited affiliate. needs_approval: while the conversion is Pending, it enters no payout
-- until a Manager approves it; the approval clears the column.
alter table conversion
  add column self_referral boolean not null default false,
  add column needs_approval boolean not null default false;

-- As in 0097, with needs_approval: an override has the value of its sale, and is cleared when its sale is approved.
create or replace function note_owed_days() returns trigger language plpgsql as $$
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
