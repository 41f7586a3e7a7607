-- The affiliates from before their totals. The totals are zero until the job has counted the days.
select set_config('app.any_org', 'on', true);
insert into affiliate_total (organization_id, affiliate_id, program_id, status, is_deleted, last_name)
select organization_id, id, program_id, status, deleted_at is not null, substring(name_sought from '[^ ]+$')
from affiliate
order by organization_id, id
on conflict (organization_id, affiliate_id) do nothing;
