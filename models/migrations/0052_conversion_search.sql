-- Conversions are found by how the name or the email of their affiliate begins, and listed by when their hold ends.

-- As it is sought: an expression that is not leakproof could not be asked of an index behind row-level security.
alter table affiliate add column name_sought text generated always as (lower(full_name)) stored;
create index affiliate_name_sought on affiliate (organization_id, name_sought text_pattern_ops);
create index affiliate_email_sought on affiliate (organization_id, email text_pattern_ops);

create index conversion_payable_list on conversion (organization_id, hold_until, id) where status = 'Pending';
