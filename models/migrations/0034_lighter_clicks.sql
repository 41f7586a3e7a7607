-- Nothing points at a click by its organization and id, and its id alone is unique: one index less to write per click.
alter table click drop constraint click_organization_id_id_key;
