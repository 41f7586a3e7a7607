-- Who created a campaign coupon: the member, or the member to whom the key belongs. Older coupons, and those of a command,
-- have none.
alter table campaign_coupon add column created_by uuid;
