"""A machine whose database goes back to a time before: the operator's commands, the copies, the restored server."""

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
    """Types commands in an environment of the machine's, with what differs."""

    def __init__(self, machine: Machine, **environment: str) -> None:
        self._environment = machine.environment() | environment

    def start(self, *words: object, log: Path) -> "subprocess.Popen[bytes]":
        with log.open("wb") as said:
            command = [str(ROOT / ".venv/bin/flask"), *map(str, words)]
            return subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=said, stderr=said)

    def __call__(self, *words: object, code: int = 0) -> Any:
        done = subprocess.run(
            [str(ROOT / ".venv/bin/flask"), *map(str, words), "--json"],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr


@contextmanager
def following_log(machine: Machine, backups: Path) -> Iterator[Operator]:
    """Receive the log into a folder while the block runs, and copy the database there; yield the operator."""
    operator = Operator(machine, DATABASE_OWNER_URL=machine.urls.database_owner_url)
    following = operator.start("backup", "follow", backups, log=machine.home / "follow.out")
    try:
        machine.wait_until(lambda: any((backups / "log").glob("*.partial")), "the log is received")
        operator("backup", "make", backups)
        yield operator
        machine.rows("select pg_logical_emit_message(true, 'finderfee', 'a segment without a record does not end')")
        segment = machine.rows("select pg_walfile_name(pg_switch_wal())")[0][0]
        machine.wait_until(lambda: (backups / "log" / segment).exists(), f"{segment} of the log is received")
    finally:
        following.send_signal(signal.SIGINT)
        following.wait()
        drop_slot(machine)


def drop_slot(machine: Machine) -> None:
    """Drop the slot of the process that followed the log, once the server has noticed that it ended."""
    machine.wait_until(lambda: bool(machine.rows(SLOT_WITHOUT_FOLLOWER)), "the server misses the follower")
    machine.execute("select pg_drop_replication_slot('finderfee_backup')")


@contextmanager
def restored(machine: Machine, backups: Path, folder: Path, moment: datetime) -> Iterator[Operator]:
    """Restore into a folder, run the usual processes on that database while the block runs; yield the operator."""
    machine.kill(*machine.processes)
    Operator(machine, DATA_DIR=str(folder), DATABASE_URL="", DATABASE_OWNER_URL="")(
        "restore", "run", backups, "--to", moment.isoformat()
    )
    before, urls = machine.urls, server_pair.start(folder, valkey=False, durable=True)
    _lead_to(machine, replace(before, database_url=urls.database_url, database_owner_url=urls.database_owner_url))
    try:
        machine.forget_killed_fleets()
        machine.start("web", "relay", "workers", "webhooks", "payouts")
        yield Operator(machine, DATABASE_OWNER_URL=urls.database_owner_url)
    finally:
        machine.kill(*machine.processes)
        _lead_to(machine, before)
        machine.forget_killed_fleets()
        server_pair.stop(folder)


def _lead_to(machine: Machine, urls: Any) -> None:
    machine.disconnect()
    machine.urls = urls


def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    """Return rows of a database, of every tenant."""
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()
