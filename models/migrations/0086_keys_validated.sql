-- outside a transaction
-- Foreign keys that were made again when the keys that they count on were changed.
alter table conversion validate constraint conversion_organization_id_parent_id_fkey;
alter table conversion_event validate constraint conversion_event_organization_id_conversion_id_fkey;
alter table gateway_payment validate constraint gateway_payment_organization_id_conversion_id_fkey;
alter table lead validate constraint lead_organization_id_id_fkey;
alter table lead validate constraint lead_organization_id_converted_by_conversion_id_fkey;
alter table refund validate constraint refund_organization_id_conversion_id_fkey;
alter table reversal validate constraint reversal_organization_id_conversion_id_fkey;
