"""Applies one migration while the service runs: in one transaction with its record, or statement by statement.

A file whose first line is `-- outside a transaction` is applied statement by statement, each in its own transaction:
PostgreSQL builds indexes concurrently and vacuums only this way. After an interruption such a file starts again at its
first statement. So it may only contain statements that can be repeated and that block neither reads nor writes.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg2
from psycopg2 import errors

#: Receives the progress, one line per call.
Reporter = Callable[[str], None]

_OUTSIDE = "-- outside a transaction\n"
_INDEX = re.compile(r"create (?:unique )?index concurrently if not exists (\w+) on ", re.IGNORECASE)
_REPEATABLE = (
    _INDEX,
    re.compile(r"drop index concurrently if exists ", re.IGNORECASE),
    re.compile(r"alter table \w+ validate constraint \w+$", re.IGNORECASE),
    re.compile(r"(analyze|vacuum \(analyze\)) \w+$", re.IGNORECASE),
)

# Every statement that arrives after a waiting `alter table` queues behind it, even reads. Two seconds only make a
# request slow; after ten it would fail. The pauses let the queue drain. All attempts take almost three minutes, longer
# than a request or a usual job keeps a table locked.
_LOCK_TIMEOUT_MS = 2_000
_PAUSES_S = (1, 2, 4, 8, *(15,) * 8)
_LOCK_ERRORS = (errors.LockNotAvailable, errors.DeadlockDetected)

_PROGRESS_INTERVAL_S = 5.0
_PROGRESS = """
select phase, coalesce(round(100.0 * blocks_done / nullif(blocks_total, 0)), 0)::int, lockers_total - lockers_done
from pg_stat_progress_create_index where pid = %s
"""


class MigrationHalted(Exception):
    """The migration stopped and a person has to decide; the message has the reason and what to do next."""


def apply(connection: Any, text: str, *, name: str, record: Callable[[Any], None], report: Reporter) -> None:
    """Apply a migration over a connection in autocommit mode; `record` stores with a cursor that it was applied.

    Raises MigrationHalted if other sessions keep a table locked, psycopg2.Error if a statement fails. A transaction is
    then rolled back; outside a transaction the earlier statements stay applied.
    """
    if text.startswith(_OUTSIDE):
        _apply_outside(connection, statements(text), name, report)
        with connection.cursor() as cursor:
            record(cursor)
    else:
        _apply_in_transaction(connection, text, name, record, report)


def statements(text: str) -> list[str]:
    """Return the statements of a file that is applied outside a transaction: each ends with `;` at the end of a line.

    Raises MigrationHalted for a statement that is not known to be repeatable while the service runs.
    """
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    parts = [" ".join(part.split()) for part in re.split(r";\s*$", "\n".join(lines), flags=re.MULTILINE)]
    parts = [part for part in parts if part]
    for statement in parts:
        if ";" in statement or not any(kind.match(statement) for kind in _REPEATABLE):
            raise MigrationHalted(f"Not repeatable outside a transaction: {statement}")
    return parts


def _apply_in_transaction(
    connection: Any, text: str, name: str, record: Callable[[Any], None], report: Reporter
) -> None:
    with connection.cursor() as cursor:
        for pause in (*_PAUSES_S, None):
            cursor.execute("begin")
            try:
                cursor.execute(f"set local lock_timeout = {_LOCK_TIMEOUT_MS}")
                cursor.execute(text)
                record(cursor)
                cursor.execute("commit")
                return
            except psycopg2.Error as error:
                cursor.execute("rollback")
                if not isinstance(error, _LOCK_ERRORS):
                    raise
                if pause is None:
                    raise MigrationHalted(
                        f"{name}: others kept a table locked, and nothing of it was applied. Next: end the oldest of"
                        " `select pid, xact_start, query from pg_stat_activity order by xact_start`, and migrate again."
                    ) from error
            report(f"{name}: a table is locked by others; retrying in {pause} s, traffic continues meanwhile")
            time.sleep(pause)


def _apply_outside(connection: Any, sql: list[str], name: str, report: Reporter) -> None:
    with connection.cursor() as cursor:
        # These statements block no one while they wait. The connection check ends them if this process is interrupted.
        cursor.execute("set lock_timeout = 0; set statement_timeout = 0; set client_connection_check_interval = '2s'")
        for number, statement in enumerate(sql, 1):
            label = f"{name} {number}/{len(sql)}"
            report(f"{label}: {statement}")
            _drop_invalid_index(cursor, statement, label, report)
            with _reporting_progress(connection, label, report):
                cursor.execute(statement)


def _drop_invalid_index(cursor: Any, statement: str, label: str, report: Reporter) -> None:
    """Drop the index that the statement builds if a failed build left it invalid: `if not exists` would skip it."""
    index = _INDEX.match(statement)
    if index is None:
        return
    cursor.execute("select from pg_index where indexrelid = to_regclass(%s) and not indisvalid", (index[1],))
    if cursor.rowcount:
        report(f"{label}: dropping {index[1]}, which a failed build left invalid")
        cursor.execute(f"drop index concurrently {index[1]}")


@contextmanager
def _reporting_progress(connection: Any, label: str, report: Reporter) -> Iterator[None]:
    """Report every few seconds how far the index build inside the block is, read over another connection."""
    is_done = threading.Event()
    url, pid = connection.info.dsn_parameters | {"password": connection.info.password}, connection.info.backend_pid

    def poll() -> None:
        while not is_done.wait(_PROGRESS_INTERVAL_S):
            with suppress(psycopg2.Error), closing(psycopg2.connect(**url)) as other, other.cursor() as cursor:
                cursor.execute(_PROGRESS, (pid,))
                for phase, percent, lockers in cursor.fetchall():
                    report(f"{label}: {phase}, {f'still {lockers}' if lockers else f'{percent} %'}")

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
