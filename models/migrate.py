"""Brings the schema up to date: numbered SQL files, each applied once, in order. `models.schema.steps` applies one.

There are no down migrations: a mistake is corrected by the next file. Migrations run as the owner of the tables; the
service itself runs as the role finderfee_app, which the first migration creates. The table `migration` stores the
checksum of each applied file: if a file was edited afterwards, this database and a new one would have different
schemas.
"""

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from psycopg2 import errors

from models.db import db
from models.schema import owners, steps

_FOLDER = Path(__file__).parent / "migrations"
# The key of the advisory lock under which processes migrate one after the other.
_LOCK = 8_273_440_117
_LOCK_RETRY_S = 0.2
_NO_UPGRADE = (
    "This database was created before the first release and cannot be upgraded: start again with an empty database or, "
    "if DATABASE_URL is not set, stop Finderfee and delete the data folder (DATA_DIR, by default .data)."
)
_PRIVILEGES = (
    "create the database and its roles by deploy/roles.sql, as a superuser of PostgreSQL (docs/deploy/systemd.md);"
    " DATABASE_OWNER_URL is the role that owns the database."
)


@dataclass(frozen=True, slots=True)
class Migration:
    """A numbered file: whether it was applied, and whether it was edited afterwards."""

    name: str
    is_applied: bool
    is_changed: bool


def up(owner_url: str, report: steps.Reporter = lambda line: None) -> list[str]:
    """Apply the missing migrations in order and return their names. Any number of processes may call this at once.

    `report` receives a line about each wait and each slow statement. Raises steps.MigrationHalted if an applied file
    was changed or removed, if other sessions keep a table locked, or if the owner lacks a privilege.
    """
    try:
        return _apply_missing(owner_url, report)
    except errors.InsufficientPrivilege as error:
        hint = error.diag.message_hint or _PRIVILEGES
        raise steps.MigrationHalted(f"{error.diag.message_primary}. Next: {hint}") from error


def _apply_missing(owner_url: str, report: steps.Reporter) -> list[str]:
    applied = []
    with owners.connect(owner_url) as connection, connection.cursor() as cursor:
        _wait_for_lock(cursor, report)
        migrations = _list_migrations(cursor)
        _prepare(cursor)
        _refuse_changed([migration.name for migration in migrations if migration.is_changed])
        for migration in migrations:
            if not migration.is_applied:
                record = partial(_record, name=migration.name)
                steps.apply(connection, _text(migration.name), name=migration.name, record=record, report=report)
                applied.append(migration.name)
        cursor.execute("select pg_advisory_unlock(%s)", (_LOCK,))
    return applied


def status(owner_url: str) -> list[Migration]:
    """Return every migration of this version, in order.

    Raises steps.MigrationHalted if an applied file no longer exists.
    """
    with owners.connect(owner_url) as connection, connection.cursor() as cursor:
        return _list_migrations(cursor)


def list_missing() -> list[str]:
    """Return this version's migrations that the database of the current unit of work does not have.

    Raises steps.MigrationHalted if an applied file no longer exists.
    """
    if db.row("select to_regclass('public.migration')") == (None,):
        return names()
    known = {name for (name,) in db.run("select name from migration")}
    _refuse_removed(known)
    return [name for name in names() if name not in known]


def names() -> list[str]:
    """Return the names of this version's migrations, in order."""
    return sorted(path.stem for path in _FOLDER.glob("[0-9]*.sql"))


def _wait_for_lock(cursor: Any, report: steps.Reporter) -> None:
    """Wait until no other process migrates, and take the lock.

    It polls: a process that builds an index concurrently waits for all running statements to end, so one that blocked
    on its lock would cause a deadlock.
    """
    is_reported = False
    while True:
        cursor.execute("select pg_try_advisory_lock(%s)", (_LOCK,))
        if cursor.fetchone() == (True,):
            return
        if not is_reported:
            report("Another process is migrating this database; waiting for it to finish")
            is_reported = True
        time.sleep(_LOCK_RETRY_S)


def _prepare(cursor: Any) -> None:
    """Create the table of applied files, and store the checksums that an operator has set to null."""
    cursor.execute(
        "create table if not exists migration"
        " (name text primary key, applied_at timestamptz not null default now(), sha256 text)"
    )
    cursor.execute("select name from migration where sha256 is null")
    for (name,) in cursor.fetchall():
        if name in names():
            cursor.execute("update migration set sha256 = %s where name = %s", (_sha256(name), name))


def _list_migrations(cursor: Any) -> list[Migration]:
    cursor.execute("select to_regclass('public.migration')")
    known: dict[str, str | None] = {}
    if cursor.fetchone() != (None,):
        # A table from before checksums has no such column; that database is refused below.
        cursor.execute("select name, to_jsonb(migration) ->> 'sha256' from migration")
        known = dict(cursor.fetchall())
        _refuse_removed(known)
    return [
        Migration(name=name, is_applied=name in known, is_changed=known.get(name) not in (None, _sha256(name)))
        for name in names()
    ]


def _refuse_removed(applied: Iterable[str]) -> None:
    """Raise MigrationHalted if an applied file no longer exists. Names after our last one belong to a later release."""
    files = names()
    if any(name < files[-1] and name not in files for name in applied):
        raise steps.MigrationHalted(_NO_UPGRADE)


def _refuse_changed(changed: list[str]) -> None:
    if changed:
        raise steps.MigrationHalted(
            f"Changed after it was applied: {', '.join(changed)}. Next: restore the file from its release, and put the "
            "change into a new migration. If the database already matches the changed file, run: "
            f"update migration set sha256 = null where name = '{changed[0]}', and migrate again."
        )


def _record(cursor: Any, *, name: str) -> None:
    # Sent in one round trip, which makes it one transaction even outside of one. The grant is for /readyz, which lists
    # the applied migrations.
    cursor.execute(
        "insert into migration (name, sha256) values (%s, %s); grant select on migration to finderfee_app",
        (name, _sha256(name)),
    )


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text()


def _sha256(name: str) -> str:
    return hashlib.sha256((_FOLDER / f"{name}.sql").read_bytes()).hexdigest()
