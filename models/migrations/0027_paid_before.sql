-- `paid_before`: what a former system had paid of a commission that is partly owed back here (switches).
-- All entries so far satisfy a stricter rule, so they are not read again.
-- contract: ledger_entry CHECK ((kind = ANY (ARRAY['earn'::text, 'reverse'::text, 'restore'::text, 'pay'::text, 'clawback'::text, 'adjust'::text, 'paid_before'::text, 'escrow_in'::text, 'take'::text, 'escrow_out'::text, 'escrow_back'::text]))) NOT VALID: accepts one kind more than before
alter table ledger_entry drop constraint ledger_entry_kind;
alter table ledger_entry add constraint ledger_entry_kind check (kind in
  ('earn', 'reverse', 'restore', 'pay', 'clawback', 'adjust', 'paid_before', 'escrow_in', 'take', 'escrow_out',
    'escrow_back')) not valid;
