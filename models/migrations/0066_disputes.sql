-- Milestones that wait for an operator, those that wait longest first.
create index deal_milestone_disputed on deal_milestone (disputed_at, id) where status = 'Disputed';
