"""`flask restore`: back to a moment, and payouts on their way again once they were compared with the rails."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from flask.cli import AppGroup

import settings
from adapters import clock
from adapters.backups import restoring, store
from adapters.embedded import places
from commands import output, trail
from commands.moments import moment
from commands.service import listed_transfers, reconcile
from commands.service.backup import failing_in_a_line, folder_argument, progress, shown
from models.upkeep import known_servers
from pipelines.operating import restore_release
from pipelines.restores import completeness

group = AppGroup("restore", help="Back to a moment, and what has to be settled afterwards.")


@group.command("run")
@folder_argument
@click.option("--to", "to", type=moment, help="The moment to go back to. Without: the end of the log.")
@click.option("--backup", "name", help="The copy to begin with. Without: the newest that was taken before.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Prepare this folder for a server of your own.",
)
@output.json_option
def run(folder: Path, to: datetime | None, name: str | None, into: Path | None, as_json: bool) -> None:
    """Restore a copy of FOLDER into an empty DATA_DIR, and replay the log up to a moment."""
    if into is None and settings.current().servers.database_url is not None:
        raise click.ClickException(
            "DATABASE_URL leads to a server of your own: say with --into where it is to be. Nothing was changed."
        )
    with failing_in_a_line():
        found = store.find(folder.resolve(), name, before=to)
        store.verify(found.path, tell=progress)
        if into is not None:
            _prepare(found, into.resolve(), to)
        else:
            _restore(found, to)
    where = into or settings.current().servers.data_dir
    done = f"Restored into {where}; payouts are held. Next: start the service, flask restore status"
    if into is not None:
        done = (
            f"Prepared in {where}. Next: start PostgreSQL there, as a user who may read {folder.resolve() / 'log'};"
            " it takes sessions when it has replayed the log. Then lead DATABASE_URL to it: flask restore status"
        )
    output.show(
        {"backup": shown(found), "to": to and to.isoformat(), "into": str(where)},
        as_json=as_json,
        person=lambda: click.echo(done),
    )


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """Say whether payouts are held because the database was restored, and which wait, with the key that rails know."""
    with output.every_tenant():
        is_held, server, unsure = (
            not known_servers.is_known(),
            known_servers.read_server_name(),
            restore_release.any_org_list_waiting(),
        )
        cleanness = completeness.any_org_check(restored_to=None)

    def person() -> None:
        click.echo(f"{server}: payouts and deals are {'HELD' if is_held else 'not held'}")
        output.table(
            ("payout", "affiliate", "US cents", "method", "key at the rail"),
            [(one.payout_id, one.affiliate_id, one.amount_cents, one.method, one.key) for one in unsure],
            empty="No payout waits to be sent.",
        )
        reconcile.print_cleanness(cleanness, is_held=is_held)
        if is_held:
            click.echo("Next: the runbook, After a restore")

    output.show(
        {
            "server": server,
            "held": is_held,
            "waiting": [asdict(one) for one in unsure],
            **reconcile.cleanness_as_json(cleanness),
        },
        as_json=as_json,
        person=person,
    )


@group.command("release")
@click.option("--restored-to", type=moment, required=True, help="The moment whose books these are.")
@click.option("--why", required=True, help="What was compared, for the audit log.")
@click.option(
    "--without-reconcile", is_flag=True, help="Although payments were not compared: what was forgotten is paid again."
)
@output.json_option
def release(restored_to: datetime, why: str, without_reconcile: bool, as_json: bool) -> None:
    """Let payouts and deals go on, once a reconcile is clean.

    What could be sent at that time is looked up at its rail by its key first.
    """
    reconcile.check_past(restored_to)
    with output.every_tenant():
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
        trail.record("restore.released", result, about=known_servers.read_server_name())
    output.show(
        result,
        as_json=as_json,
        person=lambda: click.echo(
            f"Payouts go on; {released.looked_up} of them are looked up at their rail first, and {released.voided} were"
            " let go of, to be netted with what was paid before the restore."
        ),
    )


for _command in (reconcile.reconcile, *listed_transfers.COMMANDS):
    group.add_command(_command)


def _restore(found: store.Backup, to: datetime | None) -> None:
    try:
        restoring.restore(found, settings.current().servers.data_dir, to=to, tell=progress)
    except places.DidNotStart as failure:
        raise click.ClickException(f"{failure.what}\n{failure.advice}") from failure


def _prepare(found: store.Backup, into: Path, to: datetime | None) -> None:
    if into.exists() and any(into.iterdir()):
        raise click.ClickException(f"{into} is not empty. Nothing was changed.")
    restoring.prepare(found, into, to=to, tell=progress)
