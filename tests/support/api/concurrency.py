"""Runs requests at the same moment, each on a connection of its own."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

import psycopg2

from models import db

# Who of this process's database waits for a lock. Whoever is not a superuser sees the locks, too.
_LOCK_WAITERS = """
select count(distinct l.pid) from pg_locks l join pg_stat_activity a using (pid)
where not l.granted and a.datname = current_database() and a.pid <> pg_backend_pid()
"""
# Longer than anything takes on any machine: the wait ends with what it is for.
_PATIENCE_S = 120


def start_call(call: Callable[[], Any], *, until: Callable[[], bool] = bool) -> Callable[[], Any]:
    """Start a call and return what waits for its answer, once it has ended or waits for a lock.

    Where it waits for something else, `until` says whether it has come that far.
    """
    answers: list[Any] = []

    def run() -> None:
        answers.append(call())
        db.db.drop_connection()

    thread = threading.Thread(target=run)
    with closing(psycopg2.connect(db.db.dsn)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        waited_before = _count_lock_waiters(cursor)
        thread.start()
        deadline = time.monotonic() + _PATIENCE_S
        while thread.is_alive() and _count_lock_waiters(cursor) <= waited_before and not until():
            assert time.monotonic() < deadline, "it does not come as far"
            thread.join(0.01)

    def answer() -> Any:
        thread.join()
        return answers[0]

    return answer


@contextmanager
def hold_in_thread(block: AbstractContextManager[object]) -> Iterator[None]:
    """Have another thread, with a connection of its own, enter a block and leave it when this one ends."""
    has_entered, may_leave = threading.Event(), threading.Event()

    def stay() -> None:
        try:
            with block:
                has_entered.set()
                may_leave.wait(_PATIENCE_S)
        finally:
            has_entered.set()
            db.db.drop_connection()

    thread = threading.Thread(target=stay)
    thread.start()
    has_entered.wait()
    try:
        yield
    finally:
        may_leave.set()
        thread.join()


def run_concurrently(*calls: Callable[[], Any]) -> list[Any]:
    """Return what the calls returned, in the order in which they ended."""
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
