-- Every amount that was set in the home currency keeps that currency beside it: a home currency that changes later
-- re-denominates nothing.

set local app.any_org = 'on';

alter table program
  add column budget_currency text,
  add column min_payout_currency text,
  add column lead_bounty_currency text,
  add column click_reward_currency text,
  -- Of a fee per click or lead; a Fixed commission per sale is in each sale's currency.
  add column fee_currency text;
update program p set
  budget_currency = case when p.budget_cents is not null then o.home_currency end,
  min_payout_currency = case when p.min_payout_cents is not null then o.home_currency end,
  lead_bounty_currency = case when p.lead_bounty_cents is not null then o.home_currency end,
  click_reward_currency = case when p.click_reward_cents is not null then o.home_currency end,
  fee_currency = case when p.default_commission_model in ('Cpc', 'Cpl') and p.default_commission_type = 'Fixed'
    then o.home_currency end
from organization o where o.id = p.organization_id;
alter table program
  add constraint program_budget_currency check ((budget_cents is null) = (budget_currency is null)),
  add constraint program_min_payout_currency check ((min_payout_cents is null) = (min_payout_currency is null)),
  add constraint program_lead_bounty_currency check ((lead_bounty_cents is null) = (lead_bounty_currency is null)),
  add constraint program_click_reward_currency check ((click_reward_cents is null) = (click_reward_currency is null)),
  add constraint program_fee_currency
    check ((default_commission_model in ('Cpc', 'Cpl') and default_commission_type = 'Fixed') = (fee_currency is not null));

alter table organization add column min_payout_currency text;
update organization set min_payout_currency = home_currency where min_payout_cents is not null;
alter table organization add constraint organization_min_payout_currency
  check ((min_payout_cents is null) = (min_payout_currency is null));

-- A tier's revenue and, where it is a fee per click or lead, its Fixed rate.
alter table performance_tier add column currency text;
update performance_tier t set currency = o.home_currency from organization o where o.id = t.organization_id;
alter table performance_tier alter column currency set not null;

-- Whoever has a Fixed rate of their own keeps the currency it was set in; it counts where a click or lead pays it.
alter table partner_group add column commission_currency text;
update partner_group g set commission_currency = o.home_currency from organization o
  where o.id = g.organization_id and g.commission_type = 'Fixed';
alter table partner_group add constraint partner_group_commission_currency
  check ((commission_type = 'Fixed') = (commission_currency is not null));

alter table affiliate add column custom_commission_currency text;
update affiliate a set custom_commission_currency = o.home_currency from organization o
  where o.id = a.organization_id and a.custom_commission_type = 'Fixed';
alter table affiliate add constraint affiliate_commission_currency
  check ((custom_commission_type is not distinct from 'Fixed') = (custom_commission_currency is not null));

alter table affiliate_invite add column custom_commission_currency text;
update affiliate_invite i set custom_commission_currency = o.home_currency from organization o
  where o.id = i.organization_id and i.custom_commission_type = 'Fixed';
alter table affiliate_invite add constraint affiliate_invite_commission_currency
  check ((custom_commission_type is not distinct from 'Fixed') = (custom_commission_currency is not null));

-- How many affiliates a group has.
create index affiliate_group on affiliate (organization_id, program_id, partner_group_id)
  where partner_group_id is not null and deleted_at is null;
