"""`flask jobs`: queues and dead letters, for the operator at three in the morning."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import click
from flask.cli import AppGroup

from commands import output, trail
from domain.jobs import QUEUES
from domain.refused import Refused
from models.jobs import desk
from models.jobs.desk import JobRow
from pipelines.operating import queue_desk

group = AppGroup("jobs", help="Queues and dead letters.")


@group.command("queues")
@output.json_option
def queues(as_json: bool) -> None:
    """Show what waits, what is out, what is dead, and how many workers there are, per queue."""
    with output.every_tenant():
        standing = queue_desk.any_org_standing()
    columns = ("queue", "waiting", "retrying", "out", "dead", "oldest_s", "threads", "paused")
    rows = [
        (one.queue, one.waiting, one.retrying, one.out, one.dead, one.oldest_s, one.threads, one.paused_at is not None)
        for one in standing
    ]
    output.show(
        [dict(zip(columns, row, strict=True)) for row in rows],
        as_json=as_json,
        person=lambda: output.table(columns, [(*row[:-1], "PAUSED" if row[-1] else "") for row in rows], empty=""),
    )


@group.command("list")
@click.option("--state", type=click.Choice(desk.LIVING), help="Only these; without it all that are not dead.")
@click.option("--queue", type=click.Choice(QUEUES))
@click.option("--org", "organization", type=click.UUID)
@click.option("--name")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def living(
    *, state: str | None, queue: str | None, organization: UUID | None, name: str | None, limit: int, as_json: bool
) -> None:
    """List jobs that wait, come again or are with a worker, by when they are due, with their last error."""
    states = (state,) if state else desk.LIVING
    with output.every_tenant():
        listed = desk.any_org_living(states=states, queue=queue, organization_id=organization, name=name, limit=limit)
    output.show(
        [{**_as_json(job), "state": job.state} for job in listed],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "job", "organization", "state", "attempts", "due or out until", "error"),
            [
                (
                    job.id,
                    job.name,
                    job.organization_id,
                    job.state,
                    f"{job.attempt} of {job.max_attempts}",
                    _second(job.deadline or job.run_at),
                    _last_line(job),
                )
                for job in listed
            ],
            empty=f"No jobs are {' or '.join(states)}.",
        ),
    )


@group.command("dead")
@click.option("--queue", type=click.Choice(QUEUES))
@click.option("--org", "organization", type=click.UUID)
@click.option("--name")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def dead(queue: str | None, organization: UUID | None, name: str | None, limit: int, as_json: bool) -> None:
    """List dead letters, oldest first."""
    with output.every_tenant():
        listed = desk.any_org_dead(queue=queue, organization_id=organization, name=name, limit=limit)
    output.show(
        [_as_json(job) for job in listed],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "job", "organization", "attempts", "died", "error"),
            [
                (job.id, job.name, job.organization_id, job.attempt, _minute(job.failed_at), _last_line(job))
                for job in listed
            ],
            empty="No dead letters.",
        ),
    )


@group.command("show")
@click.argument("job_id", type=int)
@output.json_option
def show(job_id: int, as_json: bool) -> None:
    """Show one job: arguments, attempts, the error with its traceback."""
    with output.every_tenant():
        job = desk.any_org_find(job_id)
        if job is None:
            raise Refused(
                404, "not_found", f"There is no job {job_id}: it is done, or was discarded. Next: flask jobs dead"
            )
    found = job

    def person() -> None:
        for name, value in _as_json(found).items():
            if name != "error":
                click.echo(f"{name:15} {value}")
        click.echo(f"\n{found.last_error or 'No error so far.'}")
        if found.failed_at:
            click.echo(f"\nNext: flask jobs replay {found.id}   or   flask jobs discard {found.id} --why '...'")

    output.show(_as_json(job), as_json=as_json, person=person)


@group.command("replay")
@click.argument("job_ids", type=int, nargs=-1)
@click.option("--queue", type=click.Choice(QUEUES), help="Every dead letter of this queue.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=1_000, show_default=True)
@click.option("--dry-run", is_flag=True, help="Only say which.")
@output.json_option
def replay(job_ids: tuple[int, ...], queue: str | None, limit: int, dry_run: bool, as_json: bool) -> None:
    """Run dead letters again, with a fresh count of attempts."""
    if bool(job_ids) == bool(queue):
        raise click.UsageError("Name dead letters by id, or a whole --queue.")
    with output.every_tenant():
        wanted = list(job_ids)
        if queue:
            listed = desk.any_org_dead(queue=queue, organization_id=None, name=None, limit=limit)
            wanted = [job.id for job in listed]
        replayed = _dead_among(wanted) if dry_run else desk.any_org_replay(wanted)
        if replayed and not dry_run:
            trail.record("job.replayed", {"jobs": replayed}, about=replayed)
    untouched = sorted(set(wanted) - set(replayed))
    verb = "Would replay" if dry_run else "Replayed"

    def person() -> None:
        click.echo(f"{verb} {len(replayed)}: {' '.join(map(str, replayed)) or 'none'}")
        if untouched:
            click.echo(f"No dead letters: {' '.join(map(str, untouched))}")

    output.show(
        {"replayed": [] if dry_run else replayed, "would_replay": replayed if dry_run else [], "not_dead": untouched},
        as_json=as_json,
        person=person,
    )


@group.command("discard")
@click.argument("job_id", type=int)
@click.option("--why", required=True, help="Kept in the audit log.")
@output.json_option
def discard(job_id: int, why: str, as_json: bool) -> None:
    """Delete a dead letter for good."""
    with output.every_tenant():
        job = queue_desk.any_org_discard(job_id)
        trail.record(
            "job.discarded",
            {"why": why, "jobs": [job_id], "job": queue_desk.kept_of(job)},
            about=[job_id],
            organization_id=job.organization_id,
        )
    output.show(
        {"discarded": job_id}, as_json=as_json, person=lambda: click.echo(f"Discarded {job_id} ({job.name}): {why}")
    )


@group.command("pause")
@click.argument("queue", type=click.Choice(QUEUES))
@click.option("--why", default="")
@output.json_option
def pause(queue: str, why: str, as_json: bool) -> None:
    """Hand nothing more out of a queue; what is out finishes, the rest waits."""
    with output.every_tenant():
        desk.pause(queue, why=why)
        trail.record("queue.paused", {"queue": queue, "why": why}, about=queue)
    output.show(
        {"paused": queue},
        as_json=as_json,
        person=lambda: click.echo(f"{queue} is paused. Next: flask jobs resume {queue}"),
    )


@group.command("resume")
@click.argument("queue", type=click.Choice(QUEUES))
@output.json_option
def resume(queue: str, as_json: bool) -> None:
    """Hand out of a queue again."""
    with output.every_tenant():
        desk.resume(queue)
        trail.record("queue.resumed", {"queue": queue}, about=queue)
    output.show({"resumed": queue}, as_json=as_json, person=lambda: click.echo(f"{queue} runs."))


def _dead_among(job_ids: Sequence[int]) -> list[int]:
    found = [desk.any_org_find(job_id) for job_id in job_ids]
    return [job.id for job in found if job is not None and job.failed_at is not None]


def _as_json(job: JobRow) -> dict[str, object]:
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
    }


def _minute(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else ""


def _second(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _last_line(job: JobRow) -> str:
    lines = (job.last_error or "").strip().splitlines()
    return lines[-1][:120] if lines else ""
