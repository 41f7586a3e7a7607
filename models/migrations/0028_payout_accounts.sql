-- Conversions that earn on and were paid a part of it: few, and every statistic has to know them.
create index conversion_part_paid on conversion (organization_id) where paid_cents > 0 and status in ('Pending', 'Approved');

-- What was paid in a month is less what payouts held back for reversals.
drop index ledger_entry_paid;
create index ledger_entry_paid on ledger_entry (organization_id, created_at) where kind in ('pay', 'clawback');
