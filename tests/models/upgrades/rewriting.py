"""Rewrites a table while a request waits for it, and lists the tables that a change has rewritten."""

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

import psycopg2

Answer = TypeVar("Answer")

_DEADLINE_S = 60
_WAITING = "select from pg_locks where relation = %s::regclass and not granted"
_STORAGE = """
select relname, oid, relfilenode from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'm') and not relisshared
"""

Storage = dict[str, tuple[int, int]]


def answer_across_rewrite(table: str, call: Callable[[], Answer]) -> Answer:
    """Return what the second `call` of one thread returns, which waits while `table` is being rewritten.

    The first call prepares the thread's statements. Fails if the second does not wait for the table.
    """
    owner_url = os.environ["DATABASE_OWNER_URL"]
    with ThreadPoolExecutor(1) as caller, closing(psycopg2.connect(owner_url)) as owner, owner.cursor() as cursor:
        caller.submit(call).result()
        cursor.execute(f"alter table {table} add column rewritten double precision default random()")
        waiting = caller.submit(call)
        try:
            _wait_for_waiter(owner_url, table, waiting)
            owner.commit()
            return waiting.result()
        finally:
            owner.commit()
            waiting.exception()
            cursor.execute(f"alter table {table} drop column rewritten")
            owner.commit()


def read_storage(cursor: Any) -> Storage:
    """Return the files that hold each table's rows: its oid, and the number of its file."""
    cursor.execute(_STORAGE)
    return {name: (oid, file) for name, oid, file in cursor.fetchall()}


def rewritten_tables(before: Storage, after: Storage) -> set[str]:
    """Return the names of tables whose rows a change has copied to another file, or replaced by another table's."""
    files = dict(after.values())
    moved = {name for name, (oid, file) in before.items() if files.get(oid, file) != file}
    replaced = {name for name, (oid, _) in before.items() if oid not in files and name in after}
    return moved | replaced


def _wait_for_waiter(owner_url: str, table: str, call: "Future[Any]") -> None:
    deadline = time.monotonic() + _DEADLINE_S
    with closing(psycopg2.connect(owner_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        while time.monotonic() < deadline:
            cursor.execute(_WAITING, (table,))
            if cursor.rowcount:
                return
            assert not call.done(), f"the call does not read {table}: {call.result()}"
            time.sleep(0.01)
    raise AssertionError(f"nothing waited for {table}")
