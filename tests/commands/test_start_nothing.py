"""Operator commands connect to what runs; where nothing runs they say so and start nothing."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from adapters.embedded import server_pair

_ROOT = Path(__file__).parents[2]
_ASLEEP = "Error: Finderfee is not running on this machine. Next: make run\n(DATA_DIR is {}, and is not in use)\n"


def _flask(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "flask", *arguments],
        cwd=_ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("org", "list"),
        ("jobs", "queues", "--json"),
        ("db", "status"),
        ("db", "migrate"),
        ("demo",),
        ("token", "affiliate", "--email", "ann@example.com"),
        ("token", "human"),
    ],
    ids=" ".join,
)
def test_where_nothing_runs_it_says_so_and_starts_nothing(tmp_path, arguments):
    data_dir = tmp_path / "data"

    done = _flask(*arguments, DATA_DIR=str(data_dir))

    assert (done.returncode, done.stdout, done.stderr) == (1, "", _ASLEEP.format(data_dir))
    assert not data_dir.exists()


def test_where_the_servers_run_it_connects_to_them(tmp_path):
    server_pair.start(tmp_path, durable=False)
    try:
        assert _flask("db", "migrate", DATA_DIR=str(tmp_path)).returncode == 0
        listed = _flask("org", "list", DATA_DIR=str(tmp_path))
    finally:
        server_pair.stop(tmp_path)

    assert (listed.returncode, listed.stderr) == (0, "")


def test_a_database_of_ones_own_that_is_away_is_not_called_ours(tmp_path):
    away = f"postgresql://nobody@/none?host={tmp_path}"

    done = _flask("org", "list", DATABASE_URL=away, SECRET_KEY="x" * 32, DATA_DIR=str(tmp_path / "data"))

    assert done.returncode == 1
    assert done.stderr.startswith("Error: The database cannot be reached: connection to server")


def test_a_database_that_was_never_migrated_says_what_to_do(tmp_path):
    owner_url = server_pair.start(tmp_path, durable=False).database_owner_url
    try:
        without_tables = _flask("org", "list", DATA_DIR=str(tmp_path))
        processes = [_flask(name, DATA_DIR=str(tmp_path)) for name in ("relay", "scheduler", "clicks")]
        with closing(psycopg2.connect(owner_url)) as owner, owner, owner.cursor() as cursor:
            cursor.execute("drop owned by finderfee_app; drop role finderfee_app")  # the first migration makes it
        without_role = _flask("secrets", "status", "--json", DATA_DIR=str(tmp_path))
    finally:
        server_pair.stop(tmp_path)

    said = "Error: The database lacks migrations. Next: flask db migrate\n"
    assert [(one.returncode, one.stdout, one.stderr) for one in (without_tables, without_role)] == [(1, "", said)] * 2
    for one in processes:
        (line,) = map(json.loads, (one.stdout + one.stderr).splitlines())
        assert (one.returncode, line["event"], line["next"]) == (1, "database.lacks_migrations", "flask db migrate")


def test_database_of_removed_migrations_says_how_to_start_again(tmp_path):
    owner_url = server_pair.start(tmp_path, durable=False).database_owner_url
    try:
        with closing(psycopg2.connect(owner_url)) as owner, owner, owner.cursor() as cursor:
            cursor.execute("create table migration as select unnest(array['0001_tenancy', '0002_programs']) as name")
            cursor.execute("grant select on migration to public")
        processes = [_flask(name, DATA_DIR=str(tmp_path)) for name in ("relay", "scheduler", "clicks")]
        commands = [("org", "list"), ("db", "migrate"), ("db", "status"), ("up",)]  # the last one stops the servers
        results = [_flask(*command, DATA_DIR=str(tmp_path)) for command in commands]
    finally:
        server_pair.stop(tmp_path)

    for result in results:
        assert result.returncode == 1
        assert "\nError: This database was created before the first release" in f"\n{result.stderr}"
        assert "start again with an empty database" in result.stderr
    for process in processes:
        (line,) = map(json.loads, (process.stdout + process.stderr).splitlines())
        assert (process.returncode, line["event"]) == (1, "database.cannot_be_migrated")
        assert "start again" in line["next"]
