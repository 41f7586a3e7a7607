"""The database as a thread uses it: statements that are run, staged and prepared, and the transaction around them.

One thread has one connection to the primary, opened by its first statement, and one to the replica if it reads there.
"""

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2
from peewee import DatabaseError, InterfaceError, InternalError, OperationalError

from models.prepared_statements import Lookup, Params, PreparedStatement
from models.session import thread_mode
from models.session.database_clock import database_clock
from models.session.server_connection import UNAVAILABLE, ServerConnection
from models.session.transactions import READ_ONLY, READ_WRITE, SINGLE_STATEMENT, Transaction

_LOST = "the connection was lost in the middle of the transaction; nothing of it was kept"

# Reads that the replica does not answer go to the primary, so a connection to it is not waited for long; in seconds.
_REPLICA_TIMEOUT_S = 2

_savepoint_numbers = itertools.count(1)


class _ThreadConnections(threading.local):
    """A thread's connections, and which of them its statements go to."""

    def __init__(self, primary: Callable[[], ServerConnection], replica: Callable[[], ServerConnection]) -> None:
        self.primary, self.replica = primary(), replica()
        self.current = self.primary


class Database:
    """The primary and its replica, with one transaction per thread at a time (`models.session.transactions`)."""

    def __init__(self, dsn: str | None = None, **connect_params: Any) -> None:
        #: Called with the text of every round trip; tests count the budgets of hot paths with it.
        self.trip_hooks: list[Callable[[bytes], None]] = []
        self.forget_connections()
        self.configure(dsn, **connect_params)

    def configure(
        self,
        dsn: str | None,
        *,
        replica_dsn: str | None = None,
        pooled_settings: str | None = None,
        **connect_params: Any,
    ) -> None:
        """Set where this process connects to; opens nothing.

        `replica_dsn` is a replica for reads (None: no replica). `pooled_settings` are the statements that each
        transaction begins with if its connection comes from a pool of transactions (None: it is the thread's own).
        """
        self.drop_connection()
        self.dsn, self.replica_dsn, self.connect_params = dsn, replica_dsn, connect_params
        self.is_pooled, self._settings = pooled_settings is not None, pooled_settings or ""

    def run(self, sql: str | PreparedStatement, params: Params = ()) -> list[tuple[Any, ...]]:
        """Execute a statement and return its rows (none for a statement that returns none).

        A `Lookup` that finds no row is executed a second time.
        """
        rows = self._fetch(sql, params)
        if isinstance(sql, Lookup) and sql.is_absent(rows):
            return self._fetch(sql, params)
        return rows

    def row(self, sql: str | PreparedStatement, params: Params = ()) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        rows = self.run(sql, params)
        return rows[0] if rows else None

    def stage(self, sql: str | PreparedStatement, params: Params = ()) -> None:
        """Add a statement that returns nothing; it travels with the next one or with the commit."""
        transaction = self._transaction()
        if not transaction.mode.can_stage:
            raise RuntimeError("a transaction that only reads stages nothing")
        statement = self._render(sql, params)  # may prepare it, and replaces a connection that was lost
        transaction.staged.append(statement)

    def run_single(self, sql: str | PreparedStatement, params: Params = ()) -> list[tuple[Any, ...]]:
        """Execute the single statement of a unit of work and return its rows, committed in its round trip.

        It is committed so if the unit of work `is_single` and has sent nothing before, and commits are not recorded;
        otherwise this is `run`. Later statements of the same unit of work are another transaction.
        Like every first statement, it is sent again if the connection was lost before the answer, possibly after it was
        committed: it must do nothing the second time.
        """
        statement, transaction = self._render(sql, params), self._transaction()
        is_committed_at_once = transaction.is_single and transaction.is_unsent and transaction.mode is READ_WRITE
        if not is_committed_at_once or thread_mode.current.is_recording:
            return list(self._send(statement).fetchall())
        transaction.mode = SINGLE_STATEMENT
        try:
            return list(self._send(statement).fetchall())
        finally:
            transaction.mode = READ_WRITE

    @contextmanager
    def local_settings(self, settings: str, restore: str) -> Iterator[None]:
        """Run the statements of a block under settings of the transaction (SQL) and `restore` the former ones."""
        transaction = self._transaction()
        if transaction.mode.can_stage:
            transaction.staged.append(settings.encode())
            yield
            transaction.staged.append(restore.encode())
        else:
            outer, transaction.prelude = transaction.prelude, transaction.prelude + f";\n{settings}".encode()
            yield
            transaction.prelude = outer

    @contextmanager
    def transaction(self, prelude: str = "", *, is_single: bool = False) -> Iterator[None]:
        """Open this thread's transaction, in the mode that `thread_mode` says; commit it, or roll back on an exception.

        Nothing is sent before the first statement, so an empty one costs nothing.
        """
        self._begin(prelude, is_single=is_single)
        try:
            yield
            self._commit()
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._connection.transaction = None

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back only the block if it raises."""
        name = f"savepoint_{next(_savepoint_numbers)}"
        self.run(f"savepoint {name}")
        try:
            yield
            self.run(f"release savepoint {name}")
        except BaseException:
            self.run(f"rollback to savepoint {name}")
            raise

    def in_transaction(self) -> bool:
        """Return whether this thread has a transaction open."""
        return self._connection.transaction is not None

    @contextmanager
    def at_replica(self) -> Iterator[None]:
        """Send this thread's statements to the replica, on a connection besides the one to the primary."""
        outer, self._threads.current = self._threads.current, self._threads.replica
        try:
            yield
        finally:
            self._threads.current = outer

    def connection(self) -> Any:
        """Return the driver's connection of this thread, opened if needed."""
        return self._connection.driver()

    def drop_connection(self) -> None:
        """Close this thread's connection; the next statement opens another. An open transaction is lost."""
        self._connection.close()
        if self._connection.transaction is not None:
            self._connection.transaction.is_unsent = False

    def forget_connections(self) -> None:
        """Forget the connections of a parent process without closing them; called after a fork."""
        hooks = self.trip_hooks
        self._threads = _ThreadConnections(
            lambda: ServerConnection(self._connect_to_primary, hooks),
            lambda: ServerConnection(self._connect_to_replica, hooks),
        )

    def read_clock(self) -> None:
        """Read the primary's clock on this thread's connection, which is opened if the clock was never read.

        A server that cannot be reached is no error here: the next statement raises it.
        """
        connection = self._connection
        if connection is self._threads.replica or (database_clock.is_known and connection.is_lost):
            return
        try:
            if connection.is_lost:
                connection.reopen()  # which reads it
            else:
                connection.read_clock(database_clock)
        except (DatabaseError, InterfaceError):
            connection.close()

    def is_server_fact_known(self, fact: str) -> bool:
        """Return whether this fact about the server was stored for this thread's connection; never behind a pool."""
        return not self.is_pooled and not self._connection.is_lost and fact in self._connection.known

    def store_server_fact(self, fact: str) -> None:
        """Store a fact about the server for as long as this connection leads to it."""
        self._connection.known.add(fact)

    @property
    def _connection(self) -> ServerConnection:
        return self._threads.current

    def _transaction(self) -> Transaction:
        transaction = self._connection.transaction
        if transaction is None:
            raise RuntimeError("a statement needs a unit of work")  # on a shared connection it would have no tenant
        return transaction

    def _begin(self, prelude: str, *, is_single: bool) -> None:
        if not self._connection.is_idle:
            self.drop_connection()  # an interrupt left a transaction open, which would be committed with this one
        if database_clock.is_due():
            self.read_clock()
        mode = READ_ONLY if thread_mode.current.is_read_only else READ_WRITE
        self._connection.transaction = Transaction(mode, f"{self._settings}{prelude}".encode(), is_single)

    def _commit(self) -> None:
        if self._transaction().is_empty:
            return
        if not thread_mode.current.is_recording or self._connection.has_failed_statement:
            # Only a commit that is sent alone has a status, which says that a failed transaction was rolled back.
            is_committed = self._send(b"commit").statusmessage == "COMMIT"
        else:
            cursor = self._send(f"commit;\n{thread_mode.PRIMARY_POSITION}".encode())
            thread_mode.current.record_commit(int(cursor.fetchone()[0]))
            is_committed = True
        if not is_committed:
            raise InternalError("rolled back instead of committed: a statement had failed and the work went on")

    def _roll_back(self) -> None:
        transaction = self._transaction()
        transaction.staged = []
        if not transaction.is_unsent and not self._connection.is_lost:
            self._send(b"rollback")

    def _fetch(self, sql: str | PreparedStatement, params: Params) -> list[tuple[Any, ...]]:
        cursor = self._send(self._render(sql, params))
        return cursor.fetchall() if cursor.description is not None else []  # `select from` has rows of no columns

    def _render(self, sql: str | PreparedStatement, params: Params) -> bytes:
        """Return what to send for a statement; on a connection of the thread's own, prepare it first if needed."""
        transaction = self._transaction()
        connection = self._usable_connection()
        if isinstance(sql, str):
            return connection.render(sql, params or None)
        if self.is_pooled:
            return sql.ensure_prepared + sql.prefix + connection.render(sql.execute, sql.values(params))
        if sql.name not in connection.known:
            self._prepare(sql)
        if transaction.is_unsent:
            transaction.prepared.append(sql)
        return sql.prefix + connection.render(sql.execute, sql.values(params))

    def _prepare(self, sql: PreparedStatement) -> None:
        """Prepare a statement on this connection. `begin` may go with it, staged statements wait for the next one.

        A process that froze between the two would hold the locks of those.
        """
        transaction = self._transaction()
        staged, transaction.staged = transaction.staged, []
        self._send(sql.prepare)
        transaction.staged = staged
        self._connection.known.add(sql.name)

    def _send(self, statement: bytes) -> Any:
        """Send what is staged and a statement in one round trip.

        A connection that turns out to be lost before anything of this transaction was done is replaced, once.
        """
        connection, transaction = self._usable_connection(), self._transaction()
        is_repeatable = transaction.is_unsent and not statement.startswith(b"commit")
        prepared = transaction.prepared
        message = transaction.take_message(statement)
        try:
            return connection.execute(message)
        except UNAVAILABLE:
            if not (is_repeatable and connection.is_lost):
                raise
            connection.reopen()
            for needed in prepared:
                if needed.name not in connection.known:
                    connection.execute(needed.prepare)
                    connection.known.add(needed.name)
            return connection.execute(message)

    def _usable_connection(self) -> ServerConnection:
        connection = self._connection
        if connection.is_lost:
            if not self._transaction().is_unsent:
                raise OperationalError(_LOST)  # a new connection would silently lose what was done on the old one
            connection.reopen()
        return connection

    def _connect_to_primary(self) -> Any:
        if self.dsn is None:
            raise InterfaceError("no database: `models.db.connect_to` was not called")
        driver = psycopg2.connect(self.dsn, **self.connect_params)
        driver.autocommit = True
        database_clock.read(driver)
        return driver

    def _connect_to_replica(self) -> Any:
        driver = psycopg2.connect(self.replica_dsn, **self.connect_params | {"connect_timeout": _REPLICA_TIMEOUT_S})
        driver.autocommit = True
        return driver
