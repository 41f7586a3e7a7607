-- The planner takes `current_setting(…) = 'on'` for what one row in two hundred meets, and thus a question about every
-- tenant's programs for one about a few of them: it laid out all that the network lists to sort a page of it. In a
-- coalesce it reckons with one in two, and reads the page out of its index. It lets the same rows through; what may be
-- written stays as it is.
alter policy tenant on program using (
  organization_id = nullif(current_setting('app.org', true), '')::uuid
  or coalesce(current_setting('app.any_org', true) = 'on', false)
);
alter policy tenant on organization using (
  id = nullif(current_setting('app.org', true), '')::uuid
  or coalesce(current_setting('app.any_org', true) = 'on', false)
);
