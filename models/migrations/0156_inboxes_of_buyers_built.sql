-- outside a transaction
-- When the buyer with an inbox first paid, by a signed sale or by one that was imported or recorded by hand.
create index concurrently if not exists sale_of_inbox on sale (organization_id, email_normalized, accepted_at)
  where email_normalized is not null;
create index concurrently if not exists conversion_of_past_inbox
  on conversion (organization_id, email_normalized, occurred_at) where email_normalized is not null;
