"""Runs requests at the same time, each on its own database connection."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

import psycopg2

from models import db

# The sessions of this process's database that wait for a lock. Users other than superusers see the locks, too.
_LOCK_WAITERS = """
select count(distinct l.pid) from pg_locks l join pg_stat_activity a using (pid)
where not l.granted and a.datname = current_database() and a.pid <> pg_backend_pid()
"""
# Longer than any wait takes on any machine: waits end as soon as their condition is true.
_PATIENCE_S = 120


def start_call(call: Callable[[], Any], *, until: Callable[[], bool] = bool) -> Callable[[], Any]:
    """Start a call in a thread, wait until it has ended or waits for a lock, and return a function that joins it.

    That function returns the result of the call. A call that waits for something else has come far enough when `until`
    returns True.
    """
    answers: list[Any] = []

    def run() -> None:
        answers.append(call())
        db.db.drop_connection()

    thread = threading.Thread(target=run)
    with closing(psycopg2.connect(db.db.dsn)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        waiters_before = _count_lock_waiters(cursor)
        thread.start()
        deadline = time.monotonic() + _PATIENCE_S
        while thread.is_alive() and _count_lock_waiters(cursor) <= waiters_before and not until():
            assert time.monotonic() < deadline, "the call neither ends nor waits for a lock"
            thread.join(0.01)

    def answer() -> Any:
        thread.join()
        return answers[0]

    return answer


@contextmanager
def hold_in_thread(block: AbstractContextManager[object]) -> Iterator[None]:
    """Hold a context manager open in another thread, with its own connection, while this block runs."""
    has_entered, may_leave = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with block:
                has_entered.set()
                may_leave.wait(_PATIENCE_S)
        finally:
            has_entered.set()
            db.db.drop_connection()

    thread = threading.Thread(target=hold)
    thread.start()
    has_entered.wait()
    try:
        yield
    finally:
        may_leave.set()
        thread.join()


def run_concurrently(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls at the same time; return their results in the order in which they ended."""
    answers: list[Any] = []
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> None:
        start.wait()
        answers.append(call())
        db.db.drop_connection()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _count_lock_waiters(cursor: Any) -> int:
    cursor.execute(_LOCK_WAITERS)
    return int(cursor.fetchone()[0])
