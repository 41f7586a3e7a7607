"""Starts, stops and locates the private PostgreSQL and Valkey of a data folder.

They are real servers from two wheels, for a machine without DATABASE_URL and REDIS_URL. They listen on unix sockets
only and outlive the process that started them: a Ctrl-C stops the web server and the workers, never the data.
`python -m adapters.embedded start|stop|status DATA_DIR` does the same by hand; `watchdog` restarts dead ones.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from adapters.embedded import data_folder, postgres_server, roles, valkey_server

# Enough for the server's last error and its cause.
_LOG_TAIL_LINES = 15
# Reading back this much always covers that many lines.
_LOG_TAIL_BYTES = 8192


class StartFailed(Exception):
    """A server did not start: the message has the problem, the end of its log and what to do next."""


@dataclass(frozen=True, slots=True)
class EmbeddedServers:
    """The addresses of both servers, as in DATABASE_URL, DATABASE_OWNER_URL and REDIS_URL."""

    database_url: str
    database_owner_url: str
    redis_url: str


def start(data_dir: Path, *, postgres: bool = True, valkey: bool = True, durable: bool = True) -> EmbeddedServers:
    """Start the requested servers of a data folder and return its URLs once they respond.

    Idempotent: running servers are reused, and concurrent callers start each one only once. `durable` False trades
    safety for speed in tests: a crash of the server may lose the last commits and everything in Valkey; it applies to
    servers started by this call. Raises StartFailed.
    """
    try:
        folder = data_folder.resolve(data_dir)
        data_folder.prepare(folder)
        with data_folder.exclusive_lock(folder.lock):
            if valkey:
                valkey_server.start(folder, durable=durable)
            if postgres:
                postgres_server.start(folder, durable=durable)
    except data_folder.ServerNotStarted as failure:
        raise StartFailed(_describe_failure(failure)) from failure
    except OSError as error:
        raise StartFailed(
            f"the embedded servers cannot use the data folder {data_dir}: {error}\n"
            "Next: free space, give this user the folder, or set DATA_DIR to another one."
        ) from error
    return build_urls(data_dir)


def build_urls(data_dir: Path) -> EmbeddedServers:
    """Return the URLs of the data folder's servers, running or not; starts nothing."""
    folder = data_folder.resolve(data_dir)
    return EmbeddedServers(
        database_url=f"postgresql://{roles.SERVICE}@/finderfee?{_connection_query(folder.sockets)}",
        database_owner_url=_owner_url("/finderfee", folder.sockets, folder.owner_password),
        redis_url=f"unix://{quote(str(folder.valkey_socket))}?db=0",
    )


def find_owner_url(database_url: str) -> str | None:
    """Return the owner's URL for the service URL of an embedded server; None for any other URL."""
    parts = urlsplit(database_url)
    sockets = Path(parse_qs(parts.query).get("host", [""])[0])
    password = sockets.parent / data_folder.OWNER_PASSWORD
    if parts.username != roles.SERVICE or not password.is_file():
        return None
    return _owner_url(parts.path, sockets, password)


def _owner_url(database: str, sockets: Path, password: Path) -> str:
    # An empty password makes libpq read the file instead of the caller's PGPASSWORD.
    file = f"password=&passfile={quote(str(password))}"
    return f"postgresql://{roles.OWNER}@{database}?{_connection_query(sockets)}&{file}"


def _connection_query(sockets: Path) -> str:
    # The port is given so that the caller's PGPORT has no effect.
    return f"host={quote(str(sockets))}&port={postgres_server.PORT}"


def stop(data_dir: Path) -> None:
    """Stop both servers cleanly and wait for their end; does nothing if none runs. No data is lost.

    Raises TimeoutError if one does not end within a minute.
    """
    folder = data_folder.resolve(data_dir)
    if not folder.home.exists():
        return
    with data_folder.exclusive_lock(folder.lock):
        valkey_server.stop(folder)
        postgres_server.stop(folder)


def status(data_dir: Path) -> dict[str, str]:
    """Return 'running' or 'stopped' for 'postgres' and 'valkey'; starts nothing."""
    folder = data_folder.resolve(data_dir)
    running = {"postgres": postgres_server.is_running(folder), "valkey": valkey_server.is_running(folder)}
    return {name: "running" if is_running else "stopped" for name, is_running in running.items()}


def _describe_failure(failure: data_folder.ServerNotStarted) -> str:
    parts = [failure.problem]
    if failure.log is not None:
        parts += [f"Log: {failure.log}", *(f"    {line}" for line in _last_lines(failure.log))]
    return "\n".join([*parts, failure.advice])


def _last_lines(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LOG_TAIL_BYTES))
            return file.read().decode(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    except OSError as error:
        return [f"(cannot be read: {error})"]


def main(arguments: list[str]) -> int:
    """Run the command line; return the exit status."""
    if len(arguments) != 2 or arguments[0] not in ("start", "stop", "status"):
        print("usage: python -m adapters.embedded start|stop|status DATA_DIR", file=sys.stderr)
        return 2
    verb, data_dir = arguments[0], Path(arguments[1])
    if verb == "start":
        servers = start(data_dir)
        print(f"DATABASE_URL={servers.database_url}\nDATABASE_OWNER_URL={servers.database_owner_url}")
        print(f"REDIS_URL={servers.redis_url}")
    if verb == "stop":
        stop(data_dir)
    for name, state in status(data_dir).items():
        print(f"{name} {state}")
    return 0
