-- outside a transaction
-- Judging looks for the newest sale of a customer before each refund.
create index concurrently if not exists switch_item_newest_sale on switch_item
  (organization_id, switch_id, customer_ref, occurred_at, source_id) where customer_ref is not null;
drop index concurrently if exists switch_item_customer;
