"""Discarded jobs about money: their arguments are stored until the work is done or an operator accepts the loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.jobs import losses
from models.jobs.losses import UnfinishedWork

# Personal data in the arguments, sealed or not, is not stored: a lead and a click are identified by their time and
# affiliate. An earlier discard of the same kind with the same arguments is replaced, accepted or not.
_DISCARD = """
with gone as (
  delete from job where id = any(%(ids)s) and failed_at is not null returning id, organization_id, name, args
), traced as (
  select gone.id, coalesce(gone.organization_id, (%(owners)s::jsonb ->> gone.id::text)::uuid) as organization_id,
    gone.name, case when gone.name = 'clicks.rescore' then jsonb_build_object('clicks', (
        select coalesce(jsonb_agg(click_id), '[]')::text
        from jsonb_object_keys((gone.args ->> 'clicks')::jsonb) click_id))
      else gone.args - 'sealed' - 'entry' end as args
  from gone where gone.name = any(%(traced)s)
), repeated as (
  delete from discarded_job d using traced
  where d.organization_id = traced.organization_id and d.name = traced.name and d.args = traced.args
    and d.args <> '{}' and not d.args ? 'at'
), kept as (
  insert into discarded_job (id, organization_id, name, args)
  select id, organization_id, name, args from traced where organization_id is not null
)
select id from gone order by id
"""


def any_org_discard(job_ids: Sequence[int], *, owners: Mapping[int, UUID]) -> list[int]:
    """Delete dead letters for good and return their ids; the arguments of a traced kind are stored.

    `owners` are the organizations of jobs that have none themselves.
    """
    owned = Json({str(id): str(owner) for id, owner in owners.items()})
    return [id for (id,) in db.run(_DISCARD, {"ids": list(job_ids), "owners": owned, "traced": list(losses.TRACED)})]


@dataclass(frozen=True, slots=True)
class OpenLoss:
    """A discarded job about money whose work is neither done nor staged again, nor accepted as lost."""

    id: int
    organization_id: UUID
    discarded_at: datetime
    leaves: UnfinishedWork


_OPEN = f"""
from discarded_job j {losses.FACTS}
where j.accepted_at is null and ({losses.IS_LEFT}) and not exists (
  select from job again where again.organization_id = j.organization_id and again.name = j.name and again.args = j.args)
"""
_LIST = f"""
select j.id, j.organization_id, j.discarded_at, j.name, {losses.FACT_COLUMNS} {_OPEN}
and (%(ids)s::bigint[] is null or j.id = any(%(ids)s))
and (%(org)s::uuid is null or j.organization_id = %(org)s) order by j.id limit %(limit)s
"""


def any_org_list_open_losses(
    *, organization_id: UUID | None = None, job_ids: Sequence[int] | None = None, limit: int | None = None
) -> list[OpenLoss]:
    """Return open losses of an organization (None: of all), or of these jobs, in the order of the jobs' ids."""
    ids = None if job_ids is None else list(job_ids)
    rows = db.run(_LIST, {"org": organization_id, "ids": ids, "limit": limit})
    return [OpenLoss(row[0], row[1], row[2], UnfinishedWork(row[3], *row[-3:])) for row in rows]


_ACCEPT = """
update discarded_job set accepted_at = now(), accepted_why = %s where id = any(%s) and accepted_at is null returning id
"""


def any_org_accept_losses(job_ids: Sequence[int], *, why: str) -> list[int]:
    """Mark the losses of discarded jobs as accepted and return the ids that were not accepted before, in order."""
    return sorted(id for (id,) in db.run(_ACCEPT, (why, list(job_ids))))


#: Breaches of the rule `losses.DISCARDED_WORK`, in the form of `models.ledger.rules`. An unsettled sale and a refund
#: that did not reach its override have rules of their own, which find them whatever the cause.
DISCARDED = (
    "select format('%s of %s: %s, discarded at %s. Make up for it, or accept the loss: flask jobs accept-loss %s',"
    " j.name, coalesce('sale or event ' || fact.external_event_id, 'job ' || j.id),"
    " coalesce(fact.amount_cents || ' ' || fact.currency, 'no amount known'), j.discarded_at, j.id) "
    + _OPEN.replace("{", "{{").replace("}", "}}")
    + "and {org:j} and j.name not in ('sale.settle', 'refund.cascade')"
)


def accepted_condition(name: str, key: str, *, of: str, since: str) -> str:
    """Return the SQL condition that the loss of a discarded job about the row `of` was accepted since a time."""
    return (
        f"exists (select from discarded_job d where d.organization_id = {of}.organization_id and d.name = '{name}'"
        f" and d.args ->> '{key}' = {of}.id::text and d.accepted_at >= {since})"
    )
