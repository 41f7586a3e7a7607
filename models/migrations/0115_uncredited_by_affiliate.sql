-- outside a transaction
-- An affiliate's uncredited sales whatever became of them, in the order of their list.
create index concurrently if not exists uncredited_conversion_affiliate_list
  on uncredited_conversion (organization_id, affiliate_id, occurred_at desc, id desc) where not is_test;
