-- outside a transaction
-- Keys that begin with the organization, for refunds, coupons, files and endpoints. Of indexes that seem as good on an
-- empty table the planner takes the newest (decision 49): what asks by an id alone comes before the key.
create index concurrently if not exists campaign_coupon_anywhere on campaign_coupon (id);
create index concurrently if not exists stored_file_anywhere on stored_file (id);
create index concurrently if not exists webhook_endpoint_anywhere on webhook_endpoint (id);
-- For the statements of the last release, which name no organization here; the next one may drop it.
create index concurrently if not exists reversal_of_refund on reversal (refund_id, conversion_id);
create unique index concurrently if not exists campaign_coupon_key on campaign_coupon (organization_id, id);
create unique index concurrently if not exists refund_one_place on refund (organization_id, conversion_id, place);
create unique index concurrently if not exists refund_key on refund (organization_id, id);
create unique index concurrently if not exists reversal_key on reversal (organization_id, refund_id, conversion_id);
create unique index concurrently if not exists stored_file_key on stored_file (organization_id, id);
create unique index concurrently if not exists webhook_endpoint_key on webhook_endpoint (organization_id, id);
