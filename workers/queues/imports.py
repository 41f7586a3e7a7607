"""The `imports` queue: what an import leaves to be done after its answer; what gateways list that was missed."""

from datetime import datetime
from uuid import UUID

from adapters import clock
from domain import jobs
from models import db
from models.jobs.rows import ClaimedJob
from pipelines.gateways import reconcile
from pipelines.imports import letter
from workers.actor import calling_job, database_job


@database_job(jobs.IMPORT_NOTIFY)
def notify(job: ClaimedJob) -> None:
    """Write to the next of the affiliates whom an import brought."""
    letter.write(
        organization_id=job.tenant,
        program_id=UUID(job.args["program_id"]),
        import_job_id=UUID(job.args["import_job_id"]),
        said=job.args["said"],
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


def _list(run: reconcile.ReconcileRun) -> reconcile.ReconcileFound:
    """Take in what the gateway lists, each page in a transaction of its own."""
    found = reconcile.ReconcileFound()
    for page in reconcile.pages(run, found):
        with db.unit_of_work(run.connection.organization_id):
            reconcile.take(run, page, found, now=clock.now())
    return found


def _finish(run: reconcile.ReconcileRun, found: reconcile.ReconcileFound) -> datetime | None:
    return reconcile.finish(run, found, now=clock.now())


calling_job(jobs.GATEWAY_RECONCILE, prepare=_begin, call=_list, record=_finish, why=lambda run, found: found.away)
