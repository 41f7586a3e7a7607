"""The migrations on a separate database, and the row classes compared with the migrated tables."""

import dataclasses
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import psycopg2
import pytest

import models
from models import db, migrate
from models.schema import steps
from models.table import Table
from tests.support import databases

# Names of migrations before the first release.
_REMOVED = ["0001_tenancy", "0002_programs", "0003_conversions"]
_UP = "import json, sys; from models import migrate; print(json.dumps(migrate.up(sys.argv[1])))"


def test_concurrent_processes_apply_each_migration_once(empty_database):
    command = [sys.executable, "-c", _UP, empty_database]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]

    applied = [json.loads(process.communicate(timeout=250)[0]) for process in processes]

    assert sorted(len(names) for names in applied) == [0, 0, len(migrate.names())]
    assert sorted(name for names in applied for name in names) == migrate.names()
    assert all(migration.is_applied for migration in migrate.status(empty_database))


def test_service_may_create_temporary_tables_even_if_public_may_not(empty_database):
    name = empty_database.partition("?")[0].rpartition("/")[2]
    databases.run_as_owner(empty_database, f"revoke temporary on database {name} from public")

    migrate.up(empty_database)

    query = "select has_database_privilege('finderfee_app', current_database(), 'temporary')"
    assert databases.select_as_owner(empty_database, query) == [(True,)]


def test_migration_without_the_right_to_grant_hints_at_the_grant(empty_database):
    name = empty_database.partition("?")[0].rpartition("/")[2]
    (file,) = (Path(migrate.__file__).parent / "migrations").glob("*_payouts.sql")
    block = file.read_text().rpartition("do $$")[2]
    databases.run_as_owner(empty_database, f"revoke temporary on database {name} from public")

    with pytest.raises(psycopg2.errors.InsufficientPrivilege) as refusal:
        databases.run_as_owner(empty_database, f"set role pg_monitor; do $${block}")

    assert refusal.value.diag.message_hint == f"grant temporary on database {name} to finderfee_app"


def test_second_run_applies_nothing(empty_database):
    first = migrate.up(empty_database)
    second = migrate.up(empty_database)

    assert first[0] == "0001_tenancy"
    assert second == []


def test_status_of_an_empty_database_lists_every_migration_as_missing(empty_database):
    migrations = migrate.status(empty_database)

    assert [migration.name for migration in migrations] == migrate.names()
    assert not any(migration.is_applied for migration in migrations)


def test_failed_migration_leaves_nothing_and_is_retried(empty_database):
    databases.run_as_owner(empty_database, "create table program (id int)")  # conflicts with one migration

    with pytest.raises(psycopg2.Error, match="program"):
        migrate.up(empty_database)
    databases.run_as_owner(empty_database, "drop table program")
    applied = migrate.up(empty_database)

    assert applied[0] == "0004_programs"
    assert all(migration.is_applied for migration in migrate.status(empty_database))


def test_database_of_removed_migrations_is_refused_in_one_sentence(app, empty_database):
    databases.run_as_owner(empty_database, f"create table migration as select unnest(array{_REMOVED}) as name")
    databases.run_as_owner(empty_database, "grant select on migration to finderfee_app")

    for check in (migrate.up, migrate.status):
        with pytest.raises(steps.MigrationHalted, match="created before the first release and cannot be upgraded"):
            check(empty_database)
    with (
        pytest.raises(steps.MigrationHalted, match="start again with an empty database"),
        _connected_to(empty_database),
    ):
        migrate.list_missing()

    assert databases.select_as_owner(empty_database, "select to_regclass('organization')") == [(None,)]


def test_database_of_a_later_release_is_not_refused(app, empty_database):
    migrate.up(empty_database)
    databases.run_as_owner(empty_database, "insert into migration (name) values ('9999_of_a_later_release')")

    assert migrate.up(empty_database) == []
    assert all(migration.is_applied for migration in migrate.status(empty_database))
    with _connected_to(empty_database):
        assert migrate.list_missing() == []


def test_unmigrated_database_lacks_every_migration(app, empty_database):
    with _connected_to(empty_database):
        assert migrate.list_missing() == migrate.names()


@contextmanager
def _connected_to(url: str) -> Iterator[None]:
    """Connect this process to a database for a unit of work, and then back to its own."""
    db.db.drop_connection()
    db.connect_to(url)
    try:
        with db.any_org_work():
            yield
    finally:
        db.db.drop_connection()
        db.connect_to(os.environ["DATABASE_URL"])


def _tables() -> list[Table[Any]]:
    modules = (importlib.import_module(module.name) for module in pkgutil.walk_packages(models.__path__, "models."))
    return [value for module in modules for value in vars(module).values() if isinstance(value, Table)]


# Forty kilobytes, read only by the one statement that needs them.
_READ_SEPARATELY = {("copilot_conversation", "tools", False)}


def test_row_class_has_exactly_the_columns_of_its_table(app):
    with db.any_org_work():
        in_database = db.db.run(
            "select table_name, column_name, is_nullable = 'YES', is_generated = 'NEVER'"
            " from information_schema.columns where table_schema = 'public'"
        )
    tables = {table.name: table.kind for table in _tables()}
    computed = {(table.name, name) for table in _tables() for name in table.computed}

    declared = {
        (name, field.name, NoneType in get_args(field.type))
        for name, kind in tables.items()
        for field in dataclasses.fields(kind)
        if (name, field.name) not in computed
    }

    assert "program" in tables
    assert declared <= {tuple(row) for *row, _ in in_database}
    # Generated columns serve indexes, so a row class may omit them.
    assert {tuple(row) for *row, is_written in in_database if row[0] in tables and is_written} <= (
        declared | _READ_SEPARATELY
    )
