"""One thread's connection to one server, with the driver's errors raised as peewee's.

This module alone uses a name that peewee keeps private (tests/models/test_peewee.py).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import peewee
import psycopg2.extensions
from peewee import DatabaseError, InterfaceError, OperationalError

from models.session.database_clock import DatabaseClock
from models.session.transactions import Transaction

#: The server is unreachable or has just closed the connection, or the transaction could not continue.
UNAVAILABLE = (OperationalError, InterfaceError)

# Raises psycopg2's errors as peewee's, which carry them as `orig`.
_peewee_errors: Any = vars(peewee)["__exception_wrapper__"]

_IDLE = psycopg2.extensions.TRANSACTION_STATUS_IDLE
_IN_ERROR = psycopg2.extensions.TRANSACTION_STATUS_INERROR


class ServerConnection:
    """A connection to the primary or to the replica: opened by its first statement and replaced when it is lost.

    `hooks` are called with the text of every round trip.
    """

    def __init__(self, connect: Callable[[], Any], hooks: Sequence[Callable[[bytes], None]]) -> None:
        self._connect = connect
        self._hooks = hooks
        self._driver: Any = None
        #: The transaction that the thread has open here; it outlives a connection that is replaced.
        self.transaction: Transaction | None = None
        #: Names of the statements that are prepared on the connection, and facts about its server; lost with it.
        self.known: set[str] = set()

    @property
    def is_lost(self) -> bool:
        """Whether there is no connection, or one that turned out to be closed."""
        return self._driver is None or bool(self._driver.closed)

    @property
    def is_idle(self) -> bool:
        """Whether the server has no transaction open."""
        return self.is_lost or self._driver.get_transaction_status() == _IDLE

    @property
    def has_failed_statement(self) -> bool:
        """Whether a statement failed, so that the transaction on the server can only be rolled back."""
        return not self.is_lost and self._driver.get_transaction_status() == _IN_ERROR

    def driver(self) -> Any:
        """Return the driver's connection, opened if needed."""
        if self._driver is None:
            self.reopen()
        return self._driver

    def reopen(self) -> None:
        """Open a connection in place of this one; the open transaction stays, to be sent on it or rolled back."""
        self.close()
        with _peewee_errors:
            self._driver = self._connect()

    def close(self) -> None:
        """Close the connection; the next statement opens another."""
        driver, self._driver, self.known = self._driver, None, set()
        if driver is not None:
            with suppress(psycopg2.Error):  # it is broken, which is why it is closed
                driver.close()

    def read_clock(self, clock: DatabaseClock) -> None:
        """Read the server's clock on the open connection, which is in no transaction."""
        with _peewee_errors:
            clock.read(self._driver)

    def render(self, sql: str, params: Any) -> bytes:
        """Return a statement with its parameters as literals."""
        statement: bytes = self._driver.cursor().mogrify(sql, params)
        return statement

    def execute(self, message: bytes) -> Any:
        """Send statements in one round trip and return the cursor of the last one."""
        for hook in self._hooks:
            hook(message)
        cursor = self._driver.cursor()
        try:
            with _peewee_errors:
                cursor.execute(message)
        except DatabaseError as error:
            if type(error) is not DatabaseError:
                raise
            # The server has gone and libpq has not noticed: psycopg2 then knows neither a code nor that it is closed.
            self._driver.close()
            raise OperationalError(*error.args) from error
        return cursor
