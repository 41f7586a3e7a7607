-- outside a transaction
-- Filters of lists, each read out of an index in the order of the list. A row without a channel tag is in the indexes of
-- those alone (of an index that holds them beside the others, `is null` gives no order), so a conversion is in as many
-- of these as before, and in one more with its affiliate.
create index concurrently if not exists conversion_tag_list
  on conversion (organization_id, sub_id, created_at desc, id desc) where sub_id is not null;
create index concurrently if not exists conversion_untagged_list
  on conversion (organization_id, created_at desc, id desc) where sub_id is null;
drop index concurrently if exists conversion_sub_id_list;
create index concurrently if not exists conversion_affiliate_tag_list
  on conversion (organization_id, affiliate_id, sub_id, created_at desc, id desc) where sub_id is not null;
create index concurrently if not exists conversion_affiliate_untagged_list
  on conversion (organization_id, affiliate_id, created_at desc, id desc) where sub_id is null;
-- A campaign's affiliates by status, and by name.
create index concurrently if not exists affiliate_program_status_list
  on affiliate (organization_id, program_id, status, created_at desc, id desc) where deleted_at is null;
create index concurrently if not exists affiliate_program_name_list
  on affiliate (organization_id, program_id, name_sought, id) where deleted_at is null;
