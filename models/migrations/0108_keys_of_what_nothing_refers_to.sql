-- Wider keys refuse nothing that the keys by id alone let in. No row is read here.
-- contract: asset unique btree (id): nothing looks for one by its id without its organization
-- contract: copilot_act unique btree (organization_id, id): ids were unique before
-- contract: copilot_act unique btree (id): nothing looks for one by its id without its organization
-- contract: payout_proposal unique btree (organization_id, id): ids were unique before
-- contract: payout_proposal unique btree (id): nothing looks for one by its id without its organization
-- contract: platform_connection unique btree (organization_id, id): ids were unique before
-- contract: platform_connection unique btree (id): nothing looks for one by its id without its organization
-- contract: platform_lookup unique btree (organization_id, id): ids were unique before
-- contract: platform_lookup unique btree (id): nothing looks for one by its id without its organization
-- contract: reward_spend unique btree (organization_id, id): ids were unique before
-- contract: reward_spend unique btree (id): nothing looks for one by its id without its organization
-- contract: tax_form unique btree (organization_id, id): ids were unique before
-- contract: tax_form unique btree (id): nothing looks for one by its id without its organization
-- contract: uncredited_conversion unique btree (organization_id, id): ids were unique before
-- contract: uncredited_conversion unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('asset', 'asset_key');
select key_by_organization('copilot_act', 'copilot_act_key');
select key_by_organization('payout_proposal', 'payout_proposal_key');
select key_by_organization('platform_connection', 'platform_connection_key');
select key_by_organization('platform_lookup', 'platform_lookup_key');
select key_by_organization('reward_spend', 'reward_spend_key');
select key_by_organization('tax_form', 'tax_form_key');
select key_by_organization('uncredited_conversion', 'uncredited_conversion_key');
