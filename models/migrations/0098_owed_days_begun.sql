-- Every day there was is to be reckoned, which the next ticks do; until then it is added up as before. Days with changes
-- that are not folded yet come by themselves, and what was paid beyond what is earned may lie on a day of which nothing counts.
set local app.any_org = 'on';
insert into day_to_reckon (organization_id, program_id, day)
select organization_id, program_id, day from program_day where currency is not null
union
select organization_id, program_id, (occurred_at at time zone 'UTC')::date from conversion
where paid_cents > case when status in ('Denied', 'Invalidated') then 0 else commission_cents - reversed_cents end
on conflict do nothing;
