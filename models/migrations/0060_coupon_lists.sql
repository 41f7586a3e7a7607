-- The codes of a brand in one list, and what the sales that a code credited have earned.

create index affiliate_coupon_all on affiliate_coupon (organization_id, created_at desc, id desc);
create index conversion_coupon on conversion (organization_id, affiliate_coupon_id)
  include (currency, status, commission_cents, reversed_cents, parent_id, is_test)
  where affiliate_coupon_id is not null;
