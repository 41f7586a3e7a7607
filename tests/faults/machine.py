"""A machine to break: its own PostgreSQL and Valkey, and the real processes of the service, each by its name.

What is done to it is kept in `notes`, which a failing test shows. Nothing here sleeps for luck: a test waits for what
it can see (a row, a lock, an answer), with a deadline.
"""

import http.client
import json
import os
import random
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg2
import redis

from adapters import embedded, embedded_place
from models import db, migrate
from tests import receiver as receivers
from tests.faults import servers
from tests.faults.processes import Process

#: How long a hand-out of a database job is valid here, and of a delivery, which may take WEBHOOK_TIMEOUT_S.
LEASE_S = 2
DELIVERY_LEASE_S = 4
#: How long anything may take that a test waits for.
PATIENCE_S = 40

_FLEET = ["dramatiq", "workers.fleet", "-p", "1", "--worker-shutdown-timeout", "10000", "--skip-logging"]
COMMANDS = {
    "web": ["gunicorn", "app:create_app()"],
    "relay": ["flask", "relay"],
    "scheduler": ["flask", "scheduler"],
    "workers": [*_FLEET, "-t", "4", "-Q", "sales", "refunds", "upkeep"],
    "webhooks": [*_FLEET, "-t", "8", "-Q", "webhooks"],
}
# A delivery's lease is 90 s, for endpoints that take ten; nobody here takes longer than two.
_SHORT_LEASES = f"""
create function shorten_lease() returns trigger language plpgsql as $$
begin new.lease_s := case when new.lease_s is not null then {DELIVERY_LEASE_S} end; return new; end $$;
create trigger shorten_lease before insert on job for each row execute function shorten_lease();
"""


class Machine:
    """The servers and processes of one test session."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.seed = int(os.environ.get("FAULT_SEED") or random.SystemRandom().randrange(10**9))
        self.notes: list[str] = []
        self.port = _free_port()
        self.processes: dict[str, Process] = {}
        self._started_at = time.monotonic()
        self._urls = embedded.start(home, durable=True)
        self.certificate = receivers.certificate(home)
        self._connection: Any = None
        migrate.up(self._urls.database_url)
        self.execute(_SHORT_LEASES)
        (home / "metrics").mkdir()

    def note(self, text: str) -> None:
        """Keep a line of what is done to the machine."""
        self.notes.append(f"{time.monotonic() - self._started_at:8.3f}  {text}")

    # Processes

    def start(self, *names: str, modules: Sequence[str] = ()) -> None:
        """Start processes and return when they do their work; `relay-2` is a second `relay`.

        `modules` are what a fleet loads besides its own actors.
        """
        known = [process_id for (process_id,) in self.rows("select id::text from worker_process")]
        for name in names:
            program, first, *rest = COMMANDS[name.partition("-")[0]]
            log = self.home / f"{name}.out"
            self.processes[name] = Process(name, [program, first, *modules, *rest], env=self._environment(), log=log)
            self.note(f"started {name}")
        new = "select from worker_process where id::text <> all(%s)"
        fleets = [self.processes[name] for name in names if name.startswith(("workers", "webhooks"))]
        self.until(
            lambda: len(self.rows(new, known)) >= sum(not fleet.has_ended for fleet in fleets),
            "the fleets announce themselves, or die of what they find",
        )
        if "web" in names:
            self.until(self._web_answers, "the web server answers")

    def kill(self, *names: str) -> None:
        """SIGKILL processes with all their children."""
        for name in names:
            self.note(f"SIGKILL {name}")
            self.processes.pop(name).kill()

    def stop(self, *names: str) -> None:
        """SIGTERM processes and wait until they have ended by themselves."""
        for name in names:
            self.note(f"SIGTERM {name}")
            self.processes[name].ask_to_end()
        for name in names:
            code = self.processes.pop(name).wait()
            assert code == 0, f"{name} ended with code {code}"

    def pause(self, name: str) -> None:
        """SIGSTOP a process with all its children."""
        self.note(f"SIGSTOP {name}")
        self.processes[name].pause()

    def resume(self, name: str) -> None:
        """SIGCONT a process with all its children."""
        self.note(f"SIGCONT {name}")
        self.processes[name].resume()

    def restore(self) -> None:
        """Bring back what a test took away: servers, the usual processes and no others, no work left over."""
        embedded.start(self.home, durable=True)
        self.valkey().config_set("maxmemory", 0)
        for buried in self.valkey().scan_iter("finderfee:*.XQ*"):
            self.valkey().delete(buried)
        for name, process in list(self.processes.items()):
            if process.has_ended or process.is_paused or name not in COMMANDS:
                self.processes.pop(name).kill()
        for leftover in ("job", "queue_pause", "delivery"):
            self.execute(f"delete from {leftover}" + (" where status = 'Pending'" if leftover == "delivery" else ""))
        self.start(*(name for name in COMMANDS if name not in self.processes))

    def shut_down(self) -> None:
        """Kill every process, stop both servers and remove every file."""
        for process in self.processes.values():
            process.kill()
        if self._connection is not None:
            self._connection.close()
        sockets = embedded_place.of(self.home).sockets
        embedded.stop(self.home)
        shutil.rmtree(sockets if self.home in sockets.parents else sockets.parent, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def said(self, name: str) -> str:
        """Return what a process has written so far."""
        return (self.home / f"{name}.out").read_text(errors="replace")

    def counted(self, *parts: str) -> int:
        """Return the sum of the metrics page's samples whose names and labels contain all `parts`."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        return sum(int(float(line.rpartition(" ")[2])) for line in lines if all(part in line for part in parts))

    def forget_the_dead(self) -> None:
        """Forget the announcements of fleets that were killed; by itself that takes 15 seconds."""
        self.execute("delete from worker_process")

    # Servers

    def valkey(self) -> redis.Redis:
        """Return a client of the broker's server."""
        return redis.Redis.from_url(self._urls.redis_url)

    def freeze_valkey(self, number: signal.Signals = signal.SIGSTOP) -> None:
        """Stop Valkey in mid-step: it takes connections and commands and answers none. SIGCONT thaws it."""
        self.note(f"{number.name} Valkey")
        pid = embedded_place.listener_pid(embedded_place.of(self.home).valkey_socket)
        assert pid is not None
        os.kill(pid, number)

    def restart_postgres(self) -> None:
        """Crash PostgreSQL and let it recover."""
        self.note("PostgreSQL stops immediately")
        servers.restart_postgres(self.home, "immediate")
        self.note("PostgreSQL is back")

    def start_valkey(self) -> None:
        """Start Valkey again."""
        embedded.start(self.home, postgres=False, durable=True)
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
    def holding(self, *statements: str) -> Iterator[None]:
        """Hold the locks of some statements while the block runs: whoever needs them waits in mid-transaction."""
        with closing(psycopg2.connect(self._urls.database_url)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            self.note(f"locked: {'; '.join(statements)}")
            yield
        self.note("unlocked")

    def until_waiting(self, sessions: int, *, about: object = "") -> None:
        """Wait until so many sessions of the service wait for a lock with a statement that names `about`."""
        self.until(lambda: self.waiting(about=about) == sessions, f"{sessions} sessions wait for a lock")

    def waiting(self, *, about: object = "") -> int:
        """Return how many sessions of the service wait for a lock with a statement that names `about`."""
        sql = (
            "select count(*) from pg_stat_activity"
            " where application_name = 'finderfee' and wait_event_type = 'Lock' and query like %s"
        )
        return int(self.rows(sql, f"%{about}%")[0][0])

    @contextmanager
    def own_models(self) -> Iterator[None]:
        """Let the models of this process speak to this machine's database, to make brands with."""
        usual = os.environ["DATABASE_URL"]
        db.db.drop_connection()
        db.connect_to(self._urls.database_url)
        try:
            yield
        finally:
            db.db.drop_connection()
            db.connect_to(usual)

    # Waiting

    def until(self, is_so: Callable[[], bool], what: str, *, within_s: float = PATIENCE_S) -> None:
        """Return as soon as it is so; fail when it is not in time."""
        is_in_time = embedded_place.wait_until(is_so, timeout_s=within_s)
        assert is_in_time, f"not within {within_s} s: {what}"

    def settle(self) -> None:
        """Wait until no work is left: no job but dead letters, no delivery that is pending."""
        try:
            self.until(lambda: not self.left(), "everything settles")
        except AssertionError as error:
            raise AssertionError(f"{error}; left: {self.left()}") from None
        self.note("settled")

    def left(self) -> list[tuple[Any, ...]]:
        """Return what has not settled: up to ten jobs and deliveries."""
        return self.rows(
            "(select 'job', id::text, name, attempt::text, deadline::text from job where failed_at is null limit 5)"
            " union all (select 'delivery', id::text, event_type, attempt_count::text, failure_reason"
            " from delivery where status = 'Pending' limit 5)"
        )

    def _web_answers(self) -> bool:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
                connection.request("GET", "/healthz")
                return connection.getresponse().status == 200
        except OSError:
            return False

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        for is_last in (False, True):
            try:
                if self._connection is None:
                    self._connection = psycopg2.connect(self._urls.database_url)
                    self._connection.autocommit = True
                self._connection.cursor().execute("select 1")
                break
            except psycopg2.Error:
                self._connection = None
                if is_last:
                    raise
        with self._connection.cursor() as cursor:
            yield cursor

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONUNBUFFERED": "1",
            "FLASK_APP": "app:create_app",
            "DATABASE_URL": self._urls.database_url,
            "REDIS_URL": self._urls.redis_url,
            "SECRET_KEY": os.environ["SECRET_KEY"],
            "DATA_DIR": str(self.home / "data"),
            "PROMETHEUS_MULTIPROC_DIR": str(self.home / "metrics"),
            "PORT": str(self.port),
            "WEB_CONCURRENCY": "1",
            "LOG_LEVEL": "warning",
            "JOB_LEASE_S": str(LEASE_S),
            "RATE_LIMIT_S2S_PER_MIN": "1000000",
            "WEBHOOK_ALLOW_PRIVATE": "on",
            "WEBHOOK_CA_BUNDLE": str(self.certificate),
            "WEBHOOK_TIMEOUT_S": "2",
            "WEBHOOK_ATTEMPTS_AT_S": "0,1,2,3,4,6,8,10,12,15,20",
            # In milliseconds: how long a consumer waits that has lost the broker.
            "dramatiq_restart_delay": "500",
        }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
