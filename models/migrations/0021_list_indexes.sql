-- outside a transaction
-- The days that are not contained in their affiliates' totals yet, and the last day with a sale.
create index concurrently if not exists affiliate_day_uncounted on affiliate_day (organization_id, affiliate_id, day)
  where not is_counted;
create index concurrently if not exists affiliate_day_sold on affiliate_day (organization_id, affiliate_id, day)
  where sales > 0;
-- Payouts by amount, which is in USD for all of them, and those of a program.
create index concurrently if not exists payout_amount_list on payout (organization_id, amount_cents, id);
create index concurrently if not exists payout_status_amount_list on payout (organization_id, status, amount_cents, id);
create index concurrently if not exists payout_program_list on payout (organization_id, program_id, created_at desc, id desc);
-- Search: the beginning of a name, a last name, an email, a code, whatever the collation.
create index concurrently if not exists affiliate_total_last_name on affiliate_total (organization_id, last_name text_pattern_ops)
  where not is_deleted;
create index concurrently if not exists affiliate_name_beginning on affiliate (organization_id, name_sought text_pattern_ops)
  where deleted_at is null;
create index concurrently if not exists affiliate_email_beginning on affiliate (organization_id, email text_pattern_ops)
  where deleted_at is null;
create index concurrently if not exists affiliate_coupon_code_beginning on affiliate_coupon (organization_id, code text_pattern_ops);
