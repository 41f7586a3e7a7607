"""Point-in-time restores of an installation: the operator's commands, the backups, the restored database server."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg2

from adapters.embedded import server_pair
from tests.support.installation.machine import Machine
from tests.support.installation.processes import ROOT

SLOT_WITHOUT_FOLLOWER = "select from pg_replication_slots where slot_name = 'finderfee_backup' and not active"


class Operator:
    """Runs `flask` commands with the environment of the installation's processes, and some variables changed."""

    def __init__(self, machine: Machine, **environment: str) -> None:
        self._environment = machine.environment() | environment

    def start(self, *words: object, log: Path) -> "subprocess.Popen[bytes]":
        """Start a command whose output goes to a file."""
        with log.open("wb") as output:
            command = [str(ROOT / ".venv/bin/flask"), *map(str, words)]
            return subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=output, stderr=output)

    def __call__(self, *words: object, code: int = 0) -> Any:
        """Run a command with --json, check its exit code, and return its JSON, or its error output if it must fail."""
        result = subprocess.run(
            [str(ROOT / ".venv/bin/flask"), *map(str, words), "--json"],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        assert result.returncode == code, result.stdout + result.stderr
        return json.loads(result.stdout) if code == 0 else result.stderr


@contextmanager
def follow_log(machine: Machine, backups: Path) -> Iterator[Operator]:
    """Follow the write-ahead log into a folder while the block runs, with a backup there; yield the operator."""
    operator = Operator(machine, DATABASE_OWNER_URL=machine.urls.database_owner_url)
    follower = operator.start("backup", "follow", backups, log=machine.home / "follow.out")
    try:
        machine.wait_until(lambda: any((backups / "log").glob("*.partial")), "the log is followed")
        operator("backup", "make", backups)
        yield operator
        machine.rows("select pg_logical_emit_message(true, 'finderfee', 'a segment without a record does not end')")
        segment = machine.rows("select pg_walfile_name(pg_switch_wal())")[0][0]
        machine.wait_until(lambda: (backups / "log" / segment).exists(), f"{segment} of the log is received")
    finally:
        follower.send_signal(signal.SIGINT)
        follower.wait()
        drop_slot(machine)


def drop_slot(machine: Machine) -> None:
    """Drop the replication slot of the follower, once the server has noticed that the follower ended."""
    machine.wait_until(
        lambda: bool(machine.rows(SLOT_WITHOUT_FOLLOWER)), "the server notices that the follower has ended"
    )
    machine.execute("select pg_drop_replication_slot('finderfee_backup')")


@contextmanager
def restore_database(machine: Machine, backups: Path, folder: Path, restore_to: datetime) -> Iterator[Operator]:
    """Restore into a folder, and run the usual processes on that database while the block runs; yield the operator."""
    machine.kill(*machine.processes)
    Operator(machine, DATA_DIR=str(folder), DATABASE_URL="", DATABASE_OWNER_URL="")(
        "restore", "run", backups, "--to", restore_to.isoformat()
    )
    usual_urls, urls = machine.urls, server_pair.start(folder, valkey=False, durable=True)
    _point_machine_at(
        machine, replace(usual_urls, database_url=urls.database_url, database_owner_url=urls.database_owner_url)
    )
    try:
        machine.forget_killed_fleets()
        machine.start("web", "relay", "workers", "webhooks", "payouts")
        yield Operator(machine, DATABASE_OWNER_URL=urls.database_owner_url)
    finally:
        machine.kill(*machine.processes)
        _point_machine_at(machine, usual_urls)
        machine.forget_killed_fleets()
        server_pair.stop(folder)


def _point_machine_at(machine: Machine, urls: Any) -> None:
    machine.disconnect()
    machine.urls = urls


def fetch_rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query in a database, of every tenant."""
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()
