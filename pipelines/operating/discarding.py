"""Dead letters are discarded: what they leave undone is counted first, recorded, and shown where its owner looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain import jobs
from models.gateways import discarded_events
from models.jobs import desk, losses
from models.jobs.desk import DeadFilters, JobRow
from models.webhooks import given_up
from pipelines.operating import queue_desk


@dataclass(frozen=True, slots=True)
class DiscardedSum:
    """How much of a currency jobs of one kind are about, in minor units."""

    currency: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class DiscardedKind:
    """How many jobs of one kind a discard takes, what stays undone, and how much they are about per currency."""

    name: str
    count: int
    leaves: str
    remedy: str
    sums: Sequence[DiscardedSum]


def any_org_summarize(filters: DeadFilters) -> list[DiscardedKind]:
    """Return what a discard of the dead letters of a filter leaves undone, kind by kind. Budget: 1 round trip."""
    return _kinds(desk.any_org_sum_dead(filters))


def summarize(dead: Sequence[JobRow]) -> list[DiscardedKind]:
    """Return what a discard of these jobs leaves undone, kind by kind."""
    sums: dict[tuple[str, str | None], tuple[int, int]] = {}
    for job in dead:
        place = job.name, job.leaves.currency if job.leaves else None
        count, cents = sums.get(place, (0, 0))
        sums[place] = count + 1, cents + ((job.leaves.amount_cents or 0) if job.leaves else 0)
    return _kinds([(name, currency, count, cents) for (name, currency), (count, cents) in sums.items()])


def any_org_find_dead(job_id: int) -> JobRow:
    """Lock a dead letter and return it with what it leaves. Raises Refused 404 not_found."""
    job = next((job for job in desk.any_org_lock([job_id]) if job.failed_at is not None), None)
    if job is None:
        raise queue_desk.not_dead(job_id)
    return job


def any_org_discard_one(job_id: int) -> JobRow:
    """Delete a dead letter for good and return it as it was. Raises Refused 404 not_found."""
    job = any_org_find_dead(job_id)
    any_org_discard([job])
    return job


def any_org_discard_all(filters: DeadFilters, *, confirmed: int) -> Sequence[JobRow]:
    """Delete all dead letters of a filter for good and return them as they were.

    Raises Refused 409 count_mismatch, with the `count` that there is, where there are not as many as were confirmed.
    """
    dead = desk.any_org_lock_dead(filters)
    queue_desk.check_count(len(dead), confirmed, undone="discarded")
    any_org_discard(dead)
    return dead


def any_org_discard(dead: Sequence[JobRow]) -> None:
    """Delete dead letters that are locked. Their deliveries and gateway events are Failed from now on.

    A delivery can be redelivered then, and an event replayed; the owners of both see why.
    """
    desk.any_org_discard([job.id for job in dead])
    given_up.any_org_stage_by_jobs(
        [{"name": job.name, "organization_id": job.organization_id, "args": dict(job.args)} for job in dead]
    )
    discarded_events.any_org_stage_failed(
        [UUID(job.args["event_id"]) for job in dead if job.name == jobs.GATEWAY_EVENT.name and "event_id" in job.args]
    )


def audited(job: JobRow) -> dict[str, object]:
    """Return what the audit log keeps of a discarded dead letter.

    Not its error: a traceback may quote a customer's row, and the log is permanent.
    """
    return {
        "id": job.id,
        "name": job.name,
        "queue": job.queue,
        "arguments": dict(job.args),
        "attempts": job.attempt,
        "createdAt": job.created_at.isoformat(),
        "leaves": leaves_json(job),
    }


def leaves_json(job: JobRow) -> dict[str, object] | None:
    """Return what a job leaves undone under the keys of the wire; None for nothing."""
    if job.leaves is None:
        return None
    return {
        "kind": job.leaves.kind,
        "externalEventId": job.leaves.external_event_id,
        "amountCents": job.leaves.amount_cents,
        "currency": job.leaves.currency,
    }


def _kinds(sums: Sequence[tuple[str, str | None, int, int | None]]) -> list[DiscardedKind]:
    return [
        DiscardedKind(
            name=name,
            count=sum(count for kind, _, count, _ in sums if kind == name),
            leaves=losses.of(name).leaves,
            remedy=losses.of(name).remedy,
            sums=[
                DiscardedSum(currency, cents or 0)
                for currency, kind, cents in sorted((row[1] or "", row[0], row[3]) for row in sums)
                if kind == name and currency
            ],
        )
        for name in sorted({name for name, *_ in sums})
    ]
