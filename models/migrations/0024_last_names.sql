-- outside a transaction
-- Search: the beginning of an affiliate's last name.
create index concurrently if not exists affiliate_last_name_beginning
  on affiliate (organization_id, substring(name_sought from '[^ ]+$') text_pattern_ops) where deleted_at is null;
