"""Brings the schema up to date: numbered SQL files, each applied once, in order, in one transaction with its record.

There is no way down: a mistake is mended by the next number. Runs as the owner of the tables; the service
itself runs as the role finderfee_app, which the first migration makes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2
from peewee import OperationalError

from models.db import db

_FOLDER = Path(__file__).parent / "migrations"
# Two starts at once take turns here; the number only has to be ours.
_LOCK = 8_273_440_117


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file and whether the database has it."""

    name: str
    is_applied: bool


def up(owner_url: str) -> list[str]:
    """Apply what is missing and return the names, in order. Safe to call from any number of processes."""
    applied = []
    with _connection(owner_url) as connection, connection.cursor() as cursor:
        cursor.execute("select pg_advisory_lock(%s)", (_LOCK,))
        cursor.execute(
            "create table if not exists migration"
            " (name text primary key, applied_at timestamptz not null default now())"
        )
        for migration in _listed(cursor):
            if not migration.is_applied:
                _apply(cursor, migration.name)
                applied.append(migration.name)
        cursor.execute("select pg_advisory_unlock(%s)", (_LOCK,))
    return applied


def status(owner_url: str) -> list[Migration]:
    """Return every migration of this version, in order, and whether it was applied."""
    with _connection(owner_url) as connection, connection.cursor() as cursor:
        return _listed(cursor)


def missing() -> list[str]:
    """Return this version's migrations that the database of the current unit of work does not have."""
    if db.row("select to_regclass('public.migration')") == (None,):
        return names()
    known = {name for (name,) in db.run("select name from migration")}
    return [name for name in names() if name not in known]


def names() -> list[str]:
    """Return the names of this version's migrations, in order."""
    return sorted(path.stem for path in _FOLDER.glob("[0-9]*.sql"))


def _listed(cursor: Any) -> list[Migration]:
    cursor.execute("select to_regclass('public.migration')")
    known = set()
    if cursor.fetchone() != (None,):
        cursor.execute("select name from migration")
        known = {name for (name,) in cursor.fetchall()}
    return [Migration(name=name, is_applied=name in known) for name in names()]


def _apply(cursor: Any, name: str) -> None:
    cursor.execute("begin")
    try:
        cursor.execute((_FOLDER / f"{name}.sql").read_text())
        cursor.execute("insert into migration (name) values (%s)", (name,))
        # The service says in /readyz which migrations it sees.
        cursor.execute("grant select on migration to finderfee_app")
        cursor.execute("commit")
    except psycopg2.Error:
        cursor.execute("rollback")
        raise


@contextmanager
def _connection(owner_url: str) -> Iterator[Any]:
    try:
        connection = psycopg2.connect(owner_url, connect_timeout=5)
    except psycopg2.OperationalError as error:
        raise OperationalError(str(error)) from error  # one of db.UNAVAILABLE, as from the service's own connections
    connection.autocommit = True
    try:
        yield connection
    finally:
        connection.close()
