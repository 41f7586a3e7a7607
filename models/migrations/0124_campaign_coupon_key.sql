-- The wider key refuses nothing that the key by id alone let in. Codes and grants name their coupon by both columns.
-- contract: campaign_coupon unique btree (id): no conflict names it; an index that is not unique stays
lock table campaign_coupon, affiliate_coupon, coupon_grant in access exclusive mode;
select key_by_organization('campaign_coupon', 'campaign_coupon_key');
