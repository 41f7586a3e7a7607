-- outside a transaction
alter table delivery validate constraint delivery_organization_id_event_id_fkey;
