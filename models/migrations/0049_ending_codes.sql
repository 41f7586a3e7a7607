-- Whether codes of an archived family are still ending is asked after each of them, and counted in lists.

create index affiliate_coupon_ending on affiliate_coupon (organization_id, campaign_coupon_id)
  where status = 'Revoked' and switched_off_at is null;
