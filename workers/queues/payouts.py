"""The `payouts` queue: payments out and in, and the times at which they are due.

Payouts call their rail, and automatic ones recur; deals call their funding source, and milestones become due.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.payouts.transfers import Accepted, Answer, Paid, Rejected, explain_retry
from models.jobs.rows import ClaimedJob
from pipelines.deals import funding_calls, release
from pipelines.payouts import propose, transfer
from workers.actor import database_job, register_calling_job
from workers.batching.call_batches import CallBatch, is_still_true


def _prepare(claimed: Sequence[ClaimedJob]) -> list[transfer.PreparedTransfer | None]:
    payout_ids = [UUID(job.args["payout_id"]) for job in claimed]
    return transfer.prepare(organization_id=claimed[0].tenant, payout_ids=payout_ids, now=clock.now())


def _may_continue(
    prepared: transfer.PreparedTransfer,
    answer: Answer | transfer.Misconfigured,
    following: transfer.PreparedTransfer,
) -> bool:
    """Return whether the next payout may be sent: the last answer is clear, and no other worker has the next one."""
    is_clear = isinstance(answer, Paid | Accepted | Rejected)
    return is_clear and is_still_true(following.payout.organization_id, lambda: transfer.must_be_sent(following))


def _record(
    answered: Sequence[tuple[transfer.PreparedTransfer, Answer | transfer.Misconfigured]],
) -> list[datetime | None]:
    return transfer.record(answered, now=clock.now())


register_calling_job(
    jobs.PAYOUT_TRANSFER,
    prepare=lambda job: _prepare([job])[0],
    call=transfer.call,
    record=lambda prepared, answer: _record([(prepared, answer)])[0],
    why=lambda prepared, answer: explain_retry(
        answer.why if isinstance(answer, transfer.Misconfigured) else answer, party="rail"
    ),
    together=CallBatch(prepare=_prepare, may_continue=_may_continue, record=_record, give_back=transfer.withdraw),
)


@database_job(jobs.PAYOUT_CADENCE)
def start_due_cadences(job: ClaimedJob) -> None:
    """Enqueue the automatic payouts of every organization whose cadence is due."""
    propose.any_org_enqueue_due(now=clock.now())


@database_job(jobs.PAYOUT_PROPOSE)
def propose_payouts(job: ClaimedJob) -> None:
    """Propose an organization's automatic payouts to its Owners."""
    propose.propose(organization_id=job.tenant, now=clock.now())


register_calling_job(
    jobs.DEAL_ASK,
    prepare=lambda job: funding_calls.prepare(
        organization_id=job.tenant, request_id=UUID(job.args["request_id"]), now=clock.now()
    ),
    call=funding_calls.call,
    record=lambda prepared, answer: funding_calls.record(prepared, answer, now=clock.now()),
    why=lambda prepared, answer: explain_retry(answer, party="funding source"),
)


@database_job(jobs.DEALS_RELEASE)
def start_due_milestones(job: ClaimedJob) -> None:
    """Enqueue the release of every milestone that is due."""
    after = UUID(job.args["after"]) if "after" in job.args else release.FIRST
    release.any_org_start(after=after, now=clock.now())


@database_job(jobs.DEAL_RELEASE)
def release_milestone(job: ClaimedJob) -> None:
    """Pay one milestone that is due."""
    release.pay_if_due(
        organization_id=job.tenant,
        deal_id=UUID(job.args["deal_id"]),
        milestone_id=UUID(job.args["milestone_id"]),
        now=clock.now(),
    )
