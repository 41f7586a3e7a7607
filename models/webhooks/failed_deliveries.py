"""Deliveries whose job is deleted while they wait: nobody would ever try them, so they end, and can be sent again."""

from collections.abc import Mapping, Sequence

import orjson

from domain import jobs
from models.db import db

#: Goes on after `with gone as (…)`, jobs that are deleted: their name, organization_id and args.
FAIL_BY_JOB = f"""given_up as (
  update delivery d set status = 'Failed', failure_reason = 'The job that would have sent it was deleted.',
    next_attempt_at = null, settled_at = now()
  from gone g where g.name = '{jobs.WEBHOOK_DELIVER.name}' and d.organization_id = g.organization_id
    and d.id = (g.args ->> 'delivery_id')::uuid and d.status = 'Pending'
)"""
_OF_JOBS = f"""
with gone as (
  select name, organization_id, args
  from jsonb_to_recordset(%(jobs)s::jsonb) as gone (name text, organization_id uuid, args jsonb)
), {FAIL_BY_JOB}
select 1 from gone
"""


def any_org_stage_failed_by_jobs(deleted: Sequence[Mapping[str, object]]) -> None:
    """Stage that the deliveries of deleted jobs have failed; what is no delivery, or settled, stays as it is.

    Each job has its `name`, `organization_id` and `args`.
    """
    db.stage(_OF_JOBS, {"jobs": orjson.dumps(list(deleted)).decode()})
