-- What affiliates ask of their own rows: sums of the ledger, and the clicks of some days, without reading all there is.

drop index ledger_entry_affiliate;
create index ledger_entry_affiliate on ledger_entry (organization_id, affiliate_id, currency, kind)
  include (amount_cents, milestone_id, is_test);

drop index click_of_affiliate;
create index click_of_affiliate on click (organization_id, affiliate_id, occurred_at);

create index payout_open_of_affiliate on payout (organization_id, affiliate_id)
  where status <> 'Paid' and voided_at is null;
