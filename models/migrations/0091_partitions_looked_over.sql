-- outside a transaction
alter table click validate constraint click_until;
alter table audit_entry validate constraint audit_entry_until;
