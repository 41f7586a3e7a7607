"""A folder of backups: base backups of the database, each with its manifest, and the write-ahead log since them.

FOLDER/base/20260504T120000Z    a backup by pg_basebackup, complete or absent, named by the time it was finished
FOLDER/log                      the log as `follow` receives it, segment by segment
FOLDER/server                   the identifier of their server
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.backups import programs
from adapters.embedded import data_folder

_NAME_FORMAT = "%Y%m%dT%H%M%SZ"
_DRAFT = ".draft"
_LOCK = "copying.lock"
_SLOT = "finderfee_backup"


class NoSuchBackup(Exception):
    """There is no such backup."""


class WrongServer(Exception):
    """The folder has backups of another server."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A complete backup; with the log it can be restored to any later time."""

    name: str
    taken_at: datetime
    size_bytes: int
    path: Path


def create(folder: Path, owner_url: str, *, report: Callable[[str], None]) -> Backup:
    """Back up the whole server by its replication protocol while it runs.

    Raises ProgramFailed, WrongServer, OSError.
    """
    server = _query_server(owner_url)
    programs.require_version(server.major)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with data_folder.exclusive_lock(folder / _LOCK):
        _claim(folder, server)
        bases = folder / "base"
        bases.mkdir(exist_ok=True, mode=0o700)
        _delete_drafts(bases)
        draft = bases / f"{server.now.strftime(_NAME_FORMAT)}{_DRAFT}"
        try:
            programs.run(
                ["pg_basebackup", "-d", owner_url, "-D", str(draft), "-X", "stream", "-c", "fast", "-P", "-v"],
                report=report,
            )
            # It cannot be restored to a time before its end, by the server's clock.
            server = _query_server(owner_url)
            name = server.now.strftime(_NAME_FORMAT)
            verify(draft, report=report)
            draft.rename(bases / name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    if not (server.is_followed and (folder / "log").is_dir()):
        report("the log is not being received (flask backup follow): this backup restores only to its own end")
    return find(folder, name)


def verify(path: Path, *, report: Callable[[str], None]) -> None:
    """Verify every file of a backup by its checksum in the manifest. Raises ProgramFailed, OSError."""
    programs.require_version(int((path / "PG_VERSION").read_text()))
    programs.run(["pg_verifybackup", "-e", str(path)], report=report)


def list_backups(folder: Path) -> list[Backup]:
    """Return the backups, newest first."""
    paths = [path for path in (folder / "base").glob("*Z") if (path / "backup_manifest").is_file()]
    return sorted(map(_read, paths), key=lambda backup: backup.taken_at, reverse=True)


def find(folder: Path, name: str | None, *, before: datetime | None = None) -> Backup:
    """Return a backup by name, or the newest before a time. Raises NoSuchBackup."""
    for backup in list_backups(folder):
        if backup.name == name or (name is None and (before is None or backup.taken_at <= before)):
            return backup
    raise NoSuchBackup(f"{folder} has no backup {name or (f'from before {before}' if before else '')}".rstrip())


def prune(folder: Path, *, keep: int) -> list[Backup]:
    """Delete all but the newest `keep` backups, and the log before the oldest that stays; return the deleted ones.

    Waits while a backup is being made. If it is killed, nothing remains that looks like a complete backup. Raises
    NoSuchBackup if the folder has none, OSError.
    """
    if not (folder / "base").is_dir():
        raise NoSuchBackup(f"{folder} has no backups")
    with data_folder.exclusive_lock(folder / _LOCK):
        backups = list_backups(folder)
        remaining, expired = backups[:keep], backups[keep:]
        for backup in expired:
            backup.path.rename(backup.path.with_suffix(_DRAFT))
        _delete_drafts(folder / "base")
        if remaining:
            first = _first_segment(remaining[-1].path)
            for segment in (folder / "log").glob("*"):
                # A segment's name is its timeline and its position; lower positions are older on every timeline.
                if len(segment.name) >= 24 and segment.name[8:24] < first[8:24]:
                    segment.unlink()
    return expired


def follow(folder: Path, owner_url: str, *, report: Callable[[str], None]) -> None:
    """Receive the log until interrupted. The server retains what has not been received: see the runbook.

    Raises ProgramFailed, WrongServer, OSError.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _claim(folder, _query_server(owner_url))
    log = folder / "log"
    log.mkdir(exist_ok=True, mode=0o700)
    source = ["-d", owner_url, "-S", _SLOT]
    programs.run(["pg_receivewal", *source, "--create-slot", "--if-not-exists"], report=report)
    receive = ["pg_receivewal", *source, "-D", str(log), "-v", "--synchronous", "--no-loop"]  # a supervisor restarts it
    try:
        programs.run(receive, report=report)
    except programs.ProgramFailed as failure:
        if "not in this server's history" not in str(failure):
            raise
        raise WrongServer(
            f"{folder} has log from after the time that this server was restored to. Next: follow into a new folder,"
            " and make a backup there"
        ) from failure


@dataclass(frozen=True, slots=True)
class _Server:
    """A server: its unique identifier, major version and clock; whether `follow` receives its log."""

    identifier: str
    major: int
    now: datetime
    is_followed: bool


def _query_server(owner_url: str) -> _Server:
    query = (
        "select system_identifier, current_setting('server_version_num')::int / 10000,"
        " extract(epoch from clock_timestamp()),"
        f" exists (select from pg_replication_slots where slot_name = '{_SLOT}' and active) from pg_control_system()"
    )
    output: list[str] = []
    programs.run(["psql", "-XAt", "-F", " ", "-d", owner_url, "-c", query], report=output.append)
    identifier, major, seconds, is_followed = output[-1].split()
    return _Server(identifier, int(major), datetime.fromtimestamp(float(seconds), UTC), is_followed == "t")


def _claim(folder: Path, server: _Server) -> None:
    """Record the folder's server, and raise WrongServer for another one: its segments would have the same names."""
    path = folder / "server"
    if not path.exists():
        path.write_text(server.identifier)
    if path.read_text() != server.identifier:
        raise WrongServer(f"{folder} has the backups of another server. Nothing was changed. Next: use a new folder.")


def _delete_drafts(bases: Path) -> None:
    """Delete incomplete backups that a killed process left."""
    for draft in bases.glob(f"*{_DRAFT}"):
        shutil.rmtree(draft)


def _read(path: Path) -> Backup:
    taken_at = datetime.strptime(path.name, _NAME_FORMAT).replace(tzinfo=UTC)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return Backup(path.name, taken_at, size, path)


def _first_segment(path: Path) -> str:
    """Return the first log segment of a backup, from its line START WAL LOCATION: 0/2000028 (file 00000001…)."""
    label = (path / "backup_label").read_text()
    return label.partition("(file ")[2].partition(")")[0]
