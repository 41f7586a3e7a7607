"""The modes of a transaction: what PostgreSQL is sent and when, on which server, in how many round trips.

                   read-write              single statement      read-only             read-only at a replica
    opened by      unit_of_work(org)       unit_of_work(org,     unit_of_work in       unit_of_work in
                                           is_single=True)       read_only()           read_only(position)
    server         primary                 primary               primary               replica
    at begin       nothing                 nothing               nothing               nothing
    with the       begin, prelude,         prelude, staged ones, "read only", prelude, "read only", prelude, position
      first one    staged ones, itself     itself                itself                check, itself
    with others    staged ones, itself     as read-write         as the first one      as the first one
    at commit      staged ones, commit     nothing               nothing               nothing
    round trips    n + 1 for n statements, 1                     n for n statements    n for n statements
                   1 if all are staged,
                   0 without any

PostgreSQL runs a message without `begin` as one transaction, durable before it is answered. All modes but read-write
rely on that: nothing of them is open between two messages.

The prelude sets the tenant and the request or job that the transaction works for. On a connection of the thread's own,
the session settings come with the connection, and the first use of a prepared statement costs one more round trip
(`begin` may go with it, staged statements never do). Behind a pool of transactions, which lends each of them any of its
connections, the prelude starts with the session settings, and `keep_prepared` goes ahead of each prepared statement.

A staged statement returns nothing; its error is raised by the round trip in which it travels. While commits are
recorded (`thread_mode.recording_commits`), the position of the log is read with `commit`, in its round trip, and
`is_single` has no effect.
"""

from dataclasses import dataclass, field

from models.prepared_statements import PreparedStatement


@dataclass(frozen=True, slots=True)
class TransactionMode:
    """How a transaction is opened: `is_one_message` means that each message is a transaction of its own."""

    opening: bytes
    is_one_message: bool
    can_stage: bool


READ_WRITE = TransactionMode(b"begin; ", is_one_message=False, can_stage=True)
SINGLE_STATEMENT = TransactionMode(b"", is_one_message=True, can_stage=True)
READ_ONLY = TransactionMode(b"set local transaction_read_only = on; ", is_one_message=True, can_stage=False)


@dataclass(slots=True)
class Transaction:
    """A thread's open transaction, and what travels with its next statement.

    `is_unsent` means that nothing of it is open on the server. `prepared` are the prepared statements in what was not
    sent yet: a connection that replaces a lost one has to prepare them again.
    """

    mode: TransactionMode
    prelude: bytes
    is_single: bool
    is_unsent: bool = True
    staged: list[bytes] = field(default_factory=list)
    prepared: list[PreparedStatement] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it is open on the server, and nothing is to be sent."""
        return self.is_unsent and not self.staged

    def take_message(self, statement: bytes) -> bytes:
        """Return what to send with this statement, and mark all of it as sent."""
        opening = [self.mode.opening + self.prelude] if self.is_unsent else []
        message = b";\n".join([*opening, *self.staged, statement])
        self.staged, self.prepared, self.is_unsent = [], [], self.mode.is_one_message
        return message
