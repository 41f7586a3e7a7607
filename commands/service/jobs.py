"""`flask jobs`: queues, jobs and dead letters."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

import click
from flask.cli import AppGroup

from commands import audit_trail, output
from commands.service import discarding, losses
from domain.jobs import QUEUES
from domain.refusals import Refused
from models.jobs import admin_queries
from models.jobs.admin_queries import DeadFilters, JobRow
from pipelines.operating import job_queues
from pipelines.operating.discards import loss_json

_MAX_REASON = 120

group = AppGroup("jobs", help="Queues and dead letters.")
group.add_command(losses.list_losses)
group.add_command(losses.accept_loss)


@group.command("queues")
@output.json_option
def list_queues(as_json: bool) -> None:
    """Show the waiting, leased and dead jobs and the worker threads of each queue."""
    with output.operator_transaction():
        listed = job_queues.any_org_list()
    columns = ("queue", "waiting", "retrying", "out", "dead", "oldest_s", "threads", "paused")
    rows = [
        (row.queue, row.waiting, row.retrying, row.out, row.dead, row.oldest_s, row.threads, row.paused_at is not None)
        for row in listed
    ]
    output.show(
        [dict(zip(columns, row, strict=True)) for row in rows],
        as_json=as_json,
        print_text=lambda: output.table(columns, [(*row[:-1], "PAUSED" if row[-1] else "") for row in rows], empty=""),
    )


@group.command("list")
@click.option(
    "--state", type=click.Choice(admin_queries.LIVING), help="Only this state; without it all jobs that are not dead."
)
@click.option("--queue", type=click.Choice(QUEUES))
@click.option("--org", "organization", type=click.UUID)
@click.option("--name")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_living(
    *, state: str | None, queue: str | None, organization: UUID | None, name: str | None, limit: int, as_json: bool
) -> None:
    """List waiting, retrying and leased jobs by due time, with their last error."""
    states = (state,) if state else admin_queries.LIVING
    with output.operator_transaction():
        listed = admin_queries.any_org_list_living(
            states=states, queue=queue, organization_id=organization, name=name, limit=limit
        )
    output.show(
        [{**_serialize(job), "state": job.state} for job in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "job", "organization", "state", "attempts", "due or leased until", "error"),
            [
                (
                    job.id,
                    job.name,
                    job.organization_id,
                    job.state,
                    f"{job.attempt} of {job.max_attempts}",
                    _format_second(job.deadline or job.run_at),
                    _short_reason(job),
                )
                for job in listed
            ],
            empty=f"No jobs are {' or '.join(states)}.",
        ),
    )


@group.command("dead")
@discarding.filter_options
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_dead(*, filters: DeadFilters, limit: int, as_json: bool) -> None:
    """List dead letters, oldest first."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list_dead(**asdict(filters), limit=limit)
    output.show(
        [_serialize(job) for job in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "job", "organization", "attempts", "died", "error"),
            [
                (job.id, job.name, job.organization_id, job.attempt, _format_minute(job.failed_at), _short_reason(job))
                for job in listed
            ],
            empty="No dead letters.",
        ),
    )


@group.command("show")
@click.argument("job_id", type=int)
@output.json_option
def show(job_id: int, as_json: bool) -> None:
    """Show one job: arguments, attempts, error and traceback."""
    with output.operator_transaction():
        job = admin_queries.any_org_find(job_id)
        if job is None:
            raise Refused(
                404, "not_found", f"There is no job {job_id}: it is done or was discarded. Next: flask jobs dead"
            )
    shown_job = job

    def print_text() -> None:
        for name, value in _serialize(shown_job).items():
            if name != "error":
                click.echo(f"{name:15} {output.clean_line(str(value))}")
        click.echo(f"\n{output.clean_text(shown_job.last_error or 'No error so far.')}")
        if shown_job.waits_for:
            click.echo(f"\nWaits until {_format_second(shown_job.run_at)}: {output.clean_line(shown_job.waits_for)}")
        if shown_job.failed_at:
            click.echo(f"\nA discard leaves {discarding.describe(shown_job)}")
            click.echo(f"\nNext: flask jobs replay {shown_job.id}   or   flask jobs discard {shown_job.id} --why '...'")

    output.show(_serialize(job), as_json=as_json, print_text=print_text)


@group.command("replay")
@click.argument("job_ids", type=int, nargs=-1)
@discarding.filter_options
@click.option("--limit", type=click.IntRange(1, 100_000), default=1_000, show_default=True)
@click.option("--dry-run", is_flag=True, help="Only list them.")
@output.json_option
def replay(*, job_ids: tuple[int, ...], filters: DeadFilters, limit: int, dry_run: bool, as_json: bool) -> None:
    """Queue dead letters again, with no attempts used."""
    discarding.check_selection(job_ids, filters)
    with output.operator_transaction():
        selected = list(job_ids)
        if not selected:
            selected = [job.id for job in admin_queries.any_org_list_dead(**asdict(filters), limit=limit)]
        replayed = _filter_dead(selected) if dry_run else admin_queries.any_org_replay(selected)
        if replayed and not dry_run:
            audit_trail.record("job.replayed", {"jobs": replayed}, about=replayed)
    untouched = sorted(set(selected) - set(replayed))
    verb = "Would replay" if dry_run else "Replayed"

    def print_text() -> None:
        click.echo(f"{verb} {len(replayed)}: {' '.join(map(str, replayed)) or 'none'}")
        if untouched:
            click.echo(f"Not dead letters: {' '.join(map(str, untouched))}")

    output.show(
        {"replayed": [] if dry_run else replayed, "would_replay": replayed if dry_run else [], "not_dead": untouched},
        as_json=as_json,
        print_text=print_text,
    )


@group.command("discard")
@click.argument("job_ids", type=int, nargs=-1)
@discarding.filter_options
@click.option("--limit", type=click.IntRange(1, 100_000), default=1_000, show_default=True)
@click.option("--why", default="", help="Required; recorded in the audit log.")
@click.option("--dry-run", is_flag=True, help="Only count them, and show what they would leave undone.")
@click.option("--yes", is_flag=True, help="Discard by filter without a prompt.")
@output.json_option
def discard(
    *,
    job_ids: tuple[int, ...],
    filters: DeadFilters,
    limit: int,
    why: str,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete dead letters for good, by id or by filter, and show what they leave undone.

    By filter, the counts and sums per job name are shown first and must be confirmed.
    """
    discarding.check_selection(job_ids, filters)
    if not dry_run and not why.strip():
        raise click.UsageError("Missing option '--why': give a reason for the audit log.")
    if job_ids:
        discarding.discard_by_id(job_ids, why, dry_run=dry_run, as_json=as_json)
    else:
        discarding.discard_by_filter(filters, limit, why, dry_run=dry_run, is_confirmed=yes, as_json=as_json)


@group.command("pause")
@click.argument("queue", type=click.Choice(QUEUES))
@click.option("--why", default="")
@output.json_option
def pause(queue: str, why: str, as_json: bool) -> None:
    """Stop dispatching jobs of a queue; leased jobs finish, the others wait."""
    with output.operator_transaction():
        admin_queries.pause_queue(queue, why=why)
        audit_trail.record("queue.paused", {"queue": queue, "why": why}, about=queue)
    output.show(
        {"paused": queue},
        as_json=as_json,
        print_text=lambda: click.echo(f"{queue} is paused. Next: flask jobs resume {queue}"),
    )


@group.command("resume")
@click.argument("queue", type=click.Choice(QUEUES))
@output.json_option
def resume(queue: str, as_json: bool) -> None:
    """Dispatch jobs of a queue again."""
    with output.operator_transaction():
        admin_queries.resume_queue(queue)
        audit_trail.record("queue.resumed", {"queue": queue}, about=queue)
    output.show({"resumed": queue}, as_json=as_json, print_text=lambda: click.echo(f"{queue} runs."))


def _filter_dead(job_ids: Sequence[int]) -> list[int]:
    jobs = [admin_queries.any_org_find(job_id) for job_id in job_ids]
    return [job.id for job in jobs if job is not None and job.failed_at is not None]


def _serialize(job: JobRow) -> dict[str, object]:
    return {
        "id": job.id,
        "name": job.name,
        "queue": job.queue,
        "organization": str(job.organization_id) if job.organization_id else None,
        "arguments": dict(job.args),
        "attempts": f"{job.attempt} of {job.max_attempts}",
        "created_at": job.created_at.isoformat(),
        "run_at": job.run_at.isoformat(),
        "out_until": job.deadline.isoformat() if job.deadline else None,
        "failed_at": job.failed_at.isoformat() if job.failed_at else None,
        "error": job.last_error,
        "error_line": job.error_line,
        "waits_for": job.waits_for,
        "leaves": loss_json(job.leaves),
    }


def _format_minute(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else ""


def _format_second(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _short_reason(job: JobRow) -> str:
    return (job.waits_for or job.error_line or "")[:_MAX_REASON]
