"""The database connection and the unit of work.

One thread has one connection, opened when it is first needed and kept. A unit of work is one transaction
that belongs to one organization: row-level security shows it that tenant's rows and no others.

Statements that return nothing may be *staged*: they are sent together with the next statement that returns
something, or with the commit. A pipeline that reads once and then writes six rows pays two round trips.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import UUID

import orjson
import peewee
import psycopg2.extensions
import psycopg2.extras
import structlog
from peewee import DatabaseError, InterfaceError, InternalError, OperationalError, PostgresqlDatabase, ProgrammingError
from psycopg2 import errorcodes

from models.hot import Hot

psycopg2.extras.register_uuid()
psycopg2.extras.register_default_jsonb(globally=True, loads=orjson.loads)

#: What a caller sees while PostgreSQL is away or has just dropped the connection.
UNAVAILABLE = (OperationalError, InterfaceError)
#: What a caller sees where a statement names a table or a column that is not there.
UNDEFINED = ProgrammingError

# Turns psycopg2's exceptions into peewee's, as peewee itself does.
_translated: Any = vars(peewee)["__exception_wrapper__"]

# What a server says that is there: this transaction alone waited too long for others.
_HELD_UP = (errorcodes.LOCK_NOT_AVAILABLE, errorcodes.QUERY_CANCELED, errorcodes.DEADLOCK_DETECTED)

Params = Sequence[object] | Mapping[str, object]

# A statement that runs longer than 15 s on an online path is a mistake; it must not hold locks for ever. Prepared
# statements are found by key, so one plan serves every value. A plan is made once and kept, often while a table is
# still empty: it must not read the whole of it.
_SESSION = (
    "-c role=finderfee_app -c timezone=UTC -c statement_timeout=15000 -c lock_timeout=10000 "
    "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
)
# Who says nothing for this long in the middle of a transaction has frozen, and its locks are given to others.
_SILENCE_S = 60

# A server that vanishes without a word is noticed within half a minute, not after the kernel's two hours.
_KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}

_IDLE = psycopg2.extensions.TRANSACTION_STATUS_IDLE
_LOST = "the connection was lost in the middle of the transaction; nothing of it was kept"


class Json(psycopg2.extras.Json):
    """Adapts a Python value to jsonb."""

    def dumps(self, value: object) -> str:
        return orjson.dumps(value).decode()


class Database(PostgresqlDatabase):
    """peewee's PostgreSQL database with staged statements and a transaction that knows its tenant."""

    #: peewee's own per-thread state (the connection, the open transactions); its stubs leave it out.
    _state: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._staged = threading.local()
        #: Called with the text of every round trip; tests count the budgets of hot paths with it.
        self.trip_hooks: list[Callable[[bytes], None]] = []
        super().__init__(*args, **kwargs)
        # peewee opens connections one at a time; with a server that does not answer, threads would queue for it.
        self._lock = nullcontext()

    def stage(self, sql: str | Hot, params: Params = ()) -> None:
        """Add a statement whose result nobody needs; it travels with the next one or with the commit."""
        if not self.in_transaction():
            raise RuntimeError("a statement can only be staged inside a unit of work")
        statement = self._filled_in(sql, params)  # a connection that is replaced forgets what was staged, so first this
        self._staged.statements.append(statement)

    def run(self, sql: str | Hot, params: Params = ()) -> list[tuple[Any, ...]]:
        """Execute a statement and return its rows (none for a statement that returns none)."""
        cursor = self._send(self._filled_in(sql, params))
        return cursor.fetchall() if cursor.description is not None else []  # `select from` has rows of no columns

    def row(self, sql: str | Hot, params: Params = ()) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        rows = self.run(sql, params)
        return rows[0] if rows else None

    def begin(self, prelude: str | None = None) -> None:
        """Open a transaction with `prelude`; it is sent with the first statement, so an empty one costs nothing."""
        if not self._is_broken() and self._state.conn.get_transaction_status() != _IDLE:
            self.drop_connection()  # an interrupt left it amidst a transaction, which would be committed with this one
        self._staged.statements = [f"begin; {prelude or ''}".encode()]
        self._staged.hot = []
        self._staged.is_unsent = True

    def commit(self) -> None:
        if self._is_unsent() and len(self._statements()) == 1:
            self._forget_staged()  # nothing was asked of the database
        elif self._is_broken() and not self._is_unsent():
            raise OperationalError(_LOST)
        elif self._send(b"commit").statusmessage != "COMMIT":
            raise InternalError("rolled back instead of committed: a statement had failed and the work went on")

    def rollback(self) -> None:
        is_to_undo = not self._is_unsent() and not self._is_broken()
        self._forget_staged()
        if is_to_undo:
            self._send(b"rollback")

    def drop_connection(self) -> None:
        """Forget this thread's connection; the next statement opens another."""
        self._forget_staged()
        try:
            if not self.is_closed():
                self._state.conn.close()
        except psycopg2.Error:
            pass  # it was broken; that is why it is dropped
        self._state.reset()

    def forget_connections(self) -> None:
        """Let go of what a parent process opened: called after a fork, closes nothing."""
        self._state.reset()
        self._staged = threading.local()

    def _execute_cursor(self, sql: str, params: Sequence[object] | None, **options: Any) -> Any:
        return self._send(self._filled_in(sql, params or ()))

    def _filled_in(self, sql: str | Hot, params: Params) -> bytes:
        cursor = self._live_cursor()
        if isinstance(sql, str):
            return cursor.mogrify(sql, params or None)
        if sql.name not in self._prepared():
            self._prepare(sql)
            cursor = self._live_cursor()  # the connection may have been replaced
        if self._is_unsent():
            self._staged.hot.append(sql)
        return cursor.mogrify(sql.execute, sql.values(params))

    def _prepare(self, sql: Hot) -> None:
        """Prepare a statement on this connection. `begin` may go with it, staged writes wait for what they belong to.

        A process that froze between the two would hold the locks of those writes.
        """
        number_to_send = 1 if self._is_unsent() else 0
        writes = self._statements()[number_to_send:]
        self._staged.statements = self._statements()[:number_to_send]
        self._send(sql.prepare)
        self._staged.statements = writes
        self._prepared().add(sql.name)

    def _prepared(self) -> set[str]:
        known, prepared = getattr(self._staged, "prepared", (None, set()))
        if known is not self._state.conn:
            prepared = set()
            self._staged.prepared = (self._state.conn, prepared)
        return prepared

    def _send(self, statement: bytes) -> Any:
        """Send what is staged and `statement` in one round trip.

        A connection that turns out to be dead before anything of this transaction was done is replaced, once.
        """
        may_repeat = self._is_unsent() and statement != b"commit"
        cursor, hot = self._live_cursor(), self._hot()
        together = b";\n".join([*self._statements(), statement])
        self._forget_staged()
        try:
            return self._round_trip(cursor, together)
        except UNAVAILABLE:
            if not (may_repeat and self._is_broken()):
                raise
            connection = self._reconnected()
            for needed in hot:
                self._round_trip(connection.cursor(), needed.prepare)
                self._prepared().add(needed.name)
            return self._round_trip(connection.cursor(), together)

    def _round_trip(self, cursor: Any, statements: bytes) -> Any:
        for hook in self.trip_hooks:
            hook(statements)
        try:
            with _translated:
                cursor.execute(statements)
        except DatabaseError as error:
            if type(error) is not DatabaseError:
                raise
            # The server has gone and libpq has not noticed: psycopg2 then knows neither a code nor that it is closed.
            cursor.connection.close()
            raise OperationalError(*error.args) from error
        return cursor

    def _live_cursor(self) -> Any:
        if not self._is_broken():
            return self._state.conn.cursor()
        if self.in_transaction() and not self._is_unsent():
            raise OperationalError(_LOST)  # a new connection would silently lose what was done on the old one
        return self._reconnected().cursor()

    def _reconnected(self) -> Any:
        staged, is_unsent, transactions = self._statements(), self._is_unsent(), self._state.transactions
        self.drop_connection()
        try:
            return self.connection()
        finally:  # whether or not there is a new one, the open transaction is still to be left in order
            self._state.transactions = transactions
            self._staged.statements, self._staged.is_unsent = staged, is_unsent

    def _is_broken(self) -> bool:
        return self.is_closed() or bool(self._state.conn.closed)

    def _statements(self) -> list[bytes]:
        return getattr(self._staged, "statements", [])

    def _hot(self) -> dict[Hot, None]:
        return dict.fromkeys(getattr(self._staged, "hot", []))

    def _is_unsent(self) -> bool:
        return getattr(self._staged, "is_unsent", False)

    def _forget_staged(self) -> None:
        self._staged.statements = []
        self._staged.hot = []
        self._staged.is_unsent = False


db = Database(None)


def connect_to(database_url: str, *, silence_s: int = _SILENCE_S) -> None:
    """Point this process at a database. Opens nothing yet.

    The server ends a transaction in which this process says nothing for `silence_s` seconds between two statements.
    """
    dsn = database_url.replace("postgres://", "postgresql://", 1)
    session = f"{_SESSION} -c idle_in_transaction_session_timeout={silence_s}s"
    db.init(dsn, options=session, application_name="finderfee", connect_timeout=5, **_KEEPALIVE)


@contextmanager
def unit_of_work(organization_id: UUID) -> Iterator[None]:
    """Open the one transaction of a request or a job, seeing `organization_id`'s rows only.

    Leaving the block commits; an exception rolls everything back. Only the HTTP edge and the workers open one.
    """
    with _transaction(f"select set_config('app.org', '{organization_id}', true)"):
        yield


@contextmanager
def any_org_work() -> Iterator[None]:
    """Open a transaction that sees every tenant. For the functions named `any_org_*` and the job runner alone."""
    with _transaction("set local app.any_org = 'on'"):
        yield


def is_held_up(error: Exception) -> bool:
    """Say whether one of UNAVAILABLE means that the database is there, and only this transaction could not go on."""
    return getattr(getattr(error, "orig", None), "pgcode", None) in _HELD_UP


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
    db.stage("set local enable_seqscan = on; set local plan_cache_mode = auto; set local work_mem = '64MB'")
    yield
    db.stage(
        "set local work_mem to default; set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan"
    )


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


@contextmanager
def _transaction(prelude: str) -> Iterator[None]:
    if db.in_transaction():
        raise RuntimeError("a unit of work is open already: pipelines join it, they do not open their own")
    asked_by = _asked_by()
    if asked_by:
        prelude += f"; set local app.asked_by = '{asked_by}'"
    try:
        with db.transaction(prelude):
            yield
    except UNAVAILABLE:
        db.drop_connection()  # nobody may inherit its state
        raise
