"""`flask jobs discard`: show what stays undone, then delete dead letters by id or by filter."""

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from commands import audit_trail, output
from domain.jobs import QUEUES
from domain.money import wording
from domain.refusals import Refused
from models.jobs import admin_queries
from models.jobs.admin_queries import DeadFilters, JobRow
from models.jobs.losses import UnfinishedWork
from pipelines.operating import discards
from pipelines.operating.discards import DiscardedKind, loss_json, summarize


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select dead letters; the command receives them as `filters`."""

    @click.option("--queue", type=click.Choice(QUEUES), help="Only this queue.")
    @click.option("--name", help="Only this job name, such as sale.settle.")
    @click.option("--org", "organization_id", type=click.UUID, help="Only this organization.")
    @click.option("--error", help="Only jobs whose error contains this text, in any case.")
    @functools.wraps(command)
    def command_with_filters(*, queue: Any, name: Any, organization_id: Any, error: Any, **rest: Any) -> None:
        command(filters=DeadFilters(queue, name, organization_id, error or None), **rest)

    return command_with_filters


def check_selection(job_ids: Sequence[int], filters: DeadFilters) -> None:
    """Raise UsageError unless dead letters are selected either by id or by a filter."""
    if bool(job_ids) == (filters != DeadFilters()):
        raise click.UsageError("Select dead letters by id, or with --queue, --name, --org or --error.")


def describe(job: JobRow) -> str:
    """Return one line about the work that discarding a job leaves undone."""
    if job.leaves is None:
        return "nothing undone: its work is done, or its subject no longer exists."
    return describe_leaves(job.leaves)


def describe_leaves(leaves: UnfinishedWork) -> str:
    """Return one line about undone work and how to do it after all."""
    about = [f"sale or event {output.clean_line(leaves.external_event_id)}"] if leaves.external_event_id else []
    if leaves.amount_cents is not None and leaves.currency:
        about.append(wording.format_money(leaves.amount_cents, leaves.currency))
    details = f" ({', '.join(about)})" if about else ""
    return f"{leaves.text}{details}. {leaves.remedy}"


def discard_by_id(job_ids: Sequence[int], why: str, *, dry_run: bool, as_json: bool) -> None:
    """Discard dead letters by their ids; none if one of them is not dead."""
    with output.operator_transaction():
        dead = [discards.any_org_lock_dead(job_id) for job_id in dict.fromkeys(job_ids)]
        if not dry_run:
            _discard(dead, why)

    def print_text() -> None:
        for job in dead:
            click.echo(f"Would discard {job.id} ({job.name})" if dry_run else f"Discarded {job.id} ({job.name}): {why}")
            if job.leaves:
                click.echo(f"Left undone: {describe(job)}")

    documents = [{"would_discard" if dry_run else "discarded": job.id, "leaves": loss_json(job.leaves)} for job in dead]
    output.show(documents[0] if len(documents) == 1 else documents, as_json=as_json, print_text=print_text)


def discard_by_filter(
    filters: DeadFilters, limit: int, why: str, *, dry_run: bool, is_confirmed: bool, as_json: bool
) -> None:
    """Discard the dead letters of a filter after their count is confirmed; none if they have changed by then."""
    with output.operator_transaction():
        planned = admin_queries.any_org_lock_dead(filters, limit=limit)
        more = admin_queries.any_org_count_dead(filters) - len(planned)
    kinds = summarize(planned)
    if not as_json:
        _print_kinds(kinds)
        if more > 0:
            click.echo(
                f"{more} more dead {'letter matches' if more == 1 else 'letters match'}: raise --limit to include them."
            )
    if not dry_run and planned:
        _confirm(len(planned), is_confirmed)
        with output.operator_transaction():
            _check_unchanged(planned, dead := admin_queries.any_org_lock_dead(filters, limit=limit))
            _discard(dead, why)
    ids = [job.id for job in planned]

    def print_text() -> None:
        verb = "Would discard" if dry_run else "Discarded"
        click.echo(f"{verb} {len(ids)}: {' '.join(map(str, ids)) or 'none'}")

    output.show(
        {
            "count": len(ids),
            "more": max(more, 0),
            "discarded": [] if dry_run else ids,
            "would_discard": ids if dry_run else [],
            "kinds": [_serialize_kind(kind) for kind in kinds],
        },
        as_json=as_json,
        print_text=print_text,
    )


def _discard(dead: Sequence[JobRow], why: str) -> None:
    discards.any_org_discard(dead)
    for job in dead:
        audit_trail.record(
            "job.discarded",
            {"why": why, "jobs": [job.id], "job": discards.audit_data(job)},
            about=[job.id],
            organization_id=job.organization_id,
        )


def _confirm(count: int, is_confirmed: bool) -> None:
    if is_confirmed:
        return
    if not _is_terminal():
        raise click.UsageError(
            f"{count} dead letters would be deleted for good. Check them with --dry-run, then add --yes."
        )
    typed = click.prompt("To discard them for good, type their number", err=True)
    if typed.strip() != str(count):
        raise click.ClickException("The number does not match. Nothing was discarded.")


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _check_unchanged(planned: Sequence[JobRow], dead: Sequence[JobRow]) -> None:
    if [job.id for job in planned] != [job.id for job in dead]:
        message = f"The dead letters have changed ({len(planned)} before, {len(dead)} now). Nothing was discarded."
        raise Refused(409, "count_mismatch", message)


def _print_kinds(kinds: Sequence[DiscardedKind]) -> None:
    output.table(
        ("job", "number", "about", "leaves"),
        [
            (
                kind.name,
                kind.count,
                ", ".join(wording.format_money(s.amount_cents, s.currency) for s in kind.sums),
                kind.leaves,
            )
            for kind in kinds
        ],
        empty="No dead letters.",
    )


def _serialize_kind(kind: DiscardedKind) -> dict[str, object]:
    return {
        "name": kind.name,
        "count": kind.count,
        "leaves": kind.leaves,
        "remedy": kind.remedy,
        "sums": [{"currency": total.currency, "amountCents": total.amount_cents} for total in kind.sums],
    }
