-- What an operator sets about an organization for the fraud rules, and whether it takes paid leads from browsers.

alter table organization
  add column fraud_score int not null default 0 check (fraud_score between 0 and 100),
  add column banned_referrers text[] not null default '{}' check (array_position(banned_referrers, null) is null),
  add column lead_preview boolean not null default false;

-- Clicks are counted without touching their rows: now also without those that were blocked, and those that are paid.
drop index click_program;
create index click_program on click (organization_id, program_id, occurred_at desc, id desc)
  include (is_duplicate, outcome);
create index click_paid on click (organization_id, program_id, occurred_at) include (conversion_id)
  where conversion_id is not null;
