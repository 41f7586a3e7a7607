-- outside a transaction
-- Deleting a conversion looks for the reversals and leads that refer to it.
create index concurrently if not exists reversal_conversion on reversal (organization_id, conversion_id);
create index concurrently if not exists lead_converted_by on lead (organization_id, converted_by_conversion_id)
  where converted_by_conversion_id is not null;
