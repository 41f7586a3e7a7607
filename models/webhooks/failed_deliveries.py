"""Deliveries whose job was deleted while they were pending: they fail, and can be sent again."""

from collections.abc import Mapping, Sequence

import orjson

from domain import jobs
from models.db import db

#: SQL that follows `with gone as (…)`, the deleted jobs: their name, organization_id and args.
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
    """Stage that the deliveries of deleted jobs failed; other jobs and settled deliveries are left unchanged.

    Each job has its `name`, `organization_id` and `args`.
    """
    db.stage(_OF_JOBS, {"jobs": orjson.dumps(list(deleted)).decode()})
