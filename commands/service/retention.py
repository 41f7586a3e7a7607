"""`flask retention`: retention periods, and the rows that are due."""

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output
from models.upkeep.expiry import MAX_COUNTED
from pipelines import retention
from pipelines.retention import RetentionStatus

group = AppGroup("retention", help="Retention periods of rows.")


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """Show the retention period, the rows, the rows due and the last run of every kind."""
    with output.operator_transaction():
        kinds = retention.any_org_status(now=clock.now())
    output.show(
        [_serialize(kind) for kind in kinds],
        as_json=as_json,
        print_text=lambda: output.table(
            ("kind", "kept", "rows", "oldest", "due now", "last run", "ended"),
            [_build_row(kind) for kind in kinds],
            empty="Nothing has a retention period.",
        ),
    )


@group.command("run")
@click.option("--kind", "kinds", type=click.Choice(retention.list_kinds()), multiple=True, help="Only this kind.")
@output.json_option
def run(kinds: tuple[str, ...], as_json: bool) -> None:
    """Delete or redact due rows now, in slices, while workers run."""
    expired = {}
    for kind in kinds or retention.list_kinds():
        expired[kind] = _expire_due(kind, is_quiet=as_json)
    output.show(expired, as_json=as_json, print_text=lambda: click.echo(f"{sum(expired.values())} rows expired"))


def _expire_due(kind: str, *, is_quiet: bool) -> int:
    expired = 0
    with output.operator_transaction():
        retention.stage_start(kind, now=clock.now())
    while True:
        with output.operator_transaction():
            slice_rows = retention.any_org_slice(kind, now=clock.now())
        expired += slice_rows
        if slice_rows and not is_quiet:
            click.echo(f"{kind}: {expired}")
        if slice_rows < retention.SLICE:
            return expired


def _serialize(kind: RetentionStatus) -> dict[str, object]:
    run = kind.last_run
    return {
        "kind": kind.kind,
        "days": kind.days,
        "rows": kind.counts.rows,
        "oldest": kind.counts.oldest.isoformat() if kind.counts.oldest else None,
        "due": kind.counts.due,
        "counted_up_to": MAX_COUNTED,
        "last_run": {
            "started_at": run.started_at.isoformat(),
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
            "ended": run.ended,
        }
        if run
        else None,
    }


def _build_row(kind: RetentionStatus) -> tuple[object, ...]:
    run, oldest = kind.last_run, kind.counts.oldest
    return (
        kind.kind,
        f"{kind.days} days" if kind.days else "for ever",
        _format_count(kind.counts.rows),
        f"{oldest:%Y-%m-%d}" if oldest else None,
        _format_count(kind.counts.due),
        None if run is None else f"{run.finished_at:%Y-%m-%d %H:%M}" if run.finished_at else "running",
        run.ended if run else None,
    )


def _format_count(rows: int) -> str:
    return f"over {MAX_COUNTED:,}" if rows == MAX_COUNTED else f"{rows:,}"
