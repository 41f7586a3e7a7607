-- outside a transaction
-- Foreign keys that were made again when the keys that they count on were changed.
alter table affiliate validate constraint affiliate_import_job;
alter table api_key validate constraint api_key_organization_id_member_id_fkey;
alter table conversion validate constraint conversion_affiliate_coupon;
alter table conversion validate constraint conversion_import_job;
alter table copilot_act validate constraint copilot_act_organization_id_conversation_id_fkey;
alter table copilot_conversation validate constraint copilot_conversation_organization_id_member_id_fkey;
alter table copilot_entry validate constraint copilot_entry_organization_id_conversation_id_fkey;
alter table import_customer validate constraint import_customer_organization_id_import_job_id_fkey;
