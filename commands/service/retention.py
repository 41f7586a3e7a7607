"""`flask retention`: what is kept for how long, and how much of it is due."""

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output
from models.upkeep.expiry import MAX_COUNTED
from pipelines import retention
from pipelines.retention import RetentionStatus

group = AppGroup("retention", help="What is kept for how long.")


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """Show of every kind how long it is kept, what there is, what is due and what the last run ended."""
    with output.every_tenant():
        found = retention.any_org_status(now=clock.now())
    output.show(
        [_document(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("kind", "kept", "rows", "oldest", "due now", "last run", "ended"),
            [_line(one) for one in found],
            empty="Nothing has an end.",
        ),
    )


@group.command("run")
@click.option("--kind", "only", type=click.Choice(retention.list_kinds()), multiple=True, help="This kind alone.")
@output.json_option
def run(only: tuple[str, ...], as_json: bool) -> None:
    """End now what is due, slice by slice, beside the workers."""
    ended = {}
    for kind in only or retention.list_kinds():
        ended[kind] = _run_out(kind, is_quiet=as_json)
    output.show(ended, as_json=as_json, person=lambda: click.echo(f"{sum(ended.values())} rows ended"))


def _run_out(kind: str, *, is_quiet: bool) -> int:
    ended = 0
    with output.every_tenant():
        retention.stage_start(kind, now=clock.now())
    while True:
        with output.every_tenant():
            of_slice = retention.any_org_slice(kind, now=clock.now())
        ended += of_slice
        if of_slice and not is_quiet:
            click.echo(f"{kind}: {ended}")
        if of_slice < retention.SLICE:
            return ended


def _document(one: RetentionStatus) -> dict[str, object]:
    run = one.last_run
    return {
        "kind": one.kind,
        "days": one.days,
        "rows": one.counts.rows,
        "oldest": one.counts.oldest.isoformat() if one.counts.oldest else None,
        "due": one.counts.due,
        "counted_up_to": MAX_COUNTED,
        "last_run": {
            "started_at": run.started_at.isoformat(),
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
            "ended": run.ended,
        }
        if run
        else None,
    }


def _line(one: RetentionStatus) -> tuple[object, ...]:
    run, oldest = one.last_run, one.counts.oldest
    return (
        one.kind,
        f"{one.days} days" if one.days else "for ever",
        _number(one.counts.rows),
        f"{oldest:%Y-%m-%d}" if oldest else None,
        _number(one.counts.due),
        None if run is None else f"{run.finished_at:%Y-%m-%d %H:%M}" if run.finished_at else "goes on",
        run.ended if run else None,
    )


def _number(rows: int) -> str:
    return f"over {MAX_COUNTED:,}" if rows == MAX_COUNTED else f"{rows:,}"
