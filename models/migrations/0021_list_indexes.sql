-- outside a transaction
-- The days that are not contained in their affiliates' totals yet, and the last day with a sale.
create index concurrently if not exists affiliate_day_uncounted on affiliate_day (organization_id, affiliate_id, day)
  where not is_counted;
create index concurrently if not exists affiliate_day_sold on affiliate_day (organization_id, affiliate_id, day)
  where sales > 0;
