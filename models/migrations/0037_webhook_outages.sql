-- Since when nothing has reached an endpoint, and when its Owners were told so; both null while all is well.
alter table webhook_endpoint add failing_since timestamptz, add failure_told_at timestamptz;
create index webhook_endpoint_failing on webhook_endpoint (failing_since) where failing_since is not null;
