"""A folder of backups: base copies of the database, each with its manifest, and the log that leads on from them.

FOLDER/base/20260504T120000Z    a copy as PostgreSQL's pg_basebackup makes it, whole or not there, by when it was done
FOLDER/log                      the log as `follow` receives it, segment by segment
FOLDER/server                   which server's they are
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.backups import programs
from adapters.embedded import places

_NAME = "%Y%m%dT%H%M%SZ"
_DRAFT = ".draft"
_LOCK = "copying.lock"
_SLOT = "finderfee_backup"


class NoSuchBackup(Exception):
    """There is no backup of that name, or none at all."""


class WrongServer(Exception):
    """The folder has another server's backups."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A whole copy: it leads to any moment after it was taken that the log reaches."""

    name: str
    taken_at: datetime
    size_bytes: int
    path: Path


def make(folder: Path, owner_url: str, *, tell: Callable[[str], None]) -> Backup:
    """Copy the whole server by its replication protocol while it works.

    Raises ProgramFailed, WrongServer, OSError.
    """
    server = _ask(owner_url)
    programs.need(server.major)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with places.exclusive(folder / _LOCK):
        _claim(folder, server)
        bases = folder / "base"
        bases.mkdir(exist_ok=True, mode=0o700)
        _sweep(bases)
        draft = bases / f"{server.now.strftime(_NAME)}{_DRAFT}"
        try:
            programs.run(
                ["pg_basebackup", "-d", owner_url, "-D", str(draft), "-X", "stream", "-c", "fast", "-P", "-v"],
                tell=tell,
            )
            # No moment before its end can be reached with it; moments are by the server's clock.
            server = _ask(owner_url)
            name = server.now.strftime(_NAME)
            verify(draft, tell=tell)
            draft.rename(bases / name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    if not (server.is_followed and (folder / "log").is_dir()):
        tell("nobody receives the log (flask backup follow): this copy leads to the moment of its end alone")
    return find(folder, name)


def verify(path: Path, *, tell: Callable[[str], None]) -> None:
    """Compare every file of a copy with its checksum in the manifest. Raises ProgramFailed, OSError."""
    programs.need(int((path / "PG_VERSION").read_text()))
    programs.run(["pg_verifybackup", "-e", str(path)], tell=tell)


def listed(folder: Path) -> list[Backup]:
    """Return the copies, newest first."""
    found = [one for one in (folder / "base").glob("*Z") if (one / "backup_manifest").is_file()]
    return sorted(map(_read, found), key=lambda one: one.taken_at, reverse=True)


def find(folder: Path, name: str | None, *, before: datetime | None = None) -> Backup:
    """Return a copy by name, or the newest that was taken before a moment. Raises NoSuchBackup."""
    for one in listed(folder):
        if one.name == name or (name is None and (before is None or one.taken_at <= before)):
            return one
    raise NoSuchBackup(f"{folder} has no backup {name or (f'from before {before}' if before else '')}".rstrip())


def prune(folder: Path, *, keep: int) -> list[Backup]:
    """Remove all copies but the newest `keep`, and the log from before the oldest that stays; return what went.

    Raises NoSuchBackup where there never was one, OSError. Waits while a copy is being made. One that is killed leaves
    nothing behind that looks like a whole copy.
    """
    if not (folder / "base").is_dir():
        raise NoSuchBackup(f"{folder} has no backups")
    with places.exclusive(folder / _LOCK):
        stay, go = listed(folder)[:keep], listed(folder)[keep:]
        for one in go:
            one.path.rename(one.path.with_suffix(_DRAFT))
        _sweep(folder / "base")
        if stay:
            first = _first_segment(stay[-1].path)
            for segment in (folder / "log").glob("*"):
                # Segments are called by their timeline and their place; a place is older on whatever timeline.
                if len(segment.name) >= 24 and segment.name[8:24] < first[8:24]:
                    segment.unlink()
    return go


def follow(folder: Path, owner_url: str, *, tell: Callable[[str], None]) -> None:
    """Receive the log until told to end. The server keeps for us what we have not received: see the runbook.

    Raises ProgramFailed, WrongServer, OSError.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _claim(folder, _ask(owner_url))
    log = folder / "log"
    log.mkdir(exist_ok=True, mode=0o700)
    place = ["-d", owner_url, "-S", _SLOT]
    programs.run(["pg_receivewal", *place, "--create-slot", "--if-not-exists"], tell=tell)
    receive = ["pg_receivewal", *place, "-D", str(log), "-v", "--synchronous", "--no-loop"]  # a supervisor loops
    try:
        programs.run(receive, tell=tell)
    except programs.ProgramFailed as failure:
        if "not in this server's history" not in str(failure):
            raise
        raise WrongServer(
            f"{folder} has the log of a future that this server forgot when it was restored; follow into a new folder,"
            " and make a copy there"
        ) from failure


@dataclass(frozen=True, slots=True)
class _Server:
    """A server by what no other has, its major version, and its clock; whether `follow` receives its log."""

    identifier: str
    major: int
    now: datetime
    is_followed: bool


def _ask(owner_url: str) -> _Server:
    asked = (
        "select system_identifier, current_setting('server_version_num')::int / 10000,"
        " extract(epoch from clock_timestamp()),"
        f" exists (select from pg_replication_slots where slot_name = '{_SLOT}' and active) from pg_control_system()"
    )
    said: list[str] = []
    programs.run(["psql", "-XAt", "-F", " ", "-d", owner_url, "-c", asked], tell=said.append)
    identifier, major, seconds, is_followed = said[-1].split()
    return _Server(identifier, int(major), datetime.fromtimestamp(float(seconds), UTC), is_followed == "t")


def _claim(folder: Path, server: _Server) -> None:
    """Write down whose backups the folder has. Segments of two servers have the same names."""
    kept = folder / "server"
    if not kept.exists():
        kept.write_text(server.identifier)
    if kept.read_text() != server.identifier:
        raise WrongServer(f"{folder} has the backups of another server; name a new folder. Nothing was changed.")


def _sweep(bases: Path) -> None:
    """Remove what a process left behind that was killed while it made or removed a copy."""
    for left in bases.glob(f"*{_DRAFT}"):
        shutil.rmtree(left)


def _read(path: Path) -> Backup:
    taken_at = datetime.strptime(path.name, _NAME).replace(tzinfo=UTC)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return Backup(path.name, taken_at, size, path)


def _first_segment(path: Path) -> str:
    """Return the segment of the log that a copy begins with: START WAL LOCATION: 0/2000028 (file 00000001…)."""
    label = (path / "backup_label").read_text()
    return label.partition("(file ")[2].partition(")")[0]
