-- A code that a brand mints at its store without a campaign coupon has what it takes off in its own row.
-- contract: affiliate_coupon CHECK ((((discount_type IS NULL) AND ((campaign_coupon_id IS NOT NULL) OR (origin = 'external'::text))) OR ((discount_type IS NOT NULL) AND (campaign_coupon_id IS NULL) AND (origin = 'brand'::text)))): the check that it replaces refused all of this, but for the new column
alter table affiliate_coupon
  -- Every code that was minted had a coupon.
  drop constraint affiliate_coupon_check4,
  add column discount_type text,
  add column discount_value bigint,
  add column discount_currency text,
  add column expires_at timestamptz,
  add column max_redemptions integer check (max_redemptions >= 1),
  add constraint affiliate_coupon_own_discount check (
    case discount_type
      when 'PercentOff' then discount_value between 1 and 100 and discount_currency is null
      when 'AmountOff' then discount_value > 0 and discount_currency is not null
      else discount_type is null and discount_value is null and discount_currency is null
        and expires_at is null and max_redemptions is null
    end
  ) not valid,
  add constraint affiliate_coupon_terms check (
    discount_type is null and (campaign_coupon_id is not null or origin = 'external')
    or discount_type is not null and campaign_coupon_id is null and origin = 'brand'
  ) not valid;
