-- Wider keys refuse nothing that the narrower ones let in: the ids in them are of one organization.
-- contract: affiliate_invite unique btree (id): nothing looks for one by its id without its organization
-- contract: affiliate_invite unique btree (token_hash): no conflict names it; an index that begins with it stays
-- contract: affiliate_invite unique btree (token_hash, organization_id): it refuses nothing that was let in before
-- contract: deal_release unique btree (organization_id, payout_id): it refuses nothing that was let in before
-- contract: deal_release unique btree (payout_id): no conflict names it, and the same is unique within the organization
-- contract: deal_request unique btree (deal_id) WHERE ((kind = 'charge'::text) AND (state <> 'rejected'::text)): no conflict names it, and the same is unique within the organization
-- contract: deal_request unique btree (id): an operator alone looks for one by its id without its organization
-- contract: deal_request unique btree (key): no conflict names it, and the same is unique within the organization
-- contract: deal_request unique btree (milestone_id) WHERE ((kind = 'refund'::text) AND (state <> 'rejected'::text)): no conflict names it, and the same is unique within the organization
-- contract: deal_request unique btree (organization_id, deal_id) WHERE ((kind = 'charge'::text) AND (state <> 'rejected'::text)): it refuses nothing that was let in before
-- contract: deal_request unique btree (organization_id, key): it refuses nothing that was let in before
-- contract: deal_request unique btree (organization_id, milestone_id) WHERE ((kind = 'refund'::text) AND (state <> 'rejected'::text)): it refuses nothing that was let in before
-- contract: embed_token unique btree (id): no conflict names it; an index that is not unique stays
-- contract: embed_token unique btree (organization_id, id): it refuses nothing that was let in before
-- contract: mail_message unique btree (id): no conflict names it; an index that is not unique stays
-- contract: mail_message unique btree (organization_id, id): it refuses nothing that was let in before
-- contract: payout_attempt unique btree (key): no conflict names it; an index that begins with the key stays
-- contract: payout_attempt unique btree (key, organization_id): it refuses nothing that was let in before
-- contract: payout_attempt unique btree (organization_id, payout_id, number): it refuses nothing that was let in before
-- contract: payout_attempt unique btree (payout_id, number): no conflict names it, and the same is unique within the organization
select key_by_organization('deal_release', 'deal_release_key');
select key_by_organization('deal_request', 'deal_request_by_id');
alter table deal_request drop constraint deal_request_key_key;
alter index deal_request_one_key rename to deal_request_key_key;
drop index deal_request_charge, deal_request_refund;
alter index deal_request_one_charge rename to deal_request_charge;
alter index deal_request_one_refund rename to deal_request_refund;
select key_by_organization('embed_token', 'embed_token_key');
-- A payout is of one organization, and so is a key that it was asked under.
select key_by_organization('payout_attempt', 'payout_attempt_number');
alter table payout_attempt drop constraint payout_attempt_key_key;
alter index payout_attempt_one_key rename to payout_attempt_key_key;
-- Operators find a message by its id in an index of its own.
select key_by_organization('mail_message', 'mail_message_key');
-- A token leads to one invitation, whatever else its index says.
select key_by_organization('affiliate_invite', 'affiliate_invite_key');
alter table affiliate_invite drop constraint affiliate_invite_token_hash_key;
alter index affiliate_invite_one_token rename to affiliate_invite_token_hash_key;
