-- What a campaign asks of those who apply, as the interface has it: { steps, fields }. Null where it asks nothing more.

alter table program add column application_form jsonb check (jsonb_typeof(application_form) = 'object');

-- When somebody first handed in the second step of a form, and when they were last written to about it.

alter table affiliate add column application_completed_at timestamptz;
alter table affiliate add column application_asked_at timestamptz;
