"""Applies one migration beside the traffic that goes on: in a transaction with its record, or outside of any.

A file whose first line is `-- outside a transaction` is applied statement by statement, each committed by itself, for
what PostgreSQL does in no other way. Whoever is interrupted there begins again at the file's first statement, so only
statements are taken that may be repeated, and that let reads and writes through while they work or wait.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg2
from psycopg2 import errors

#: Is told what goes on, a line at a time.
Tell = Callable[[str], None]

_OUTSIDE = "-- outside a transaction\n"
_INDEX = re.compile(r"create (?:unique )?index concurrently if not exists (\w+) on ", re.IGNORECASE)
_REPEATABLE = (
    _INDEX,
    re.compile(r"drop index concurrently if exists ", re.IGNORECASE),
    re.compile(r"alter table \w+ validate constraint \w+$", re.IGNORECASE),
    re.compile(r"(analyze|vacuum \(analyze\)) \w+$", re.IGNORECASE),
)

# Whoever comes after a waiting `alter table` waits behind it, readers too: for two seconds a request only becomes slow,
# and after ten it would be refused. The pauses let through what queued up; all in all it is tried for almost three
# minutes, longer than a request or a usual job holds a table.
_LOCK_TIMEOUT_MS = 2_000
_PAUSES_S = (1, 2, 4, 8, *(15,) * 8)
_HELD_UP = (errors.LockNotAvailable, errors.DeadlockDetected)

_LOOK_S = 5.0
_PROGRESS = """
select phase, coalesce(round(100.0 * blocks_done / nullif(blocks_total, 0)), 0)::int, lockers_total - lockers_done
from pg_stat_progress_create_index where pid = %s
"""


class MigrationHalted(Exception):
    """The schema stays as it is, for a reason that a person has to look at; the message says which."""


def apply(connection: Any, text: str, *, name: str, record: Callable[[Any], None], tell: Tell) -> None:
    """Apply a migration over a connection in autocommit; `record` writes with a cursor that it was applied.

    Raises MigrationHalted when tables stay locked by others, psycopg2.Error when a statement fails: nothing of a
    transaction is kept then, and what came before outside of one is.
    """
    if text.startswith(_OUTSIDE):
        _apply_outside(connection, statements(text), name, tell)
        with connection.cursor() as cursor:
            record(cursor)
    else:
        _apply_in_transaction(connection, text, name, record, tell)


def statements(text: str) -> list[str]:
    """Return the statements of a file that is applied outside a transaction, which end with a semicolon and a line.

    Raises MigrationHalted at one that is not known to be repeatable beside traffic.
    """
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    parts = [" ".join(part.split()) for part in re.split(r";\s*$", "\n".join(lines), flags=re.MULTILINE)]
    repeatable = [statement for statement in parts if statement]
    for statement in repeatable:
        if ";" in statement or not any(kind.match(statement) for kind in _REPEATABLE):
            raise MigrationHalted(f"Not repeatable outside a transaction: {statement}")
    return repeatable


def _apply_in_transaction(connection: Any, text: str, name: str, record: Callable[[Any], None], tell: Tell) -> None:
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
                if not isinstance(error, _HELD_UP):
                    raise
                if pause is None:
                    raise MigrationHalted(
                        f"{name}: others kept a table locked, and nothing of it was applied. Next: end the oldest of"
                        " `select pid, xact_start, query from pg_stat_activity order by xact_start`, and start again."
                    ) from error
            tell(f"{name}: a table is locked by others; again in {pause} s, and traffic goes on meanwhile")
            time.sleep(pause)


def _apply_outside(connection: Any, listed: list[str], name: str, tell: Tell) -> None:
    with connection.cursor() as cursor:
        # None of these holds anybody up while it waits; and the server is to notice when we are interrupted.
        cursor.execute("set lock_timeout = 0; set statement_timeout = 0; set client_connection_check_interval = '2s'")
        for number, statement in enumerate(listed, 1):
            label = f"{name} {number}/{len(listed)}"
            tell(f"{label}: {statement}")
            _drop_what_a_broken_build_left(cursor, statement, label, tell)
            with _reporting_progress(connection, label, tell):
                cursor.execute(statement)


def _drop_what_a_broken_build_left(cursor: Any, statement: str, label: str, tell: Tell) -> None:
    """Drop the index that a statement builds where it is invalid: `if not exists` would take it for a good one."""
    built = _INDEX.match(statement)
    if built is None:
        return
    cursor.execute("select from pg_index where indexrelid = to_regclass(%s) and not indisvalid", (built[1],))
    if cursor.rowcount:
        tell(f"{label}: drops {built[1]}, which a broken build left invalid")
        cursor.execute(f"drop index concurrently {built[1]}")


@contextmanager
def _reporting_progress(connection: Any, label: str, tell: Tell) -> Iterator[None]:
    """Tell every few seconds, over a connection of its own, how far the build of an index is that goes on inside."""
    is_done = threading.Event()
    url, pid = connection.info.dsn_parameters | {"password": connection.info.password}, connection.info.backend_pid

    def look() -> None:
        while not is_done.wait(_LOOK_S):
            with suppress(psycopg2.Error), closing(psycopg2.connect(**url)) as other, other.cursor() as cursor:
                cursor.execute(_PROGRESS, (pid,))
                for phase, percent, lockers in cursor.fetchall():
                    tell(f"{label}: {phase}, {f'for {lockers}' if lockers else f'{percent} %'}")

    watching = threading.Thread(target=look, daemon=True)
    watching.start()
    try:
        yield
    finally:
        is_done.set()
        watching.join()
