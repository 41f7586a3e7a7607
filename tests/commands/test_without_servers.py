"""Operator commands connect to running servers; without any they report it and start nothing."""

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
_NOT_RUNNING = "Error: Finderfee is not running on this machine. Next: make run\n(DATA_DIR is {}, and is not in use)\n"


def _run_flask(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
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
def test_command_without_running_servers_fails_and_starts_nothing(tmp_path, arguments):
    data_dir = tmp_path / "data"

    process = _run_flask(*arguments, DATA_DIR=str(data_dir))

    assert (process.returncode, process.stdout, process.stderr) == (1, "", _NOT_RUNNING.format(data_dir))
    assert not data_dir.exists()


def test_command_connects_to_running_servers(tmp_path):
    server_pair.start(tmp_path, durable=False)
    try:
        assert _run_flask("db", "migrate", DATA_DIR=str(tmp_path)).returncode == 0
        process = _run_flask("org", "list", DATA_DIR=str(tmp_path))
    finally:
        server_pair.stop(tmp_path)

    assert (process.returncode, process.stderr) == (0, "")


def test_unreachable_external_database_is_reported(tmp_path):
    away = f"postgresql://nobody@/none?host={tmp_path}"

    process = _run_flask("org", "list", DATABASE_URL=away, SECRET_KEY="x" * 32, DATA_DIR=str(tmp_path / "data"))

    assert process.returncode == 1
    assert process.stderr.startswith("Error: The database cannot be reached: connection to server")


def test_unmigrated_database_is_reported_with_the_next_step(tmp_path):
    owner_url = server_pair.start(tmp_path, durable=False).database_owner_url
    try:
        without_tables = _run_flask("org", "list", DATA_DIR=str(tmp_path))
        processes = [_run_flask(name, DATA_DIR=str(tmp_path)) for name in ("relay", "scheduler", "clicks")]
        with closing(psycopg2.connect(owner_url)) as owner, owner, owner.cursor() as cursor:
            cursor.execute("drop owned by finderfee_app; drop role finderfee_app")  # created by the first migration
        without_role = _run_flask("secrets", "status", "--json", DATA_DIR=str(tmp_path))
    finally:
        server_pair.stop(tmp_path)

    message = "Error: The database lacks migrations. Next: flask db migrate\n"
    assert [(result.returncode, result.stdout, result.stderr) for result in (without_tables, without_role)] == [
        (1, "", message)
    ] * 2
    for result in processes:
        (line,) = map(json.loads, (result.stdout + result.stderr).splitlines())
        assert (result.returncode, line["event"], line["next"]) == (1, "database.lacks_migrations", "flask db migrate")


def test_database_of_removed_migrations_is_reported_with_the_next_step(tmp_path):
    owner_url = server_pair.start(tmp_path, durable=False).database_owner_url
    try:
        with closing(psycopg2.connect(owner_url)) as owner, owner, owner.cursor() as cursor:
            cursor.execute("create table migration as select unnest(array['0001_tenancy', '0002_programs']) as name")
            cursor.execute("grant select on migration to public")
        processes = [_run_flask(name, DATA_DIR=str(tmp_path)) for name in ("relay", "scheduler", "clicks")]
        commands = [("org", "list"), ("db", "migrate"), ("db", "status"), ("up",)]  # the last one stops the servers
        results = [_run_flask(*command, DATA_DIR=str(tmp_path)) for command in commands]
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
