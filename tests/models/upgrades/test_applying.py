"""Test migrations on a database in use: waiting, retries and refusals."""

import threading
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from models import migrate
from models.schema import steps
from tests.support import databases

_BUILD = "-- outside a transaction\n-- Ids are looked for.\ncreate unique index concurrently if not exists one_id\n"
_BUILD += "  on thing (id);\nanalyze thing;\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return a migration folder that replaces the product's; its first creates the table `thing` with a row."""
    monkeypatch.setattr(migrate, "_FOLDER", tmp_path)
    (tmp_path / "0001_thing.sql").write_text("create table thing (id int); insert into thing values (1);")
    return tmp_path


def test_index_is_built_while_writers_write_and_other_migrations_wait(empty_database, folder, monkeypatch):
    monkeypatch.setattr(steps, "_PROGRESS_INTERVAL_S", 0.05)
    migrate.up(empty_database)
    (folder / "0002_index.sql").write_text(_BUILD)
    lines, applied, is_waiting = [], [], threading.Event()
    second = threading.Thread(target=lambda: applied.append(migrate.up(empty_database, lambda line: is_waiting.set())))
    with closing(psycopg2.connect(empty_database)) as writer, writer.cursor() as cursor:
        cursor.execute("insert into thing values (2)")  # what the build waits for

        def report(line: str) -> None:
            lines.append(line)
            if "waiting for writers before build, still 1" in line and not second.ident:
                second.start()
                assert is_waiting.wait(120)
                databases.run_as_owner(empty_database, "insert into thing values (3)")
                writer.commit()

        first = migrate.up(empty_database, report)
    second.join(120)

    assert (first, applied) == (["0002_index"], [[]])
    assert lines[0].startswith("0002_index 1/2: create unique index concurrently if not exists one_id on thing")
    assert lines[-1] == "0002_index 2/2: analyze thing"
    assert databases.select_as_owner(empty_database, "select count(*) from thing") == [(3,)]
    assert _validity(empty_database) == [(True,)]


def test_index_with_a_failed_build_is_dropped_and_rebuilt(empty_database, folder):
    migrate.up(empty_database)
    databases.run_as_owner(empty_database, "insert into thing values (1)")
    (folder / "0002_index.sql").write_text(_BUILD)
    with pytest.raises(psycopg2.errors.UniqueViolation):
        migrate.up(empty_database)
    assert _validity(empty_database) == [(False,)]
    assert not migrate.status(empty_database)[1].is_applied
    databases.run_as_owner(empty_database, "delete from thing where ctid = (select max(ctid) from thing)")

    assert migrate.up(empty_database) == ["0002_index"]

    assert _validity(empty_database) == [(True,)]


def _validity(url: str) -> list[tuple[bool]]:
    return databases.select_as_owner(url, "select indisvalid from pg_index where indexrelid = to_regclass('one_id')")


@pytest.mark.parametrize(
    "statement",
    [
        "create index concurrently one_id on thing (id)",
        "create index if not exists one_id on thing (id)",
        "alter table thing add column more int",
        "drop index one_id",
        "vacuum full thing",
        "update thing set id = id + 1",
        "analyze thing; drop table thing",
    ],
)
def test_unrepeatable_or_blocking_statement_outside_a_transaction_is_refused(statement):
    with pytest.raises(steps.MigrationHalted, match="Not repeatable"):
        steps.statements(f"-- outside a transaction\nanalyze thing;\n{statement};\n")


def test_lock_on_a_busy_table_is_retried_with_a_short_timeout(empty_database, folder, monkeypatch):
    monkeypatch.setattr(steps, "_LOCK_TIMEOUT_MS", 50)
    monkeypatch.setattr(steps, "_PAUSES_S", (0.01, 0.01))
    migrate.up(empty_database)
    (folder / "0002_more.sql").write_text("create table other (id int); alter table thing add column more int;")
    lines = []
    with closing(psycopg2.connect(empty_database)) as reader, reader.cursor() as cursor:
        cursor.execute("select from thing")

        with pytest.raises(steps.MigrationHalted, match="0002_more: others kept a table locked"):
            migrate.up(empty_database, lines.append)
        assert len(lines) == 2
        assert databases.select_as_owner(empty_database, "select to_regclass('other')") == [(None,)]

        def report(line: str) -> None:
            assert databases.select_as_owner(empty_database, "set lock_timeout = 1; select id from thing") == [(1,)]
            reader.rollback()

        assert migrate.up(empty_database, report) == ["0002_more"]


def test_file_changed_after_its_application_is_refused(empty_database, folder):
    migrate.up(empty_database)
    (folder / "0001_thing.sql").write_text("create table thing (id bigint);")
    (folder / "0002_other.sql").write_text("create table other (id int);")

    assert [(migration.is_applied, migration.is_changed) for migration in migrate.status(empty_database)] == [
        (True, True),
        (False, False),
    ]
    with pytest.raises(steps.MigrationHalted, match="Changed after it was applied: 0001_thing") as refusal:
        migrate.up(empty_database)
    assert databases.select_as_owner(empty_database, "select to_regclass('other')") == [(None,)]

    suggested_sql = str(refusal.value).partition("file, run: ")[2].partition(", and")[0]
    databases.run_as_owner(empty_database, suggested_sql)
    assert migrate.up(empty_database) == ["0002_other"]
    assert not any(migration.is_changed for migration in migrate.status(empty_database))
