-- What operators do at the console.

-- An operator speaks for no organization: the answers kept for their Idempotency-Keys belong to none.
alter table stored_answer drop constraint stored_answer_pkey;
alter table stored_answer alter column organization_id drop not null;
create unique index stored_answer_name on stored_answer (scope, key, organization_id) nulls not distinct;

-- What asked for a job: the request or the job whose transaction this is, where the service says it.
alter table job add column asked_by text default nullif(current_setting('app.asked_by', true), '');

-- How many jobs of each queue a worker process did within the last minute.
alter table worker_process add column done jsonb not null default '{}';

-- Runs that wait for a review are looked for every few seconds.
create index payout_run_review on payout_run (created_at) where review_status = 'Pending';
