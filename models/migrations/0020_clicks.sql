-- Clicks as they are written in batches: what each is judged by, and what came of it.

alter table click
  -- Which of the fraud rules held.
  add column reasons text[],
  -- Only that a click belongs to the same network as another; keyed, like the visitor's.
  add column network_hash bytea,
  -- The row that pays for the click, or would. Written on a hot path by who has just written that row: no foreign key.
  add column conversion_id uuid;

-- unscored: waits for what the operator's scorer says. over_budget: it would have earned, and the budget was spent.
alter table click drop constraint click_outcome_check;
alter table click add constraint click_outcome_check check (
  outcome in ('recorded', 'earned', 'duplicate', 'held', 'blocked', 'unscored', 'over_budget')
);

-- What one visitor did lately, and one network on one link. A row leaves these when its hashes are forgotten.
create index click_visitor on click (organization_id, visitor_hash, occurred_at) where visitor_hash is not null;
create index click_network on click (organization_id, network_hash, program_id, slug, occurred_at)
  where network_hash is not null;
create index click_hashes on click (occurred_at) where visitor_hash is not null or network_hash is not null;
