-- outside a transaction
-- What a gateway says went back of a conversion is asked for by the conversion when a person undoes a refund of it.
create index concurrently if not exists gateway_payment_conversion on gateway_payment (organization_id, conversion_id)
  where conversion_id is not null;
