"""Deliveries whose job is deleted while they wait: nobody would ever try them, so they end, and can be sent again."""

from collections.abc import Mapping
from uuid import UUID

import orjson

from domain import jobs
from models.db import db

#: Goes on after `with gone as (…)`, jobs that are deleted: their name, organization_id and args.
BY_JOB = f"""given_up as (
  update delivery d set status = 'Failed', failure_reason = 'The job that would have sent it was deleted.',
    next_attempt_at = null, settled_at = now()
  from gone g where g.name = '{jobs.WEBHOOK_DELIVER.name}' and d.organization_id = g.organization_id
    and d.id = (g.args ->> 'delivery_id')::uuid and d.status = 'Pending'
)"""
_ONE = f"""
with gone as (select %(name)s::text as name, %(org)s::uuid as organization_id, %(args)s::jsonb as args), {BY_JOB}
select 1 from gone
"""


def any_org_stage_by_job(*, name: str, organization_id: UUID | None, args: Mapping[str, object]) -> None:
    """Stage that the delivery of a deleted job has failed; one of another kind, or settled, stays as it is."""
    db.stage(_ONE, {"name": name, "org": organization_id, "args": orjson.dumps(args).decode()})
