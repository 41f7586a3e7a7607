-- A refund is of its conversion's organization, and what it took back of its own: foreign keys of both columns say so.
-- So what the narrower keys refused, a place taken twice or something taken back twice, the wider ones refuse.
-- contract: refund unique btree (conversion_id, place): no conflict names it, and a conversion is of one organization
-- contract: refund unique btree (id): no conflict names it, nothing groups by it, and a conversion's places are unique
-- contract: refund unique btree (organization_id, conversion_id, place): it refuses nothing that was let in before
-- contract: reversal unique btree (organization_id, refund_id, conversion_id): it refuses nothing that was let in before
-- contract: reversal unique btree (refund_id, conversion_id): no conflict names it, and a refund is of one organization
-- In the order in which a refund is written, so that nobody waits for one while holding the other.
lock table refund, reversal in access exclusive mode;
select key_by_organization('reversal', 'reversal_key');
select key_by_organization('refund', 'refund_key');
alter table refund drop constraint refund_place;
alter index refund_one_place rename to refund_place;
