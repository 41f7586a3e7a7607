-- The total of the audit log is counted row by row in an index, and most of what a row cost was to ask again whose it is.
-- Asked by a statement of its own it is asked once. It lets the same rows through; what may be written stays as it is.
alter policy tenant on audit_entry using (
  organization_id = (select nullif(current_setting('app.org', true), '')::uuid)
  or (select current_setting('app.any_org', true) = 'on')
);
