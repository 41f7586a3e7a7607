"""`flask restore`: restore the database to a point in time, and release payouts after a comparison with rails."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from flask.cli import AppGroup

import settings
from adapters import clock
from adapters.backups import recovery, store
from adapters.embedded import data_folder
from commands import audit_trail, output
from commands.service import listed_transfers, reconcile
from commands.service.backup import folder_argument, print_progress, reporting_failures, serialize
from commands.timestamps import parse_timestamp
from models.upkeep import known_servers
from pipelines.operating import restore_release
from pipelines.restores import completeness

group = AppGroup("restore", help="Restore to a point in time, and settle payouts afterwards.")


@group.command("run")
@folder_argument
@click.option(
    "--to", "to", type=parse_timestamp, metavar="MOMENT", help="The time to restore to. Without: the end of the log."
)
@click.option("--backup", "name", help="The backup to start from. Without: the newest before that time.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Prepare this folder for a server of your own.",
)
@output.json_option
def run(folder: Path, to: datetime | None, name: str | None, into: Path | None, as_json: bool) -> None:
    """Restore a backup in FOLDER into an empty DATA_DIR, and replay the log up to a time."""
    if into is None and settings.current().servers.database_url is not None:
        raise click.ClickException(
            "DATABASE_URL points to a server of your own. Nothing was changed. Next: name its data folder with --into."
        )
    with reporting_failures():
        backup = store.find(folder.resolve(), name, before=to)
        store.verify(backup.path, report=print_progress)
        if into is not None:
            _prepare(backup, into.resolve(), to)
        else:
            _restore(backup, to)
    where = into or settings.current().servers.data_dir
    done = f"Restored into {where}; payouts are held. Next: start the service, flask restore status"
    if into is not None:
        done = (
            f"Prepared in {where}. Next: start PostgreSQL there, as a user who may read {folder.resolve() / 'log'};"
            " it accepts connections when it has replayed the log. Then set DATABASE_URL to it: flask restore status"
        )
    output.show(
        {"backup": serialize(backup), "to": to and to.isoformat(), "into": str(where)},
        as_json=as_json,
        print_text=lambda: click.echo(done),
    )


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """Show whether payouts are held after a restore, and the payouts that wait, with their keys at the rails."""
    with output.operator_transaction():
        is_held, server, unsure = (
            not known_servers.is_known(),
            known_servers.read_server_name(),
            restore_release.any_org_list_waiting(),
        )
        cleanness = completeness.any_org_check(restored_to=None)

    def print_text() -> None:
        click.echo(f"{server}: payouts and deals are {'HELD' if is_held else 'not held'}")
        output.table(
            ("payout", "affiliate", "US cents", "method", "key at the rail"),
            [(row.payout_id, row.affiliate_id, row.amount_cents, row.method, row.key) for row in unsure],
            empty="No payout waits to be sent.",
        )
        reconcile.print_cleanness(cleanness, is_held=is_held)
        if is_held:
            click.echo("Next: the runbook, After a restore")

    output.show(
        {
            "server": server,
            "held": is_held,
            "waiting": [asdict(payout) for payout in unsure],
            **reconcile.serialize_cleanness(cleanness),
        },
        as_json=as_json,
        print_text=print_text,
    )


@group.command("release")
@click.option(
    "--restored-to",
    type=parse_timestamp,
    metavar="MOMENT",
    required=True,
    help="The time that the books were restored to.",
)
@click.option("--why", required=True, help="The reason, for the audit log.")
@click.option(
    "--without-reconcile",
    is_flag=True,
    help="Release without a comparison: transfers missing in the books are paid again.",
)
@output.json_option
def release(restored_to: datetime, why: str, without_reconcile: bool, as_json: bool) -> None:
    """Release payouts and deals, once a reconcile is clean.

    A payout that may have been sent before is looked up at its rail by its key first.
    """
    reconcile.check_past(restored_to)
    with output.operator_transaction():
        released = restore_release.any_org_release(
            restored_to=restored_to, is_compared=not without_reconcile, by="flask", now=clock.now()
        )
        result = {
            "restoredTo": restored_to.isoformat(),
            "why": why,
            "withoutReconcile": without_reconcile,
            "lookedUp": released.looked_up,
            "letGo": released.voided,
        }
        audit_trail.record("restore.released", result, about=known_servers.read_server_name())
    output.show(
        result,
        as_json=as_json,
        print_text=lambda: click.echo(
            f"Payouts are released; {released.looked_up} of them are looked up at their rail first, and"
            f" {released.voided} were dropped, to be netted with transfers made before the restore."
        ),
    )


for _command in (reconcile.reconcile, *listed_transfers.COMMANDS):
    group.add_command(_command)


def _restore(backup: store.Backup, to: datetime | None) -> None:
    try:
        recovery.restore(backup, settings.current().servers.data_dir, to=to, report=print_progress)
    except data_folder.ServerNotStarted as failure:
        raise click.ClickException(f"{failure.problem}\n{failure.advice}") from failure


def _prepare(backup: store.Backup, into: Path, to: datetime | None) -> None:
    if into.exists() and any(into.iterdir()):
        raise click.ClickException(f"{into} is not empty. Nothing was changed.")
    recovery.prepare(backup, into, to=to, report=print_progress)
