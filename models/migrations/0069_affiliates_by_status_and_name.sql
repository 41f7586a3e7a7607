-- Affiliates of one status by name: without it, those of a rare status are looked for among all names, and those of a
-- frequent one are all sorted.
create index affiliate_status_name_list on affiliate (organization_id, status, name_sought, id) where deleted_at is null;
