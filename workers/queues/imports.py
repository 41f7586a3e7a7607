"""The `imports` queue: the rest of an import after its response, reconciliation with gateways, and switches."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.jobs import Job
from models import db
from models.jobs.rows import ClaimedJob
from pipelines.gateways import reconcile
from pipelines.imports import notification
from pipelines.switches import judging, reading, running, undoing
from workers.actor import database_job, register_calling_job


@database_job(jobs.IMPORT_NOTIFY)
def notify(job: ClaimedJob) -> None:
    """Send emails to the next affiliates of an import."""
    notification.send_next(
        organization_id=job.tenant,
        program_id=UUID(job.args["program_id"]),
        import_job_id=UUID(job.args["import_job_id"]),
        brand_html=job.args["said"],
        after=UUID(job.args["after"]),
        now=clock.now(),
    )


def _begin(job: ClaimedJob) -> reconcile.ReconcileRun | None:
    since = job.args.get("since")
    return reconcile.prepare(
        organization_id=job.tenant,
        connection_id=UUID(job.args["connection_id"]),
        since=datetime.fromisoformat(since) if since else None,
        now=clock.now(),
    )


def _list(run: reconcile.ReconcileRun) -> reconcile.ReconcileResult:
    """Import the pages that the gateway lists, each in a transaction of its own."""
    totals = reconcile.ReconcileResult()
    for page in reconcile.list_pages(run, totals):
        with db.unit_of_work(run.connection.organization_id):
            reconcile.store_page(run, page, totals, now=clock.now())
    return totals


register_calling_job(
    jobs.GATEWAY_RECONCILE,
    prepare=_begin,
    call=_list,
    record=lambda run, totals: reconcile.finish(run, totals, now=clock.now()),
    why=lambda run, totals: totals.unreachable_reason,
)


register_calling_job(
    jobs.SWITCH_READ,
    prepare=lambda job: reading.prepare(
        organization_id=job.tenant, switch_id=UUID(job.args["switch_id"]), now=clock.now()
    ),
    call=reading.call,
    record=lambda request, result: reading.record(request, result, now=clock.now()),
)


def _register_slices(job: Job, do_next: Callable[..., None]) -> None:
    @database_job(job)
    def work(claimed: ClaimedJob) -> None:
        do_next(organization_id=claimed.tenant, switch_id=UUID(claimed.args["switch_id"]), now=clock.now())


_register_slices(jobs.SWITCH_JUDGE, judging.judge_next)
_register_slices(jobs.SWITCH_WRITE, running.write_next)
_register_slices(jobs.SWITCH_UNDO, undoing.undo_next)
