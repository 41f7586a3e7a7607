-- When a key was last used, known to the hour.
alter table api_key add column last_used_at timestamptz;
