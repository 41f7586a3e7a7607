"""`flask backup`: base backups of the database, and the write-ahead log for point-in-time recovery."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from flask.cli import AppGroup

from adapters import servers
from adapters.backups import programs, store
from adapters.backups.store import Backup
from commands import output

group = AppGroup("backup", help="Backups of the database and of its log; they do not contain SECRET_KEY.")

folder_argument = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))


@group.command("make")
@folder_argument
@output.json_option
def make(folder: Path, as_json: bool) -> None:
    """Back up the whole database into FOLDER while it is in use, and verify the checksums of the backup."""
    with reporting_failures(), output.reporting_database_errors():
        backup = store.create(folder.resolve(), servers.urls().database_owner_url, report=print_progress)
    output.show(
        serialize(backup),
        as_json=as_json,
        print_text=lambda: click.echo(f"{backup.name}, {backup.size_bytes >> 20} MB"),
    )


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@group.command("follow")
@folder_argument
def follow(folder: Path) -> None:
    """Receive the log into FOLDER until Ctrl-C, for a restore to any time after a backup."""
    for number in (signal.SIGINT, signal.SIGTERM):  # also under a supervisor that ignores Ctrl-C
        signal.signal(number, _interrupt)
    with suppress(KeyboardInterrupt), reporting_failures(), output.reporting_database_errors():
        store.follow(folder.resolve(), servers.urls().database_owner_url, report=print_progress)


@group.command("list")
@folder_argument
@output.json_option
def list_backups(folder: Path, as_json: bool) -> None:
    """List the backups in FOLDER, newest first."""
    backups = store.list_backups(folder.resolve())
    output.show(
        [serialize(backup) for backup in backups],
        as_json=as_json,
        print_text=lambda: output.table(
            ("backup", "taken at", "MB"),
            [(backup.name, backup.taken_at, backup.size_bytes >> 20) for backup in backups],
            empty="There is no backup. Next: flask backup make FOLDER",
        ),
    )


@group.command("verify")
@folder_argument
@click.argument("name", required=False)
@output.json_option
def verify(folder: Path, name: str | None, as_json: bool) -> None:
    """Verify the checksum of every file of a backup (the newest without NAME)."""
    with reporting_failures():
        backup = store.find(folder.resolve(), name)
        store.verify(backup.path, report=print_progress)
    output.show(serialize(backup), as_json=as_json, print_text=lambda: click.echo(f"{backup.name} is complete"))


@group.command("prune")
@folder_argument
@click.option("--keep", type=click.IntRange(1, 10_000), required=True, help="How many backups stay.")
@output.json_option
def prune(folder: Path, keep: int, as_json: bool) -> None:
    """Delete all but the newest backups, and the log that none of those needs."""
    with reporting_failures():
        deleted = store.prune(folder.resolve(), keep=keep)
    output.show(
        [serialize(backup) for backup in deleted],
        as_json=as_json,
        print_text=lambda: click.echo(f"Deleted: {', '.join(backup.name for backup in deleted) or 'nothing'}"),
    )


def serialize(backup: Backup) -> dict[str, object]:
    """Return a backup as JSON."""
    return {
        "name": backup.name,
        "takenAt": backup.taken_at.isoformat(),
        "sizeBytes": backup.size_bytes,
        "path": str(backup.path),
    }


def print_progress(line: str) -> None:
    """Print a progress line on standard error."""
    click.echo(line, err=True)


@contextmanager
def reporting_failures() -> Iterator[None]:
    """Turn failures of a backup or a restore into one line and exit status 1."""
    try:
        yield
    except (programs.ProgramFailed, store.NoSuchBackup, store.WrongServer, OSError) as error:
        raise click.ClickException(str(error)) from error
