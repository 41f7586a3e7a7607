"""The paths, sockets and locks of the embedded servers of a data folder.

Everything is derived from the data folder, so every process that knows the folder finds the same servers.
`postgres_server` and `valkey_server` start the servers.
"""

import fcntl
import hashlib
import os
import socket
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# sockaddr_un holds 108 bytes and the last one is the terminating zero.
_SOCKET_PATH_LIMIT_BYTES = 107
#: The file in a data folder with the password of the database's owner.
OWNER_PASSWORD = "owner.pgpass"
_POSTGRES_SOCKET = ".s.PGSQL.5432"
# Names, or prefixes of names, that Finderfee creates in a data folder.
_COPY = "binaries"
_OWN_NAMES = (
    *("postgres", "valkey", "run", "log", "servers.lock", "owner.", _COPY),
    *("up.lock", "secret_key", "demo.", "receiver", "metrics"),
)
# Both servers log a few lines per start, so this is years of starts or one long incident.
_LOG_LIMIT_BYTES = 10_000_000
# Short compared with a start of 0.1 s, long enough to leave the cores to the servers.
_POLL_S = 0.01
# A server that accepts or sends nothing for this long is not merely busy.
_SOCKET_TIMEOUT_S = 30


class ServerNotStarted(Exception):
    """A server did not start: the problem, the log with the reason (if any) and what to do next."""

    def __init__(self, problem: str, *, log: Path | None = None, advice: str = "") -> None:
        super().__init__(problem)
        self.problem, self.log, self.advice = problem, log, advice


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The paths of a data folder: `home` is the folder itself, `sockets` the private folder of both sockets."""

    home: Path
    sockets: Path

    @property
    def lock(self) -> Path:
        """The lock file for starting and stopping servers."""
        return self.home / "servers.lock"

    @property
    def postgres(self) -> Path:
        """PostgreSQL's data directory."""
        return self.home / "postgres"

    @property
    def postgres_socket(self) -> Path:
        """The socket whose name PostgreSQL and its clients derive from the port."""
        return self.sockets / _POSTGRES_SOCKET

    @property
    def postgres_log(self) -> Path:
        """PostgreSQL's log, over all starts."""
        return self.home / "log" / "postgres.log"

    @property
    def binaries(self) -> Path:
        """A copy of the servers' programs, for a server that cannot read the installed ones."""
        return self.home / _COPY

    @property
    def owner_password(self) -> Path:
        """The password of the database's owner, in libpq's file format."""
        return self.home / OWNER_PASSWORD

    @property
    def valkey(self) -> Path:
        """Valkey's append-only files."""
        return self.home / "valkey"

    @property
    def valkey_socket(self) -> Path:
        """Valkey's socket."""
        return self.sockets / "valkey.sock"

    @property
    def valkey_log(self) -> Path:
        """Valkey's log, over all starts."""
        return self.home / "log" / "valkey.log"


def resolve(data_dir: Path) -> DataFolder:
    """Return the paths of a data folder, which need not exist; symbolic links are followed first.

    The sockets are in the folder itself unless their paths would be too long for the kernel; then they are in a short
    temporary folder named by a hash of the data folder.
    """
    home = data_dir.resolve()
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    temporary = (Path(folder) / f"finderfee-{digest}" / "run" for folder in (tempfile.gettempdir(), "/tmp"))
    fitting = (folder for folder in (home / "run", *temporary) if _fits(folder))
    return DataFolder(home=home, sockets=next(fitting))


def prepare(folder: DataFolder) -> None:
    """Create missing folders.

    Raises ServerNotStarted if another user owns the short socket folder, OSError if a folder cannot be created.
    """
    restrict_access(folder.home)
    if folder.home not in folder.sockets.parents:
        _claim(folder.sockets.parent)
    folder.sockets.mkdir(mode=0o700, exist_ok=True)
    folder.valkey.mkdir(mode=0o700, exist_ok=True)
    folder.postgres_log.parent.mkdir(exist_ok=True)


def restrict_access(home: Path) -> None:
    """Create a data folder that only this user may enter, or remove other users' access to an existing one.

    A folder of another user or with foreign files is left as it is. If PostgreSQL runs as the user nobody and cannot
    traverse private folders (`runners`), other users may traverse this one but not list it.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    status = home.stat()
    names = {path.name for path in home.iterdir()}
    if status.st_uid == os.geteuid() and all(name.startswith(_OWN_NAMES) for name in names):
        traversal = 0o011 if _COPY in names else 0
        if status.st_mode & 0o777 & ~(0o700 | traversal):
            home.chmod(0o700 | traversal)


def allow_traversal(folder: DataFolder) -> None:
    """Allow other users to traverse the data folder; its contents stay private."""
    folder.home.chmod(0o711)


@contextmanager
def exclusive_lock(lock: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file during the context; wait while another process or thread holds it."""
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def connect(path: Path) -> socket.socket | None:
    """Return a connection to the listener on a unix socket, None without a listener; the caller closes it.

    Raises OSError if the listener does not accept within seconds, or if the folder is another user's.
    """
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # With Python's own timeout a merely busy listener would be an error at once.
    for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
        client.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", _SOCKET_TIMEOUT_S, 0))
    try:
        client.connect(str(path))
    except OSError as error:
        client.close()
        if isinstance(error, FileNotFoundError | ConnectionRefusedError):
            return None
        raise
    return client


def listener_pid(path: Path) -> int | None:
    """Return the process id of the server that listens on a unix socket, None without a listener.

    The kernel reports it, so unlike a pid file it is never stale and never another process's.
    """
    client = connect(path)
    if client is None:
        return None
    with client:
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


def query_listener(path: Path, query: bytes) -> bytes:
    """Send a query and return up to 64 bytes of the response; b"" without a listener, or if it just ended."""
    client = connect(path)
    if client is None:
        return b""
    with client:
        try:
            client.sendall(query)
            return client.recv(64)
        except ConnectionError:
            return b""


def rotate_log(log: Path) -> None:
    """Rotate a large log before its server is started; the previously rotated one is deleted."""
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.1"))


def wait_until(condition: Callable[[], bool], *, timeout_s: float) -> bool:
    """Poll a condition; return True as soon as it holds, False after `timeout_s` seconds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def server_environment() -> dict[str, str]:
    """Return the environment of a server, without the caller's PG* variables and locale."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / _POSTGRES_SOCKET)) <= _SOCKET_PATH_LIMIT_BYTES


def _claim(folder: Path) -> None:
    """Create a folder in a world-writable directory, or verify that an existing one is this user's.

    It can be traversed but not listed, because PostgreSQL may run as another user than root; the socket folder
    inside it has mode 0700.
    """
    try:
        folder.mkdir(mode=0o711)
    except FileExistsError:
        status = folder.lstat()
        is_folder = folder.is_dir() and not folder.is_symlink()
        if not is_folder or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise ServerNotStarted(
                f"the socket folder {folder} belongs to another user",
                advice="Next: remove it, or set a DATA_DIR with a shorter path, so that it holds the sockets.",
            ) from None
