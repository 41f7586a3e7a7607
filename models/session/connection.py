"""A thread's connection: statements staged, prepared and sent together, and a transaction that is lost as a whole.

One thread has one connection to the primary, opened when it is first needed and kept, and one to the replica where it
reads there.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import peewee
import psycopg2.extensions
from peewee import DatabaseError, InterfaceError, InternalError, OperationalError, PostgresqlDatabase

from models.prepared_statements import Lookup, PreparedStatement
from models.session.database_clock import database_clock
from models.session.thread_mode import POSITION, thread_mode

Params = Sequence[object] | Mapping[str, object]

#: The server is away, or has just dropped the connection, or the transaction could not go on.
AWAY = (OperationalError, InterfaceError)

# Turns psycopg2's exceptions into peewee's, as peewee itself does.
_translated: Any = vars(peewee)["__exception_wrapper__"]

_IDLE = psycopg2.extensions.TRANSACTION_STATUS_IDLE
_IN_ERROR = psycopg2.extensions.TRANSACTION_STATUS_INERROR
_BEGIN = b"begin; "
_LOST = "the connection was lost in the middle of the transaction; nothing of it was kept"

# What can be done without is not waited for long, in seconds.
_REPLICA_TIMEOUT_S = 2


class Database(PostgresqlDatabase):
    """peewee's PostgreSQL database with staged statements and a transaction that knows its tenant."""

    #: peewee's own per-thread state (the connection, the open transactions); its stubs leave it out.
    _state: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._staged = threading.local()
        #: Called with the text of every round trip; tests count the budgets of hot paths with it.
        self.trip_hooks: list[Callable[[bytes], None]] = []
        #: Whether connections are shared by the transaction, and what each transaction begins with then.
        self.is_pooled = False
        self.told = ""
        #: Where lists and numbers may be read; None: at the primary, as everything else is.
        self.replica: str | None = None
        self._elsewhere = threading.local()
        super().__init__(*args, **kwargs)
        # peewee opens connections one at a time; with a server that does not answer, threads would queue for it.
        self._lock = nullcontext()

    def stage(self, sql: str | PreparedStatement, params: Params = ()) -> None:
        """Add a statement whose result nobody needs; it travels with the next one or with the commit.

        What only reads has nothing to stage: see `set_meanwhile` for settings.
        """
        if self._is_reading():
            raise RuntimeError("a transaction that only reads stages nothing")
        statement = self._filled_in(sql, params)  # a connection that is replaced forgets what was staged, so first this
        self._staged.statements.append(statement)

    @contextmanager
    def set_meanwhile(self, settings: str, before: str) -> Iterator[None]:
        """Let the statements of a block run under settings of the transaction (SQL), and what follows as `before`."""
        self._statements().append(settings.encode())
        yield
        if self._is_reading():
            self._statements().remove(settings.encode())
        else:
            self._statements().append(before.encode())

    def run(self, sql: str | PreparedStatement, params: Params = ()) -> list[tuple[Any, ...]]:
        """Execute a statement and return its rows (none for a statement that returns none).

        A `Lookup` that finds no row is executed a second time.
        """
        rows = self._fetch(sql, params)
        if isinstance(sql, Lookup) and sql.is_absent(rows):
            return self._fetch(sql, params)
        return rows

    def run_last(self, sql: str | PreparedStatement, params: Params = ()) -> list[tuple[Any, ...]]:
        """Execute the statement that a unit of work was opened for and return its rows, committed in its round trip.

        What travels together without `begin` is a transaction of its own, and answers when that is durable. So it is in
        a unit of work that `is_single` before anything was sent; in any other, and where commits are noted, it is as
        `run`. What comes after it in the same unit of work is another transaction.
        As with every first statement, it comes a second time where the connection was lost before its answer, perhaps
        behind the first one's commit: it is to be one that does nothing the second time.
        """
        statement = self._filled_in(sql, params)
        if not (self._is_unsent() and self._staged.is_single) or thread_mode.is_noting or thread_mode.is_reading:
            return self._send(statement).fetchall()
        opening, *others = self._statements()
        self._staged.statements = [opening.removeprefix(_BEGIN), *others]
        try:
            return self._send(statement).fetchall()
        finally:
            self._staged.statements, self._staged.hot, self._staged.is_unsent = [opening], [], True

    def row(self, sql: str | PreparedStatement, params: Params = ()) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        rows = self.run(sql, params)
        return rows[0] if rows else None

    def begin(self, prelude: str | None = None, *, is_single: bool = False) -> None:
        """Open a transaction with `prelude`; it is sent with the first statement, so an empty one costs nothing.

        One that only reads is sent anew with each statement and needs no commit: what is sent together is one
        transaction to the server, with no more of it left behind than of any other (decision 57). One that `is_single`
        is for one statement (`run_last`).
        """
        if not self._is_broken() and self._state.conn.get_transaction_status() != _IDLE:
            self.drop_connection()  # an interrupt left it amidst a transaction, which would be committed with this one
        if database_clock.is_due():
            self.read_clock()
        opening = b"set local transaction_read_only = on; " if thread_mode.is_reading else _BEGIN
        self._staged.statements = [opening + f"{self.told}{prelude or ''}".encode()]
        self._staged.hot, self._staged.is_single = [], is_single
        self._staged.is_unsent, self._staged.is_reading = True, thread_mode.is_reading

    def commit(self) -> None:
        if self._is_unsent() and (self._is_reading() or len(self._statements()) == 1):
            self._forget_staged()  # nothing was asked of the database, or nothing of it is open
        elif self._is_broken() and not self._is_unsent():
            raise OperationalError(_LOST)
        elif not (self._is_committed_and_noted() if thread_mode.is_noting else self._is_committed()):
            raise InternalError("rolled back instead of committed: a statement had failed and the work went on")

    def rollback(self) -> None:
        is_to_undo = not self._is_unsent() and not self._is_broken()
        self._forget_staged()
        if is_to_undo:
            self._send(b"rollback")

    @contextmanager
    def at_replica(self) -> Iterator[None]:
        """Send this thread's statements to the replica, to which it has a connection besides the other one."""
        self._change_sides()
        try:
            yield
        finally:
            self._change_sides()

    def drop_connection(self) -> None:
        """Forget this thread's connection; the next statement opens another."""
        self._forget_staged()
        try:
            if not self.is_closed():
                self._state.conn.close()
        except psycopg2.Error:
            pass  # it was broken; that is why it is dropped
        self._state.reset()

    def read_clock(self) -> None:
        """Read the primary's clock on this thread's connection, which it opens where the clock was never read.

        A server that cannot be reached is left to the statement that needs it.
        """
        if getattr(self._elsewhere, "is_in_use", False) or (database_clock.is_known and self._is_broken()):
            return
        try:
            if self._is_broken():
                self.drop_connection()
                self.connection()
            else:
                with _translated:
                    database_clock.read(self._state.conn)
        except (DatabaseError, InterfaceError):
            self.drop_connection()

    def forget_connections(self) -> None:
        """Let go of what a parent process opened: called after a fork, closes nothing."""
        self._state.reset()
        self._staged, self._elsewhere = threading.local(), threading.local()

    def remembers(self, fact: str) -> bool:
        """Say whether this was found to hold of the server of this thread's connection; never behind a pool."""
        return not self.is_pooled and fact in self._prepared()

    def remember(self, fact: str) -> None:
        """Remember what holds of the server for as long as this connection leads to it."""
        self._prepared().add(fact)

    def _fetch(self, sql: str | PreparedStatement, params: Params) -> list[tuple[Any, ...]]:
        cursor = self._send(self._filled_in(sql, params))
        return cursor.fetchall() if cursor.description is not None else []  # `select from` has rows of no columns

    def _connect(self) -> Any:
        if not getattr(self._elsewhere, "is_in_use", False):
            connection = super()._connect()  # type: ignore[misc]  # peewee's stubs leave it out
            database_clock.read(connection)
            return connection
        # It can be done without, so nobody waits long for it.
        connection = psycopg2.connect(self.replica, **self.connect_params | {"connect_timeout": _REPLICA_TIMEOUT_S})
        connection.autocommit = True
        return connection

    def _change_sides(self) -> None:
        """Put away what this thread knows of its connection to the one server, and take up that to the other."""
        there = self._elsewhere
        for kept, name in ((self._state, "state"), (self._staged, "staged")):
            mine, theirs = vars(kept), getattr(there, name, {})
            setattr(there, name, dict(mine))
            mine.clear()
            mine.update(theirs)
        if not vars(self._state):
            self._state.reset()
        there.is_in_use = not getattr(there, "is_in_use", False)

    def _is_committed(self) -> bool:
        return bool(self._send(b"commit").statusmessage == "COMMIT")

    def _is_committed_and_noted(self) -> bool:
        if self._state.conn.get_transaction_status() == _IN_ERROR:
            return self._is_committed()  # which only the status of a commit that is sent alone tells
        thread_mode.note(int(self._send(b"commit;\n" + POSITION.encode()).fetchone()[0]))
        return True

    def _execute_cursor(self, sql: str, params: Sequence[object] | None, **options: Any) -> Any:
        return self._send(self._filled_in(sql, params or ()))

    def _filled_in(self, sql: str | PreparedStatement, params: Params) -> bytes:
        if not self.in_transaction():
            raise RuntimeError("a statement needs a unit of work")  # where a connection is shared it is nobody's
        cursor = self._live_cursor()
        if isinstance(sql, str):
            return cursor.mogrify(sql, params or None)
        if self.is_pooled:
            return sql.keep + sql.ahead + cursor.mogrify(sql.execute, sql.values(params))
        if sql.name not in self._prepared():
            self._prepare(sql)
            cursor = self._live_cursor()  # the connection may have been replaced
        if self._is_unsent():
            self._staged.hot.append(sql)
        return sql.ahead + cursor.mogrify(sql.execute, sql.values(params))

    def _prepare(self, sql: PreparedStatement) -> None:
        """Prepare a statement on this connection. `begin` may go with it, staged writes wait for what they belong to.

        A process that froze between the two would hold the locks of those writes.
        """
        staged, number_to_send = self._statements(), 1 if self._is_unsent() else 0
        self._staged.statements = staged[:number_to_send]
        self._send(sql.prepare)
        self._staged.statements = staged if self._is_reading() else staged[number_to_send:]
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
        may_repeat = self._is_unsent() and not statement.startswith(b"commit")
        cursor, hot = self._live_cursor(), self._hot()
        together = b";\n".join([*self._statements(), statement])
        if not self._is_reading():
            self._forget_staged()
        try:
            return self._round_trip(cursor, together)
        except AWAY:
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
        staged, is_unsent, is_reading = self._statements(), self._is_unsent(), self._is_reading()
        transactions = self._state.transactions
        self.drop_connection()
        try:
            return self.connection()
        finally:  # whether or not there is a new one, the open transaction is still to be left in order
            self._state.transactions = transactions
            self._staged.statements, self._staged.is_unsent, self._staged.is_reading = staged, is_unsent, is_reading

    def _is_broken(self) -> bool:
        return self.is_closed() or bool(self._state.conn.closed)

    def _statements(self) -> list[bytes]:
        return getattr(self._staged, "statements", [])

    def _hot(self) -> dict[PreparedStatement, None]:
        return dict.fromkeys(getattr(self._staged, "hot", []))

    def _is_unsent(self) -> bool:
        return getattr(self._staged, "is_unsent", False)

    def _is_reading(self) -> bool:
        """Say whether each statement is sent as a transaction of its own. Nothing of it is ever left on the server."""
        return getattr(self._staged, "is_reading", False)

    def _forget_staged(self) -> None:
        self._staged.statements = []
        self._staged.hot = []
        self._staged.is_unsent = self._staged.is_reading = False
