-- What a list says of a transfer besides, so that deciding about it later books the same; and whether a comparison was
-- finished. Both tables hold what restores left behind, which is little. The column assumes_usd is not read any more.
alter table restored_transfer
  add column milestone_id uuid,
  add column native text,
  drop constraint restored_transfer_outcome_check,
  add constraint restored_transfer_outcome_check check (
    outcome in ('Known', 'Resumed', 'Booked', 'MovedNothing', 'Undecided', 'Waiting', 'LeftOut'));
-- It paid a milestone whose deal is not as far here as it was: when the milestone is to be paid, this has paid it.
create index restored_transfer_waiting on restored_transfer (organization_id, milestone_id) where outcome = 'Waiting';

-- Null: it is at work, or ended before its list did.
alter table restore_listing add column finished_at timestamptz;
set local app.any_org = 'on';
update restore_listing set finished_at = listed_at;
grant update on restore_listing to finderfee_app;
