"""The database and the unit of work.

A unit of work is one transaction that belongs to one organization: row-level security shows it that tenant's rows and
no others. `models.session.transactions` has the table of what is sent when.

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

from models.session import session_settings, thread_mode
from models.session.database import Database
from models.session.database_clock import database_clock as database_clock
from models.session.server_connection import UNAVAILABLE as UNAVAILABLE

psycopg2.extras.register_uuid()
psycopg2.extras.register_default_jsonb(globally=True, loads=orjson.loads)

#: Raised for a statement that names a table or a column that does not exist.
UNDEFINED = ProgrammingError

# The server is there: this transaction alone waited too long for others, or ran too long.
_TIMEOUT_OR_DEADLOCK = (errorcodes.LOCK_NOT_AVAILABLE, errorcodes.QUERY_CANCELED, errorcodes.DEADLOCK_DETECTED)

# A transaction without a statement for this long belongs to a process that froze; its locks are released.
_IDLE_TIMEOUT_S = 60

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


db = Database()


def connect_to(
    database_url: str,
    *,
    replica_url: str | None = None,
    idle_timeout_s: int = _IDLE_TIMEOUT_S,
    is_pooled: bool = False,
) -> None:
    """Set this process's database, or with `is_pooled` a pool of transactions in front of it; opens no connection.

    `replica_url` is a replica of it for `read_only`, reached in the same way.
    The server ends a transaction in which this process sends no statement for `idle_timeout_s` seconds.
    """
    options: dict[str, Any] = {} if is_pooled else {"options": session_settings.connection_options(idle_timeout_s)}
    db.configure(
        _dsn(database_url),
        replica_dsn=_dsn(replica_url) if replica_url else None,
        pooled_settings=session_settings.transaction_prelude(idle_timeout_s) if is_pooled else None,
        application_name="finderfee",
        connect_timeout=5,
        **options,
        **_KEEPALIVE,
    )


def _dsn(url: str) -> str:
    return url.replace("postgres://", "postgresql://", 1)


@contextmanager
def unit_of_work(organization_id: UUID, *, is_single: bool = False) -> Iterator[None]:
    """Open the one transaction of a request or a job, seeing `organization_id`'s rows only.

    Leaving the block commits; an exception rolls everything back. Only the HTTP edge and the workers open one.
    With `is_single` it is for a single statement (`db.run_single`), which is committed in its own round trip.
    """
    with _transaction(f"select set_config('app.org', '{organization_id}', true)", organization_id, is_single=is_single):
        yield


@contextmanager
def any_org_work() -> Iterator[None]:
    """Open a transaction that sees every tenant. For the functions named `any_org_*` and the job runner alone."""
    with _transaction("set local app.any_org = 'on'"):
        yield


@contextmanager
def read_only(position: int | None = None) -> Iterator[None]:
    """Make this thread's units of work read-only, at the primary or, with a position, at a replica that is there.

    Each of their statements is one round trip, and there is no commit (`models.session.transactions`).
    Raises UNAVAILABLE if the replica is behind or unreachable, or has to replay what the statement reads; UNDEFINED if
    it does not have the tables of a new release yet.
    """
    with thread_mode.read_only(position), nullcontext() if position is None else db.at_replica():
        yield


def read_clock() -> None:
    """Read the database's clock if that is due, on this thread's connection. An unreachable database is no error."""
    if not in_transaction():
        with any_org_work():
            pass  # to begin is enough


def is_timeout_or_deadlock(error: Exception) -> bool:
    """Return whether one of UNAVAILABLE means that only this transaction could not continue; the server is there."""
    return sqlstate(error) in _TIMEOUT_OR_DEADLOCK


def is_statement_timeout(error: Exception) -> bool:
    """Return whether a statement was cancelled because it took longer than any may."""
    return sqlstate(error) == errorcodes.QUERY_CANCELED


def sqlstate(error: Exception) -> str | None:
    """Return PostgreSQL's code of an error; None if it has none."""
    code: str | None = getattr(getattr(error, "orig", None), "pgcode", None)
    return code


def in_transaction() -> bool:
    """Return whether a unit of work is open in this thread."""
    return db.in_transaction()


@contextmanager
def savepoint() -> Iterator[None]:
    """Roll back only this part of the unit of work if it raises."""
    with db.savepoint():
        yield


@contextmanager
def allowing_table_scans() -> Iterator[None]:
    """Allow the planner to read whole tables, which the session settings forbid for the sake of prepared statements.

    One sort or hash of such a statement may also use more of the server's memory.
    """
    with db.local_settings(
        "set local enable_seqscan = on; set local plan_cache_mode = auto; set local work_mem = '64MB'",
        "set local work_mem to default; set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan",
    ):
        yield


def _origin() -> str:
    """Return the job or request that this thread works for, as its log lines name it; jobs that it stages store it."""
    context = structlog.contextvars.get_contextvars()
    if "job_id" in context:
        return _escape(f"job {context.get('job')} {context['job_id']}")
    return _escape(f"request {context['request_id']}") if "request_id" in context else ""


def _trace() -> str:
    """Return the span and the request that this thread works under; jobs that it stages continue them."""
    context = structlog.contextvars.get_contextvars()
    return _escape(f"{context['traceparent']} {context.get('request_id', '')}") if "traceparent" in context else ""


def _escape(text: str) -> str:
    return text.replace("'", "''").replace("\x00", "")


@contextmanager
def _transaction(prelude: str, organization_id: UUID | None = None, *, is_single: bool = False) -> Iterator[None]:
    if db.in_transaction():
        raise RuntimeError("a unit of work is open already: pipelines join it, they do not open their own")
    for setting, value in (("app.asked_by", _origin()), ("app.trace", _trace())):
        if value:
            prelude += f"; set local {setting} = '{value}'"
    thread_mode.current.organization_id = organization_id
    try:
        with db.transaction(prelude + thread_mode.position_check(), is_single=is_single):
            yield
    except UNAVAILABLE as error:
        if sqlstate(error) != errorcodes.OBJECT_NOT_IN_PREREQUISITE_STATE:  # a replica that is behind is in order
            db.drop_connection()  # its state is unknown
        raise
