"""The ground under a machine: a PostgreSQL and a Valkey of its own, what can be seen in them, and how they fail.

What is done to them is kept in `notes`, which a failing test shows. Nothing here sleeps for luck: a test waits for what
it can see (a row, a lock, an answer), with a deadline.
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

#: How long a hand-out is valid here.
LEASE_S = 2
#: What a fleet is told so that no transaction of it is ended for its silence while it waits for a core.
LONG_LEASE = {"JOB_LEASE_S": "3600"}
#: How long anything may take that a test waits for: long enough for any machine, for a wait ends with what it is for.
PATIENCE_S = 120

# A delivery has a lease of its own, 90 s for endpoints that take ten. Nobody here is given more than LEASE_S, but while
# a test has all leases longer than it takes.
_LEASES = """
create table lease_of_tests (lease_s int);
insert into lease_of_tests values (null);
create function give_lease() returns trigger language plpgsql security definer as
$$ begin new.lease_s := (select lease_s from lease_of_tests); return new; end $$;
create trigger give_lease before insert on job for each row execute function give_lease();
"""
_LONG_LEASE_S = 3600
_LOCKED_OUT = """
select from pg_locks join pg_stat_activity using (pid)
where not granted and relation = %s::regclass and application_name = 'finderfee'
"""
_UNDER_WAY = "select from pg_stat_activity where application_name = 'finderfee' and xact_start <= %s"
_END_WAITING = (
    "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
    " where application_name = 'finderfee' and xact_start <= %s and wait_event_type = 'Lock'"
)
_FORGET = "delete from worker_process where id::text <> all(%s) returning id::text"
_END_LEASES = """
update job set deadline = now(), run_at = now(), lease_s = null
where organization_id = %s and deadline is not null and failed_at is null
"""
_PASSING_OVER = " and id in (select id from job where organization_id = %s for update skip locked)"


class BackingServers:
    """Both servers of one test session."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.notes: list[str] = []
        self._started_at = time.monotonic()
        self._connection: Any = None
        self._known: set[str] = set()
        self.urls = server_pair.start(home, durable=True)
        migrate.up(self.urls.database_owner_url)
        self.execute(_LEASES)

    def note(self, text: str) -> None:
        """Keep a line of what is done to the machine."""
        self.notes.append(f"{time.monotonic() - self._started_at:8.3f}  {text}")

    def valkey(self) -> redis.Redis:
        """Return a client of the broker's server."""
        return redis.Redis.from_url(self.urls.redis_url)

    def count_unacknowledged(self) -> int:
        """Return how many messages the broker believes to be in somebody's hands."""
        valkey = self.valkey()
        return sum(valkey.scard(key) for key in valkey.scan_iter("finderfee:__acks__.*"))

    def freeze_valkey(self, number: signal.Signals = signal.SIGSTOP) -> None:
        """Stop Valkey in mid-step: it takes connections and commands and answers none. SIGCONT thaws it."""
        self.note(f"{number.name} Valkey")
        pid = data_folder.listener_pid(data_folder.resolve(self.home).valkey_socket)
        assert pid is not None
        os.kill(pid, number)

    def restart_postgres(self) -> None:
        """Crash PostgreSQL and let it recover."""
        self.note("PostgreSQL stops immediately")
        servers.restart_postgres(self.home, "immediate")
        self.note("PostgreSQL is back")

    def start_valkey(self) -> None:
        """Start Valkey again."""
        server_pair.start(self.home, postgres=False, durable=True)
        self.note("Valkey is back")

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        """Return rows, of every tenant."""
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
        """Ask for work that no pipeline asks for."""
        self.execute(
            "insert into job (organization_id, queue, name, args, fair_key, max_attempts)"
            " values (%s, %s, %s, %s, %s, %s)",
            *(str(organization_id), queue, name, json.dumps(args), str(organization_id), max_attempts),
        )

    @contextmanager
    def pause_queue(self, queue: str) -> Iterator[None]:
        """Hand nothing out of a queue while the block runs, as an operator may ask for."""
        self.execute("insert into queue_pause (queue) values (%s)", queue)
        yield
        self.execute("delete from queue_pause where queue = %s", queue)

    def lengthen_leases(self) -> None:
        """Let no lease end, from here to the end of the test, of what is asked for from now on."""
        self.execute("update lease_of_tests set lease_s = %s", _LONG_LEASE_S)

    def end_leases(self, organization_id: UUID, *, skip_locked: bool = False) -> None:
        """Let the leases end of what a brand has out; all that is asked for from now on has a short one again.

        The row of a job that is in the middle of a transaction is locked: it is waited for, or passed over.
        """
        self.shorten_leases()
        if skip_locked:
            self.execute(_END_LEASES + _PASSING_OVER, *[str(organization_id)] * 2)
        else:
            self.execute(_END_LEASES, str(organization_id))
        self.note("leases end")

    def shorten_leases(self) -> None:
        """Give what is asked for from now on the lease of every test."""
        self.execute("update lease_of_tests set lease_s = null")

    @contextmanager
    def hold_locks(self, *statements: str) -> Iterator[None]:
        """Hold the locks of some statements while the block runs: whoever needs them waits in mid-transaction."""
        with closing(psycopg2.connect(self.urls.database_owner_url)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            self.note(f"locked: {'; '.join(statements)}")
            yield
        self.note("unlocked")

    def wait_for_lock_waiters(self, sessions: int, *, about: object = "") -> None:
        """Wait until so many sessions of the service wait for a lock with a statement that names `about`.

        On a slow machine there may be more of them: what waits for longer than its lease is asked for again.
        """
        self.wait_until(
            lambda: self.count_lock_waiters(about=about) >= sessions, f"{sessions} sessions wait for a lock"
        )

    def wait_for_table_lock(self, table: str) -> None:
        """Wait until a session of the service waits for a lock on a table.

        Its statement may not name the table at the beginning, which is all that the server tells of one that is long.
        """
        self.wait_until(lambda: bool(self.rows(_LOCKED_OUT, table)), f"a session waits for a lock on {table}")

    def count_lock_waiters(self, *, about: object = "") -> int:
        """Return how many sessions of the service wait for a lock with a statement that names `about`."""
        sql = (
            "select count(*) from pg_stat_activity"
            " where application_name = 'finderfee' and wait_event_type = 'Lock' and query like %s"
        )
        return int(self.rows(sql, f"%{about}%")[0][0])

    def end_lock_waiters(self) -> None:
        """End the sessions that wait for a lock, as they would end by themselves once their dead clients are missed.

        Also those that only come to wait for it: whatever had begun when this is called is over when it returns.
        """
        ((called_at,),) = self.rows("select clock_timestamp()")

        def is_over() -> bool:
            self.execute(_END_WAITING, called_at)
            return not self.rows(_UNDER_WAY, called_at)

        self.wait_until(is_over, "no transaction of before is under way")

    @contextmanager
    def use_models(self) -> Iterator[None]:
        """Let the models of this process speak to this machine's database, to make brands with."""
        usual = os.environ["DATABASE_URL"]
        db.db.drop_connection()
        db.connect_to(self.urls.database_url)
        try:
            yield
        finally:
            db.db.drop_connection()
            db.connect_to(usual)

    def wait_until(self, is_so: Callable[[], bool], what: str, *, within_s: float = PATIENCE_S) -> None:
        """Return as soon as it is so; fail when it is not in time."""
        is_in_time = data_folder.wait_until(is_so, timeout_s=within_s)
        assert is_in_time, f"not within {within_s} s: {what}"

    def disconnect(self) -> None:
        """Close the connection of `rows` and `execute`; they open one anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def wait_until_settled(self) -> None:
        """Wait until no work is left: no job but dead letters, no delivery that is pending."""
        try:
            self.wait_until(lambda: not self.list_unsettled(), "everything settles")
        except AssertionError as error:
            raise AssertionError(f"{error}; left: {self.list_unsettled()}") from None
        self.note("settled")

    def list_unsettled(self) -> list[tuple[Any, ...]]:
        """Return what has not settled: up to ten jobs and deliveries."""
        return self.rows(
            "(select 'job', id::text, name, attempt::text, deadline::text from job where failed_at is null limit 5)"
            " union all (select 'delivery', id::text, event_type, attempt_count::text, failure_reason"
            " from delivery where status = 'Pending' limit 5)"
        )

    def forget_killed_fleets(self) -> None:
        """Forget the announcements of fleets that were killed; by itself that takes 12 seconds.

        Those that live announce themselves again, and are not new for that.
        """
        self._known |= {process_id for (process_id,) in self.rows(_FORGET, [])}

    def forget_other_processes(self, living: Collection[str]) -> None:
        """Forget the announcements of all other worker processes, and what the broker believes to be in their hands."""
        self._known |= {process_id for (process_id,) in self.rows(_FORGET, list(living))}
        valkey = self.valkey()
        for key in valkey.scan_iter("finderfee:__acks__.*"):
            _, process_id, queue = key.decode().split(".", 2)
            if process_id not in living and (fetched := valkey.smembers(key)):
                valkey.hdel(f"finderfee:{queue}.msgs", *fetched)
                valkey.delete(key)

    def list_known_process_ids(self) -> list[str]:
        """Return the ids of the worker processes that ever were, as far as anybody remembers."""
        self._known |= {process_id for (process_id,) in self.rows("select id::text from worker_process")}
        return list(self._known)

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
