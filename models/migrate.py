"""Brings the schema up to date: numbered SQL files, each applied once, in order (`models/schema/steps.py`: how).

There is no way down: a mistake is mended by the next number. Runs as the owner of the tables; the service
itself runs as the role finderfee_app, which the first migration makes. The table `migration` keeps the checksum of
each file as it was applied: one that says something else now would mean another schema elsewhere than here.
"""

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from models.db import db
from models.schema import owners, steps

_FOLDER = Path(__file__).parent / "migrations"
# The advisory lock of migrations: two starts at once run one after the other.
_LOCK = 8_273_440_117
_TURN_S = 0.2
_NO_UPGRADE = (
    "This database was created before the first release and cannot be upgraded: start again with an empty database or, "
    "if DATABASE_URL is not set, stop Finderfee and delete the data folder (DATA_DIR, by default .data)."
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file, whether the database has it, and whether its text is another one since."""

    name: str
    is_applied: bool
    is_changed: bool


def up(owner_url: str, tell: steps.Tell = lambda line: None) -> list[str]:
    """Apply what is missing and return the names, in order. Safe to call from any number of processes.

    `tell` gets a line about whatever takes long. Raises steps.MigrationHalted where an applied file was changed or no
    longer exists, or tables stay locked by others.
    """
    applied = []
    with owners.connect(owner_url) as connection, connection.cursor() as cursor:
        _take_turn(cursor, tell)
        listed = _list_migrations(cursor)
        _prepare(cursor)
        _refuse_changed([migration.name for migration in listed if migration.is_changed])
        for migration in listed:
            if not migration.is_applied:
                record = partial(_record, name=migration.name)
                steps.apply(connection, _text(migration.name), name=migration.name, record=record, tell=tell)
                applied.append(migration.name)
        cursor.execute("select pg_advisory_unlock(%s)", (_LOCK,))
    return applied


def status(owner_url: str) -> list[Migration]:
    """Return every migration of this version, in order, and whether it was applied.

    Raises steps.MigrationHalted where one was applied that no longer exists.
    """
    with owners.connect(owner_url) as connection, connection.cursor() as cursor:
        return _list_migrations(cursor)


def list_missing() -> list[str]:
    """Return this version's migrations that the database of the current unit of work does not have.

    Raises steps.MigrationHalted where one was applied that no longer exists.
    """
    if db.row("select to_regclass('public.migration')") == (None,):
        return names()
    known = {name for (name,) in db.run("select name from migration")}
    _refuse_removed(known)
    return [name for name in names() if name not in known]


def names() -> list[str]:
    """Return the names of this version's migrations, in order."""
    return sorted(path.stem for path in _FOLDER.glob("[0-9]*.sql"))


def _take_turn(cursor: Any, tell: steps.Tell) -> None:
    """Wait until nobody else migrates; it asks again and again, since an index that is built concurrently waits for
    every statement that is under way, and so for one that waits for the lock of its builder."""
    is_told = False
    while True:
        cursor.execute("select pg_try_advisory_lock(%s)", (_LOCK,))
        if cursor.fetchone() == (True,):
            return
        if not is_told:
            tell("Another process migrates this database; waiting for it")
            is_told = True
        time.sleep(_TURN_S)


def _prepare(cursor: Any) -> None:
    """Create the table of applied files, and note the checksums that an operator has set to null."""
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
        # The column is missing where the table is older than checksums; such a database is refused below.
        cursor.execute("select name, to_jsonb(migration) ->> 'sha256' from migration")
        known = dict(cursor.fetchall())
        _refuse_removed(known)
    return [
        Migration(name=name, is_applied=name in known, is_changed=known.get(name) not in (None, _sha256(name)))
        for name in names()
    ]


def _refuse_removed(applied: Iterable[str]) -> None:
    """Raise MigrationHalted if a file that was applied no longer exists. Later names are those of a later release."""
    files = names()
    if any(name < files[-1] and name not in files for name in applied):
        raise steps.MigrationHalted(_NO_UPGRADE)


def _refuse_changed(changed: list[str]) -> None:
    if changed:
        raise steps.MigrationHalted(
            f"Changed after it was applied: {', '.join(changed)}. Next: put the file back as its release had it, and "
            "write what is to be changed as the next number. Where the database has what the file says now: "
            f"update migration set sha256 = null where name = '{changed[0]}', and migrate again."
        )


def _record(cursor: Any, *, name: str) -> None:
    # One round trip, so one transaction, also where there is none around it. The service says in /readyz which
    # migrations it sees.
    cursor.execute(
        "insert into migration (name, sha256) values (%s, %s); grant select on migration to finderfee_app",
        (name, _sha256(name)),
    )


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text()


def _sha256(name: str) -> str:
    return hashlib.sha256((_FOLDER / f"{name}.sql").read_bytes()).hexdigest()
