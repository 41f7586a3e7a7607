"""Discarding of dead letters: the losses are counted first, recorded, and visible to the organizations concerned."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain import jobs
from domain.refusals import Refused
from models.gateways import discarded_events
from models.jobs import admin_queries, discarded_jobs, losses
from models.jobs.admin_queries import DeadFilters, JobRow
from models.jobs.discarded_jobs import OpenLoss
from models.jobs.losses import UnfinishedWork
from models.webhooks import failed_deliveries
from pipelines.leads import page_leads
from pipelines.operating import job_queues


@dataclass(frozen=True, slots=True)
class DiscardedSum:
    """An amount that jobs of one kind are about, in minor units of a currency."""

    currency: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class DiscardedKind:
    """How many jobs of one kind a discard deletes, what stays undone, the remedy, and the amounts per currency."""

    name: str
    count: int
    leaves: str
    remedy: str
    sums: Sequence[DiscardedSum]


def any_org_summarize(filters: DeadFilters) -> list[DiscardedKind]:
    """Return what a discard of the filter's dead letters leaves undone, kind by kind. Budget: 1 round trip."""
    return _group_by_kind(admin_queries.any_org_sum_dead(filters))


def summarize(dead: Sequence[JobRow]) -> list[DiscardedKind]:
    """Return what a discard of these jobs leaves undone, kind by kind."""
    sums: dict[tuple[str, str | None], tuple[int, int]] = {}
    for job in dead:
        place = job.name, job.leaves.currency if job.leaves else None
        count, cents = sums.get(place, (0, 0))
        sums[place] = count + 1, cents + ((job.leaves.amount_cents or 0) if job.leaves else 0)
    return _group_by_kind([(name, currency, count, cents) for (name, currency), (count, cents) in sums.items()])


def any_org_lock_dead(job_id: int) -> JobRow:
    """Lock a dead letter and return it with its loss. Raises Refused 404 not_found."""
    job = next((job for job in admin_queries.any_org_lock([job_id]) if job.failed_at is not None), None)
    if job is None:
        raise job_queues.not_dead_refusal(job_id)
    return job


def any_org_discard_one(job_id: int) -> JobRow:
    """Delete a dead letter permanently and return it. Raises Refused 404 not_found."""
    job = any_org_lock_dead(job_id)
    any_org_discard([job])
    return job


def any_org_discard_all(filters: DeadFilters, *, confirmed: int) -> Sequence[JobRow]:
    """Delete all dead letters of a filter permanently and return them.

    Raises Refused 409 count_mismatch, with the actual `count`, if it differs from the confirmed number.
    """
    dead = admin_queries.any_org_lock_dead(filters)
    job_queues.check_count(len(dead), confirmed, verb="discarded")
    any_org_discard(dead)
    return dead


def any_org_discard(dead: Sequence[JobRow]) -> None:
    """Delete locked dead letters. Their deliveries and gateway events become Failed.

    Then a delivery can be redelivered, and an event replayed; their organizations see the reason. A loss of money is
    listed until it is compensated or accepted.
    """
    owners = {job.id: owner for job in dead if (owner := _any_org_find_owner(job)) is not None}
    discarded_jobs.any_org_discard([job.id for job in dead], owners=owners)
    deliveries = [job for job in dead if job.name == jobs.WEBHOOK_DELIVER.name and _id_from_args(job, "delivery_id")]
    failed_deliveries.any_org_stage_failed_by_jobs(
        [{"name": job.name, "organization_id": job.organization_id, "args": dict(job.args)} for job in deliveries]
    )
    events = [_id_from_args(job, "event_id") for job in dead if job.name == jobs.GATEWAY_EVENT.name]
    discarded_events.any_org_stage_failed([event_id for event_id in events if event_id is not None])


def _any_org_find_owner(job: JobRow) -> UUID | None:
    if job.name == jobs.LEAD_CAPTURE.name:
        return page_leads.any_org_owner(job.args.get("sealed", ""))
    return job.organization_id


def _id_from_args(job: JobRow, argument: str) -> UUID | None:
    try:
        return UUID(job.args.get(argument, ""))
    except ValueError:
        return None


def any_org_accept_losses(job_ids: Sequence[int], *, why: str, is_dry: bool = False) -> Sequence[OpenLoss]:
    """Mark the losses of discarded jobs as accepted and return them. Raises Refused 404 not_found, and accepts none."""
    ids = sorted(set(job_ids))
    open_losses = discarded_jobs.any_org_list_open_losses(job_ids=ids)
    accepted = [loss.id for loss in open_losses]
    if accepted == ids and not is_dry:
        accepted = discarded_jobs.any_org_accept_losses(ids, why=why)
    if missing := ", ".join(str(job_id) for job_id in ids if job_id not in accepted):
        message = f"Job {missing} has no open loss: it was compensated or accepted. Next: flask jobs losses"
        raise Refused(404, "not_found", message)
    return open_losses


def audit_data(job: JobRow) -> dict[str, object]:
    """Return the audit log's data of a discarded dead letter.

    Without its error: a traceback may quote a customer's row, and the log is permanent.
    """
    return {
        "id": job.id,
        "name": job.name,
        "queue": job.queue,
        "arguments": dict(job.args),
        "attempts": job.attempt,
        "createdAt": job.created_at.isoformat(),
        "leaves": loss_json(job.leaves),
    }


def loss_json(leaves: UnfinishedWork | None) -> dict[str, object] | None:
    """Return a job's loss with the keys of the API; None without a loss."""
    if leaves is None:
        return None
    return {
        "kind": leaves.kind,
        "externalEventId": leaves.external_event_id,
        "amountCents": leaves.amount_cents,
        "currency": leaves.currency,
    }


def _group_by_kind(sums: Sequence[tuple[str, str | None, int, int | None]]) -> list[DiscardedKind]:
    return [
        DiscardedKind(
            name=name,
            count=sum(count for kind, _, count, _ in sums if kind == name),
            leaves=losses.loss_of(name).leaves,
            remedy=losses.loss_of(name).remedy,
            sums=[
                DiscardedSum(currency, cents or 0)
                for currency, kind, cents in sorted((row[1] or "", row[0], row[3]) for row in sums)
                if kind == name and currency
            ],
        )
        for name in sorted({name for name, *_ in sums})
    ]
