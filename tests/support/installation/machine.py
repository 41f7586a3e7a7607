"""A whole installation to break: the real processes of the service, each with a name, on their own servers."""

import http.client
import itertools
import os
import random
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from adapters.embedded import data_folder, server_pair
from domain.gateways.names import Gateway
from domain.platforms.names import Platform
from domain.switches.sources import SourceName
from pipelines.schedule import SCHEDULE
from tests.adapters.rails import fake_processor
from tests.support.installation.backing_servers import LEASE_S, PATIENCE_S, BackingServers
from tests.support.installation.processes import ROOT, Process
from tests.support.outside import receiver as receivers
from tests.support.running import ports
from workers.procfile import supervisor

# The commands of the Procfile, with other queues, fewer threads and a shorter shutdown timeout. Further modules of
# worker processes ("a fleet") come right after the words of _FLEET.
_PROCFILE = {name: shlex.split(line) for name, line in supervisor.parse((ROOT / "Procfile").read_text()).items()}
_FLEET = _PROCFILE["sales"][: _PROCFILE["sales"].index("-Q")]
_WORKER_OPTIONS = ["-p", "1", "--worker-shutdown-timeout", "10000"]
COMMANDS = {
    **{name: _PROCFILE[name] for name in ("web", "relay", "scheduler", "clicks")},
    "workers": [*_FLEET, "-Q", "sales", "refunds", "tracking", "upkeep", "-t", "4", *_WORKER_OPTIONS],
    "webhooks": [*_FLEET, "-Q", "webhooks", "-t", "8", *_WORKER_OPTIONS],
    "payouts": [*_FLEET, "-Q", "payouts", "-t", "8", *_WORKER_OPTIONS],
    "gateways": [*_FLEET, "-Q", "gateways", "imports", "lookups", "-t", "24", *_WORKER_OPTIONS],
}
# Processes that run only in some tests: those of `make run` (the relay, the scheduler and the click writer in one
# process, and one fleet for all jobs that call other servers), a fleet of two processes, and one for emails.
_PROCFILE_DEV = {
    name: shlex.split(line) for name, line in supervisor.parse((ROOT / "Procfile.dev").read_text()).items()
}
_OPTIONAL_COMMANDS = {
    "loops": _PROCFILE_DEV["loops"],
    "outside": _PROCFILE_DEV["outside"],
    "mail": [*_FLEET, "-Q", "mail", "-t", "4", *_WORKER_OPTIONS],
    "pair": [*_FLEET, "-Q", "payouts", "-t", "1", *_WORKER_OPTIONS, "-p", "2"],
}
_FLEETS = tuple(name for name, command in COMMANDS.items() if command[: len(_FLEET)] == _FLEET)
# Mark every tick of today and tomorrow as done.
_NO_TICKS = """
insert into tick (name, scheduled_for) select name, current_date + 2 from unnest(%s) name on conflict do nothing
"""


class Machine(BackingServers):
    """The processes and the backing servers of one test session."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.seed = int(os.environ.get("FAULT_SEED") or random.SystemRandom().randrange(10**9))
        self._ports = [ports.hold_port() for _ in range(5)]
        #: The ports of the web server, and of fake payout rails, payment gateways, newsletter and CRM platforms, and
        #: played sources of switches. Connections to the fakes are refused until a test runs one.
        self.port, self.rail_port, self.gateway_port, self.platform_port, self.source_port = map(
            ports.port_number, self._ports
        )
        self.processes: dict[str, Process] = {}
        #: Variables of every process that lead to another broker than this installation's Valkey.
        self.broker_variables: Mapping[str, str] = {}
        self._started_with_variables: set[str] = set()
        # The ids that fleets announced, by name; unknown for fleets with the same queues that were started together.
        self._process_id_by_name: dict[str, str] = {}
        self.certificate = receivers.write_certificate(home)
        (home / "metrics").mkdir()

    def start(self, *names: str, modules: Sequence[str] = (), variables: Mapping[str, str] | None = None) -> None:
        """Start processes and wait until they are ready; `relay-2` is a second `relay`.

        `modules` are modules that a fleet loads besides its own actors, or options of a web server. `variables`
        override the installation's environment variables.
        """
        process_ids = self.list_known_process_ids()
        for name in names:
            self.launch(name, modules=modules, variables=variables)
        new = "select from worker_process where id::text <> all(%s)"
        fleets = [self.processes[name] for name in names if name.startswith(_FLEETS)]
        self.wait_until(
            lambda: len(self.rows(new, process_ids)) >= sum(not fleet.has_ended for fleet in fleets),
            "the fleets announce themselves or exit",
        )
        self._remember(names, process_ids)
        if any(name.partition("-")[0] == "web" for name in names):
            self.wait_until(self._is_web_up, "the web server answers")

    def launch(self, name: str, *, modules: Sequence[str] = (), variables: Mapping[str, str] | None = None) -> Process:
        """Start a process as `start` does, and return without waiting."""
        command = (COMMANDS | _OPTIONAL_COMMANDS)[name.partition("-")[0]]
        place = len(_FLEET) if command[: len(_FLEET)] == _FLEET else len(command)
        self.processes[name] = Process(
            name,
            [*command[:place], *modules, *command[place:]],
            env=self.environment() | (variables or {}),
            log=self.home / f"{name}.out",
        )
        (self._started_with_variables.add if variables else self._started_with_variables.discard)(name)
        self.note(f"started {name}{f' with {variables}' if variables else ''}")
        return self.processes[name]

    def restart_with_broker(self, variables: Mapping[str, str]) -> None:
        """Restart every process with another broker."""
        names = list(self.processes)
        self.kill(*names)
        self.forget_killed_fleets()
        self.broker_variables = variables
        self.start(*names)

    def kill(self, *names: str) -> None:
        """SIGKILL processes with all their children."""
        for name in names:
            self.note(f"SIGKILL {name}")
            self.processes.pop(name).kill()

    def stop(self, *names: str) -> None:
        """SIGTERM processes and wait until they have exited with code 0."""
        for name in names:
            self.note(f"SIGTERM {name}")
            self.processes[name].terminate()
        for name in names:
            code = self.processes.pop(name).wait()
            assert code == 0, f"{name} exited with code {code}"

    def pause(self, name: str) -> None:
        """SIGSTOP a process with all its children."""
        self.note(f"SIGSTOP {name}")
        self.processes[name].pause()

    def resume(self, name: str) -> None:
        """SIGCONT a process with all its children."""
        self.note(f"SIGCONT {name}")
        self.processes[name].resume()

    @contextmanager
    def backlog(self, queue: str) -> Iterator[None]:
        """Build up a backlog of the jobs that the block enqueues, in a queue with one slot; then start to dispatch it.

        Each job that is dispatched then takes others from the backlog along in its batch.
        """
        self.kill("relay")
        self.start("relay", variables={"JOB_SLOTS": f"{queue}=1"})
        with self.pause_queue(queue):
            yield

    def restore(self) -> None:
        """Restore the usual state after a test: both servers run, only the usual processes run, and no work is left.

        The scheduler enqueues nothing, since jobs of its ticks could disturb any test.
        """
        server_pair.start(self.home, durable=True)
        self.valkey().config_set("maxmemory", 0)
        self.valkey().delete("finderfee:clicks")
        for key in self.valkey().scan_iter("finderfee:*.XQ*"):
            self.valkey().delete(key)
        for name, process in list(self.processes.items()):
            if process.has_ended or process.is_paused or name not in COMMANDS or name in self._started_with_variables:
                self.processes.pop(name).kill()
        self.shorten_leases()
        self.execute(_NO_TICKS, [entry.job.name for entry in SCHEDULE])
        for table in ("job", "queue_pause", "delivery"):
            self.execute(f"delete from {table}" + (" where status = 'Pending'" if table == "delivery" else ""))
        # Jobs would be dispatched to processes that an earlier test killed, until the service misses them.
        self.forget_other_processes({self._process_id_by_name.get(name, "") for name in self.processes})
        self.start(*(name for name in COMMANDS if name not in self.processes))

    def _remember(self, names: Sequence[str], process_ids: Sequence[str]) -> None:
        """Store the ids that the fleets which were just started have announced."""
        new = self.rows("select id::text, queues from worker_process where id::text <> all(%s)", process_ids)
        self._known_process_ids.update(process_id for process_id, _ in new)
        expected = {name: _queues(name) for name in names if name.startswith(_FLEETS)}
        for name, queues in expected.items():
            self._process_id_by_name.pop(name, None)
            matches = [process_id for process_id, served in new if set(served) == queues]
            if len(matches) == 1:
                self._process_id_by_name[name] = matches[0]

    def shut_down(self) -> None:
        """Kill every process, stop both servers and remove every file."""
        for process in self.processes.values():
            process.kill()
        for stack in self._ports:
            stack.close()
        if self._connection is not None:
            self._connection.close()
        sockets = data_folder.resolve(self.home).sockets
        server_pair.stop(self.home)
        shutil.rmtree(sockets if self.home in sockets.parents else sockets.parent, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def read_output(self, name: str) -> str:
        """Return what a process has written so far."""
        return (self.home / f"{name}.out").read_text(errors="replace")

    def sum_metric(self, *parts: str) -> int:
        """Return the sum of the metric samples whose names and labels contain all `parts`."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        samples = [line for line in lines if not line.startswith("#") and all(part in line for part in parts)]
        return sum(int(float(line.rpartition(" ")[2])) for line in samples)

    def _is_web_up(self) -> bool:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
                connection.request("GET", "/healthz")
                return connection.getresponse().status == 200
        except OSError:
            return False

    def environment(self) -> dict[str, str]:
        """Return the environment variables of the processes."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONUNBUFFERED": "1",
            "FLASK_APP": "app:create_app",
            "DATABASE_URL": self.urls.database_url,
            "REDIS_URL": self.urls.redis_url,
            "SECRET_KEY": os.environ["SECRET_KEY"],
            "DATA_DIR": str(self.home / "data"),
            "PROMETHEUS_MULTIPROC_DIR": str(self.home / "metrics"),
            "PORT": str(self.port),
            "WEB_CONCURRENCY": "1",
            "LOG_LEVEL": "warning",
            "JOB_LEASE_S": str(LEASE_S),
            "CLICK_CLAIM_S": str(LEASE_S),
            "RATE_LIMITS_PER_MIN": "s2s=1000000",
            "WEBHOOK_ALLOW_PRIVATE": "on",
            "WEBHOOK_CA_BUNDLE": str(self.certificate),
            "WEBHOOK_TIMEOUT_S": "1",
            "WEBHOOK_ATTEMPTS_AT_S": "0,1,2,3,4,6,8,10,12,15,20",
            "PAYOUT_ASK_AGAIN_S": "1",
            **fake_processor.environment(f"http://127.0.0.1:{self.rail_port}"),
            "API_ADDRESSES": " ".join(
                f"{name}=http://127.0.0.1:{port}"
                for names, port in ((Gateway, self.gateway_port), (Platform, self.platform_port))
                for name in names
            ),
            **{
                f"SWITCH_{name.upper()}_BASE_URL": f"http://127.0.0.1:{self.source_port}"
                for name in SourceName
                if name != SourceName.Files
            },
            "SWITCH_REQUESTS_PER_S": "0",
            "SWITCH_RETRY_AT_S": "1,1,2,3,5,8,10",
            "LOOKUP_RETRY_AT_S": "1,2,3,4,5,6,8,10,12,15,20",
            # The milliseconds after which a consumer reconnects that has lost the broker.
            "dramatiq_restart_delay": "500",
            **self.broker_variables,
        }


def _queues(name: str) -> set[str]:
    """Return the queues that a fleet serves."""
    words = COMMANDS[name.partition("-")[0]]
    return set(itertools.takewhile(lambda word: not word.startswith("-"), words[words.index("-Q") + 1 :]))
