"""The jobs of an accepted sale, queued again when the sale is sent again."""

from uuid import UUID

from domain import jobs
from models.db import db
from models.jobs.rows import REPLAY, kind_columns

# A job is never due before it was staged, so jobs of a sale are due after its acceptance. The margin allows for clocks
# that differ; a job staged twice finds its work done.
_SINCE = "interval '1 minute'"

_OF_SALE = """(name = %(settle)s and args ->> 'sale_id' = %(sale)s::text
  or name = any(%(behind)s) and args ->> 'conversion_id' = %(sale)s::text)"""
_LIVING = (
    """exists (select from job where queue = {queue} and fair_key = %(org)s::uuid::text and failed_at is null
  and run_at >= {since} - """
    + _SINCE
    + """ and name = {name} and args ->> '{key}' = %(sale)s::text)"""
)
_INSERT = "insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)"


def _job(name: str, args: str) -> str:
    return (
        f"%(org)s::uuid, %({name}_queue)s::text, %({name})s::text, {args}, %(org)s::uuid::text,"
        f" %({name}_attempts)s::int, %({name}_lease)s::int"
    )


_REVIVE = f"""
with dead as (
  {REPLAY} and queue = any(%(queues)s) and failed_at >= (
    select accepted_at from sale where organization_id = %(org)s and id = %(sale)s) - {_SINCE}
  and organization_id = %(org)s and {_OF_SALE} returning name
), settle as (
  {_INSERT} select {_job("settle", "jsonb_build_object('sale_id', s.id)")} from sale s
  where s.organization_id = %(org)s and s.id = %(sale)s and s.settled_at is null
    and not exists (select from dead where name = %(settle)s)
    and not {_LIVING.format(queue="%(settle_queue)s", name="%(settle)s", key="sale_id", since="s.accepted_at")}
), discarded as (
  delete from discarded_job where organization_id = %(org)s and {_OF_SALE} returning name, args
), override as (
  {_INSERT} select {_job("override", "args")} from discarded where name = %(override)s
), cascade as (
  {_INSERT} select {_job("cascade", "jsonb_build_object('conversion_id', c.parent_id)")} from conversion c
  where c.organization_id = %(org)s and c.parent_id = %(sale)s and c.status <> 'Paid'
    and exists (select from refund r where r.organization_id = %(org)s and r.conversion_id = %(sale)s and not exists (
      select from reversal v where v.organization_id = r.organization_id and v.refund_id = r.id
        and v.conversion_id = c.id))
    and not exists (select from dead where name = %(cascade)s)
    and not {_LIVING.format(queue="%(cascade_queue)s", name="%(cascade)s", key="conversion_id", since="c.created_at")}
)
select 1
"""
_KINDS = {"settle": jobs.SALE_SETTLE, "override": jobs.OVERRIDE_WRITE, "cascade": jobs.REFUND_CASCADE}
_NAMES = {
    key: value
    for label, job in _KINDS.items()
    for key, value in {
        label: job.name,
        f"{label}_queue": job.queue,
        f"{label}_attempts": kind_columns(job)["max_attempts"],
        f"{label}_lease": kind_columns(job)["lease_s"],
    }.items()
} | {
    "queues": sorted({job.queue for job in _KINDS.values()}),
    "behind": [jobs.OVERRIDE_WRITE.name, jobs.REFUND_CASCADE.name],
}


def stage_requeue(*, organization_id: UUID, sale_id: UUID) -> None:
    """Stage that the unfinished work of a known sale is queued again, whether its job died or was discarded.

    That is its settlement, its recruiter's override, and refunds that did not reach the override. A sale without
    unfinished work, or whose job is alive, stays as it is.
    """
    db.stage(_REVIVE, {**_NAMES, "org": organization_id, "sale": sale_id})
