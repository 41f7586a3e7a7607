-- outside a transaction
-- Foreign keys that were made again when the keys that they count on were changed.
alter table reversal validate constraint reversal_organization_id_refund_id_fkey;
alter table affiliate_coupon validate constraint affiliate_coupon_organization_id_campaign_coupon_id_fkey;
alter table coupon_grant validate constraint coupon_grant_organization_id_campaign_coupon_id_fkey;
