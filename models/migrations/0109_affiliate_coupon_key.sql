-- The wider key refuses nothing that the key by id alone let in.
-- contract: affiliate_coupon unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('affiliate_coupon', 'affiliate_coupon_key');
