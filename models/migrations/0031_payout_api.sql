-- The list of payouts by status and by run, newest first.
create index payout_status_list on payout (organization_id, status, created_at desc, id desc);
create index payout_of_run on payout (organization_id, run_id, created_at desc, id desc);
