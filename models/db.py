"""The database and the unit of work.

One thread has one connection, opened when it is first needed and kept. A unit of work is one transaction
that belongs to one organization: row-level security shows it that tenant's rows and no others.

Statements that return nothing may be *staged*: they are sent together with the next statement that returns
something, or with the commit. A pipeline that reads once and then writes six rows pays two round trips.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import UUID

import orjson
import psycopg2.extras
import structlog
from peewee import ProgrammingError
from psycopg2 import errorcodes

from models.session import session_settings
from models.session.connection import AWAY, Database
from models.session.database_clock import database_clock as database_clock
from models.session.thread_mode import at_replica, only_reading, thread_mode

psycopg2.extras.register_uuid()
psycopg2.extras.register_default_jsonb(globally=True, loads=orjson.loads)

#: What a caller sees while PostgreSQL is away or has just dropped the connection.
UNAVAILABLE = AWAY
#: What a caller sees where a statement names a table or a column that is not there.
UNDEFINED = ProgrammingError

# What a server says that is there: this transaction alone waited too long for others.
_HELD_UP = (errorcodes.LOCK_NOT_AVAILABLE, errorcodes.QUERY_CANCELED, errorcodes.DEADLOCK_DETECTED)

# Who says nothing for this long in the middle of a transaction has frozen, and its locks are given to others.
_SILENCE_S = 60

# A server that vanishes without a word is noticed within half a minute, not after the kernel's two hours.
_KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


class Json(psycopg2.extras.Json):
    """Adapts a Python value to jsonb."""

    def dumps(self, value: object) -> str:
        return orjson.dumps(value).decode()


db = Database(None)


def connect_to(
    database_url: str, *, replica_url: str | None = None, silence_s: int = _SILENCE_S, is_pooled: bool = False
) -> None:
    """Point this process at a database, or with `is_pooled` at a pool of transactions before it. Opens nothing yet.

    `replica_url` leads to a replica of it, for `reading`, in the same way.
    The server ends a transaction in which this process says nothing for `silence_s` seconds between two statements.
    """
    dsn, replica = (_dsn(url) if url else None for url in (database_url, replica_url))
    options: dict[str, Any] = {} if is_pooled else {"options": session_settings.at_connection(silence_s)}
    db.init(dsn, application_name="finderfee", connect_timeout=5, **options, **_KEEPALIVE)
    db.replica = replica
    db.is_pooled, db.told = is_pooled, f"{session_settings.at_transaction(silence_s)}; " if is_pooled else ""


def _dsn(url: str) -> str:
    return url.replace("postgres://", "postgresql://", 1)


@contextmanager
def unit_of_work(organization_id: UUID, *, is_single: bool = False) -> Iterator[None]:
    """Open the one transaction of a request or a job, seeing `organization_id`'s rows only.

    Leaving the block commits; an exception rolls everything back. Only the HTTP edge and the workers open one.
    One that `is_single` is for a single statement (`db.run_last`), which is committed there and then if it comes first.
    """
    with _transaction(f"select set_config('app.org', '{organization_id}', true)", organization_id, is_single=is_single):
        yield


@contextmanager
def any_org_work() -> Iterator[None]:
    """Open a transaction that sees every tenant. For the functions named `any_org_*` and the job runner alone."""
    with _transaction("set local app.any_org = 'on'"):
        yield


@contextmanager
def reading(position: int | None = None) -> Iterator[None]:
    """Let this thread's units of work only read, at the primary or, with a position, at a replica that is there.

    Each of their statements is one round trip, and there is no commit (`models.session.connection`).
    A replica that is not there yet, or is away, raises UNAVAILABLE; one without what a new release reads, UNDEFINED.
    UNAVAILABLE is, too, what had to make way for what the replica replays.
    """
    with only_reading(position), nullcontext() if position is None else db.at_replica():
        yield


def read_clock() -> None:
    """Read the database's clock if that is due, on this thread's connection. A database that is away is no error."""
    if not in_transaction():
        with any_org_work():
            pass  # to begin is enough


def is_held_up(error: Exception) -> bool:
    """Say whether one of UNAVAILABLE means that the database is there, and only this transaction could not go on."""
    return code_of(error) in _HELD_UP


def took_too_long(error: Exception) -> bool:
    """Say whether the database gave up on a statement that took longer than any may."""
    return code_of(error) == errorcodes.QUERY_CANCELED


def code_of(error: Exception) -> str | None:
    """Return PostgreSQL's code of an error; None of one that it did not tell."""
    code: str | None = getattr(getattr(error, "orig", None), "pgcode", None)
    return code


def in_transaction() -> bool:
    """Say whether a unit of work is open in this thread."""
    return bool(db.in_transaction())


@contextmanager
def savepoint() -> Iterator[None]:
    """Let a part of the unit of work fail alone."""
    with db.savepoint():
        yield


@contextmanager
def reading_whole_tables() -> Iterator[None]:
    """Let the planner read whole tables, which the session forbids for the sake of statements that are kept.

    What one sort or hash of such a statement may hold in the server's memory is more than a session's as well.
    """
    with db.set_meanwhile(
        "set local enable_seqscan = on; set local plan_cache_mode = auto; set local work_mem = '64MB'",
        "set local work_mem to default; set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan",
    ):
        yield


def _asked_by() -> str:
    """Return what this thread works for, as its lines in the log name it; jobs that are asked for keep it."""
    known = structlog.contextvars.get_contextvars()
    if "job_id" in known:
        said = f"job {known.get('job')} {known['job_id']}"
    elif "request_id" in known:
        said = f"request {known['request_id']}"
    else:
        return ""
    return said.replace("'", "''").replace("\x00", "")


def _traced() -> str:
    """Return under which span this thread works, and for which request; jobs that are asked for go on under it."""
    known = structlog.contextvars.get_contextvars()
    if "traceparent" not in known:
        return ""
    said = f"{known['traceparent']} {known.get('request_id', '')}"
    return said.replace("'", "''").replace("\x00", "")


@contextmanager
def _transaction(prelude: str, organization_id: UUID | None = None, *, is_single: bool = False) -> Iterator[None]:
    if db.in_transaction():
        raise RuntimeError("a unit of work is open already: pipelines join it, they do not open their own")
    asked_by = _asked_by()
    if asked_by:
        prelude += f"; set local app.asked_by = '{asked_by}'"
    traced = _traced()
    if traced:
        prelude += f"; set local app.trace = '{traced}'"
    thread_mode.tenant = organization_id
    try:
        with db.transaction(prelude + at_replica(), is_single=is_single):
            yield
    except UNAVAILABLE as error:
        if code_of(error) != errorcodes.OBJECT_NOT_IN_PREREQUISITE_STATE:  # a replica that is behind is in order
            db.drop_connection()  # nobody may inherit its state
        raise
