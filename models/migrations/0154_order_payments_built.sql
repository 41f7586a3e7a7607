-- outside a transaction
create index concurrently if not exists gateway_payment_order
  on gateway_payment (organization_id, gateway, order_id) where order_id is not null;
create index concurrently if not exists gateway_payment_conversion
  on gateway_payment (organization_id, conversion_id) where conversion_id is not null;
alter table gateway_payment validate constraint gateway_payment_total;
