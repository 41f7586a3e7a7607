"""The PostgreSQL and Valkey servers of a test installation: their state, and their failures.

Everything that is done to them is recorded in `notes`, which a failing test prints. Nothing here sleeps for a fixed
time: tests wait for something visible (a row, a lock, a response), with a deadline.
"""

import json
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg2
import redis

from adapters.embedded import data_folder, server_pair
from models import db, migrate
from tests.support.installation import servers

#: How long the lease of a dispatched job lasts in these tests.
LEASE_S = 2
#: Variables for worker processes whose transactions must not time out while they wait for a core.
LONG_LEASE = {"JOB_LEASE_S": "3600"}
#: The limit of every wait. It is long enough for any machine, since a wait ends as soon as its condition is true.
PATIENCE_S = 120

# Deliveries have longer leases (90 s where an endpoint may take ten). Here every job has LEASE_S, except while a test
# lengthens all leases.
_LEASES = """
create table lease_of_tests (lease_s int);
insert into lease_of_tests values (null);
create function give_lease() returns trigger language plpgsql security definer as
$$ begin new.lease_s := (select lease_s from lease_of_tests); return new; end $$;
create trigger give_lease before insert on job for each row execute function give_lease();
"""
_LONG_LEASE_S = 3600
_TABLE_LOCK_WAITERS = """
select from pg_locks join pg_stat_activity using (pid)
where not granted and relation = %s::regclass and application_name = 'finderfee'
"""
_OPEN_TRANSACTIONS = "select from pg_stat_activity where application_name = 'finderfee' and xact_start <= %s"
_END_LOCK_WAITERS = (
    "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
    " where application_name = 'finderfee' and xact_start <= %s and wait_event_type = 'Lock'"
)
_DELETE_ANNOUNCEMENTS = "delete from worker_process where id::text <> all(%s) returning id::text"
_END_LEASES = """
update job set deadline = now(), run_at = now(), lease_s = null
where organization_id = %s and deadline is not null and failed_at is null
"""
_SKIP_LOCKED = " and id in (select id from job where organization_id = %s for update skip locked)"


class BackingServers:
    """PostgreSQL and Valkey of one test session."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.notes: list[str] = []
        self._started_at = time.monotonic()
        self._connection: Any = None
        self._known_process_ids: set[str] = set()
        self.urls = server_pair.start(home, durable=True)
        migrate.up(self.urls.database_owner_url)
        self.execute(_LEASES)

    def note(self, text: str) -> None:
        """Record a line about what the test does to the installation."""
        self.notes.append(f"{time.monotonic() - self._started_at:8.3f}  {text}")

    def valkey(self) -> redis.Redis:
        """Return a client of Valkey."""
        return redis.Redis.from_url(self.urls.redis_url)

    def count_unacknowledged(self) -> int:
        """Return how many messages the broker has delivered without an acknowledgement so far."""
        valkey = self.valkey()
        return sum(valkey.scard(key) for key in valkey.scan_iter("finderfee:__acks__.*"))

    def freeze_valkey(self, number: signal.Signals = signal.SIGSTOP) -> None:
        """Freeze Valkey: it accepts connections and commands and answers none, until SIGCONT is sent."""
        self.note(f"{number.name} Valkey")
        pid = data_folder.listener_pid(data_folder.resolve(self.home).valkey_socket)
        assert pid is not None
        os.kill(pid, number)

    def restart_postgres(self) -> None:
        """Crash PostgreSQL and start it again."""
        self.note("PostgreSQL crashes")
        servers.restart_postgres(self.home, "immediate")
        self.note("PostgreSQL runs again")

    def start_valkey(self) -> None:
        """Start Valkey again."""
        server_pair.start(self.home, postgres=False, durable=True)
        self.note("Valkey runs again")

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query over all tenants."""
        with self._cursor() as cursor:
            cursor.execute(sql, params or None)
            return cursor.fetchall()  # type: ignore[no-any-return]  # psycopg2 has no types

    def execute(self, sql: str, *params: object) -> None:
        """Run a statement that returns nothing, as the owner of the tables."""
        with self._cursor() as cursor:
            cursor.execute(sql, params or None)

    def insert_job(
        self, organization_id: UUID, name: str, *, queue: str = "sales", max_attempts: int = 20, **args: str
    ) -> None:
        """Insert a job directly, without a pipeline."""
        self.execute(
            "insert into job (organization_id, queue, name, args, fair_key, max_attempts)"
            " values (%s, %s, %s, %s, %s, %s)",
            *(str(organization_id), queue, name, json.dumps(args), str(organization_id), max_attempts),
        )

    @contextmanager
    def pause_queue(self, queue: str) -> Iterator[None]:
        """Pause a queue while the block runs, as an operator may do."""
        self.execute("insert into queue_pause (queue) values (%s)", queue)
        yield
        self.execute("delete from queue_pause where queue = %s", queue)

    def lengthen_leases(self) -> None:
        """Give all jobs that are dispatched from now on a lease that outlasts the test."""
        self.execute("update lease_of_tests set lease_s = %s", _LONG_LEASE_S)

    def end_leases(self, organization_id: UUID, *, skip_locked: bool = False) -> None:
        """End the leases of a brand's dispatched jobs, and give later jobs short leases again.

        A job whose row is locked by a transaction is waited for, or skipped with `skip_locked`.
        """
        self.shorten_leases()
        if skip_locked:
            self.execute(_END_LEASES + _SKIP_LOCKED, *[str(organization_id)] * 2)
        else:
            self.execute(_END_LEASES, str(organization_id))
        self.note("leases are ended")

    def shorten_leases(self) -> None:
        """Give all jobs that are dispatched from now on the usual short lease."""
        self.execute("update lease_of_tests set lease_s = null")

    @contextmanager
    def hold_locks(self, *statements: str) -> Iterator[None]:
        """Hold the locks of these statements while the block runs: transactions that need them wait."""
        with closing(psycopg2.connect(self.urls.database_owner_url)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            self.note(f"locks held: {'; '.join(statements)}")
            yield
        self.note("locks released")

    def wait_for_lock_waiters(self, sessions: int, *, about: object = "") -> None:
        """Wait until this many sessions of the service wait for a lock, in a statement that contains `about`.

        On a slow machine there may be more: a job that waits for longer than its lease is dispatched again.
        """
        self.wait_until(
            lambda: self.count_lock_waiters(about=about) >= sessions, f"{sessions} sessions wait for a lock"
        )

    def wait_for_table_lock(self, table: str) -> None:
        """Wait until a session of the service waits for a lock on a table.

        This works without the text of the statement, of which the server shows only the beginning.
        """
        self.wait_until(lambda: bool(self.rows(_TABLE_LOCK_WAITERS, table)), f"a session waits for a lock on {table}")

    def count_lock_waiters(self, *, about: object = "") -> int:
        """Return how many sessions of the service wait for a lock, in a statement that contains `about`."""
        sql = (
            "select count(*) from pg_stat_activity"
            " where application_name = 'finderfee' and wait_event_type = 'Lock' and query like %s"
        )
        return int(self.rows(sql, f"%{about}%")[0][0])

    def end_lock_waiters(self) -> None:
        """End the sessions that wait for a lock, as the server does once it notices that their clients are dead.

        Sessions that begin to wait later are ended, too: all transactions that are open now are over on return.
        """
        ((called_at,),) = self.rows("select clock_timestamp()")

        def is_over() -> bool:
            self.execute(_END_LOCK_WAITERS, called_at)
            return not self.rows(_OPEN_TRANSACTIONS, called_at)

        self.wait_until(is_over, "all transactions that were open have ended")

    @contextmanager
    def use_models(self) -> Iterator[None]:
        """Connect the models of this process to this installation's database while the block runs."""
        usual = os.environ["DATABASE_URL"]
        db.db.drop_connection()
        db.connect_to(self.urls.database_url)
        try:
            yield
        finally:
            db.db.drop_connection()
            db.connect_to(usual)

    def wait_until(self, condition: Callable[[], bool], description: str, *, within_s: float = PATIENCE_S) -> None:
        """Return as soon as the condition is true. Fails with its description after `within_s`."""
        is_true = data_folder.wait_until(condition, timeout_s=within_s)
        assert is_true, f"not within {within_s} s: {description}"

    def disconnect(self) -> None:
        """Close the connection of `rows` and `execute`, which open a new one when they need it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def wait_until_settled(self) -> None:
        """Wait until no work is left: no job except failed ones, and no pending delivery."""
        try:
            self.wait_until(lambda: not self.list_unsettled(), "no work is left")
        except AssertionError as error:
            raise AssertionError(f"{error}; left: {self.list_unsettled()}") from None
        self.note("no work is left")

    def list_unsettled(self) -> list[tuple[Any, ...]]:
        """Return up to ten jobs and deliveries that are not finished."""
        return self.rows(
            "(select 'job', id::text, name, attempt::text, deadline::text from job where failed_at is null limit 5)"
            " union all (select 'delivery', id::text, event_type, attempt_count::text, failure_reason"
            " from delivery where status = 'Pending' limit 5)"
        )

    def forget_killed_fleets(self) -> None:
        """Delete the announcements of all worker processes; the service itself takes 12 seconds to miss killed ones.

        Living processes announce themselves again, and do not count as new.
        """
        self._known_process_ids |= {process_id for (process_id,) in self.rows(_DELETE_ANNOUNCEMENTS, [])}

    def forget_other_processes(self, living: Collection[str]) -> None:
        """Delete the announcements of all other worker processes, and the messages that they have not acknowledged."""
        self._known_process_ids |= {process_id for (process_id,) in self.rows(_DELETE_ANNOUNCEMENTS, list(living))}
        valkey = self.valkey()
        for key in valkey.scan_iter("finderfee:__acks__.*"):
            _, process_id, queue = key.decode().split(".", 2)
            if process_id not in living and (fetched := valkey.smembers(key)):
                valkey.hdel(f"finderfee:{queue}.msgs", *fetched)
                valkey.delete(key)

    def list_known_process_ids(self) -> list[str]:
        """Return the ids of all worker processes that have announced themselves so far."""
        self._known_process_ids |= {process_id for (process_id,) in self.rows("select id::text from worker_process")}
        return list(self._known_process_ids)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        for is_last in (False, True):
            try:
                if self._connection is None:
                    self._connection = psycopg2.connect(self.urls.database_owner_url)
                    self._connection.autocommit = True
                self._connection.cursor().execute("select 1")
                break
            except psycopg2.Error:
                self._connection = None
                if is_last:
                    raise
        with self._connection.cursor() as cursor:
            yield cursor
