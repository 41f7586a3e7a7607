-- outside a transaction
-- A payment that contains the gateway's id of a redeemed code is matched by it. It is not unique: at a gateway where the id
-- is the text of the code, another affiliate's code may have it later, and accounts number their codes by themselves.
create index concurrently if not exists affiliate_coupon_gateway_id
  on affiliate_coupon (organization_id, processor_promotion_code_id) where processor_promotion_code_id is not null;
alter table affiliate_coupon validate constraint affiliate_coupon_own_discount;
alter table affiliate_coupon validate constraint affiliate_coupon_terms;
