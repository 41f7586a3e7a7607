-- Which worker process began a call to the outside: when it goes silent the job is due again before its lease ends.
-- Null before that. A job that is one transaction needs no name: its row is locked, or it is not being worked on.

alter table job add column process_id uuid;
