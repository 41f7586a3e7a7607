-- outside a transaction
-- Who was credited for the earlier sales of a buyer, by what a gateway tells of them.
create index concurrently if not exists sale_of_customer on sale (organization_id, customer_id, accepted_at)
  where customer_id is not null;
create index concurrently if not exists sale_of_inbox on sale (organization_id, email_normalized, accepted_at)
  where email_normalized is not null;
create index concurrently if not exists conversion_of_past_customer
  on conversion (organization_id, processor_customer_id, occurred_at)
  where source in ('import', 'manual') and processor_customer_id is not null;
create index concurrently if not exists conversion_of_past_subscription
  on conversion (organization_id, processor_subscription_id, occurred_at)
  where source = 'import' and processor_subscription_id is not null;
create index concurrently if not exists conversion_of_past_inbox
  on conversion (organization_id, email_normalized, occurred_at) where email_normalized is not null;
-- By it an import was undone; customers know their own first payment now.
drop index concurrently if exists sale_customer;
alter table program_customer validate constraint program_customer_payments_check;
