-- An affiliate is of one organization, so one default link of each is what it was.
-- contract: tracking_link unique btree (affiliate_id) WHERE (is_default AND (deleted_at IS NULL)): no conflict names it, and the same is unique within the organization
-- contract: tracking_link unique btree (id): nothing looks for one by its id without its organization
-- contract: tracking_link unique btree (organization_id, affiliate_id) WHERE (is_default AND (deleted_at IS NULL)): it refuses nothing that was let in before
-- contract: tracking_link unique btree (organization_id, id): it refuses nothing that was let in before
select key_by_organization('tracking_link', 'tracking_link_key');
drop index tracking_link_default;
alter index tracking_link_one_default rename to tracking_link_default;
