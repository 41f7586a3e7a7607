"""`flask backup`: copies of the database to go back to, at any moment that the log between them reaches."""

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

group = AppGroup("backup", help="Copies of the database, and the log that leads on; SECRET_KEY is not in them.")

folder_argument = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))


@group.command("make")
@folder_argument
@output.json_option
def make(folder: Path, as_json: bool) -> None:
    """Copy the whole database into FOLDER while everything works, and compare the copy with its checksums."""
    with failing_in_a_line(), output.reaching_the_database():
        made = store.make(folder.resolve(), servers.urls().database_owner_url, tell=progress)
    output.show(shown(made), as_json=as_json, person=lambda: click.echo(f"{made.name}, {made.size_bytes >> 20} MB"))


def _end(*_: object) -> None:
    raise KeyboardInterrupt


@group.command("follow")
@folder_argument
def follow(folder: Path) -> None:
    """Receive the log into FOLDER until Ctrl-C, so that a restore can go to any moment after a copy."""
    for number in (signal.SIGINT, signal.SIGTERM):  # also of a supervisor that had Ctrl-C ignored
        signal.signal(number, _end)
    with suppress(KeyboardInterrupt), failing_in_a_line(), output.reaching_the_database():
        store.follow(folder.resolve(), servers.urls().database_owner_url, tell=progress)


@group.command("list")
@folder_argument
@output.json_option
def every(folder: Path, as_json: bool) -> None:
    """List the copies in FOLDER, newest first."""
    found = store.listed(folder.resolve())
    output.show(
        [shown(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("backup", "taken at", "MB"),
            [(one.name, one.taken_at, one.size_bytes >> 20) for one in found],
            empty="There is no backup. Next: flask backup make FOLDER",
        ),
    )


@group.command("verify")
@folder_argument
@click.argument("name", required=False)
@output.json_option
def verify(folder: Path, name: str | None, as_json: bool) -> None:
    """Compare every file of a copy (the newest, if none is named) with its checksum."""
    with failing_in_a_line():
        found = store.find(folder.resolve(), name)
        store.verify(found.path, tell=progress)
    output.show(shown(found), as_json=as_json, person=lambda: click.echo(f"{found.name} is whole"))


@group.command("prune")
@folder_argument
@click.option("--keep", type=click.IntRange(1, 10_000), required=True, help="How many copies stay.")
@output.json_option
def prune(folder: Path, keep: int, as_json: bool) -> None:
    """Remove all copies but the newest, and the log that none of those needs."""
    with failing_in_a_line():
        gone = store.prune(folder.resolve(), keep=keep)
    output.show(
        [shown(one) for one in gone],
        as_json=as_json,
        person=lambda: click.echo(f"Removed: {', '.join(one.name for one in gone) or 'nothing'}"),
    )


def shown(backup: Backup) -> dict[str, object]:
    """Return a copy as JSON."""
    return {
        "name": backup.name,
        "takenAt": backup.taken_at.isoformat(),
        "sizeBytes": backup.size_bytes,
        "path": str(backup.path),
    }


def progress(line: str) -> None:
    """Say on standard error how far it is."""
    click.echo(line, err=True)


@contextmanager
def failing_in_a_line() -> Iterator[None]:
    """Let what cannot be done be one line and exit status 1."""
    try:
        yield
    except (programs.ProgramFailed, store.NoSuchBackup, store.WrongServer, OSError) as error:
        raise click.ClickException(str(error)) from error
