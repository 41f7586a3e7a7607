-- What a run's lines name is there, as a rule, so all of it is looked up: the planner is asked what that takes, not what
-- the first miss takes. For the first it went through all payouts once per payout, since it knew of none yet.
create or replace function payout_lines_name_rows() returns trigger language plpgsql
set enable_seqscan = off set work_mem = '64MB' as $$
declare
  missing bigint;
begin
  execute 'select count(*) from (select distinct organization_id, payout_id from added) a where not exists
    (select from payout p where p.organization_id = a.organization_id and p.id = a.payout_id)' into missing;
  if missing > 0 then
    raise exception 'a line names a payout that is not there' using errcode = 'foreign_key_violation';
  end if;
  execute 'select count(*) from added a where not exists
    (select from conversion c where c.organization_id = a.organization_id and c.id = a.conversion_id)' into missing;
  if missing > 0 then
    raise exception 'a line names a conversion that is not there' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
