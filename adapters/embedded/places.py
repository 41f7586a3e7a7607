"""Names the folders, sockets and locks of the embedded servers and says who listens where.

Everything is derived from the data folder alone, so every process that knows the folder finds the same servers.
Starts nothing: that is in `postgres_server` and `valkey_server`.
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
# What Finderfee puts into a data folder, or the beginning of its name.
_COPY = "binaries"
_OURS = (
    *("postgres", "valkey", "run", "log", "servers.lock", "owner.", _COPY),
    *("up.lock", "secret_key", "demo.", "receiver", "metrics"),
)
# Both servers log a few lines per start, so this is years of starts or one loud incident.
_LOG_LIMIT_BYTES = 10_000_000
# Short enough not to be felt in a start of 0.1 s, long enough to leave the cores to the servers.
_POLL_S = 0.01
# A server that accepts or answers nothing for this long is not merely busy.
_SOCKET_TIMEOUT_S = 30


class DidNotStart(Exception):
    """A server is not there and will not come: what failed, the log that says why (if any) and what to do."""

    def __init__(self, what: str, *, log: Path | None = None, advice: str = "") -> None:
        super().__init__(what)
        self.what, self.log, self.advice = what, log, advice


@dataclass(frozen=True, slots=True)
class Place:
    """The paths of one data folder: `home` is the folder itself, `sockets` the private folder of both sockets."""

    home: Path
    sockets: Path

    @property
    def lock(self) -> Path:
        """The file that is locked while servers are started or stopped."""
        return self.home / "servers.lock"

    @property
    def postgres(self) -> Path:
        """PostgreSQL's cluster."""
        return self.home / "postgres"

    @property
    def postgres_socket(self) -> Path:
        """The socket whose name PostgreSQL and its clients derive from the port."""
        return self.sockets / _POSTGRES_SOCKET

    @property
    def postgres_log(self) -> Path:
        """What PostgreSQL said, over all starts."""
        return self.home / "log" / "postgres.log"

    @property
    def binaries(self) -> Path:
        """A copy of the servers' programs, where root may not lend its own way to them."""
        return self.home / _COPY

    @property
    def owner_password(self) -> Path:
        """The password of the database's owner, in a file as libpq reads it."""
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
        """What Valkey said, over all starts."""
        return self.home / "log" / "valkey.log"


def of(data_dir: Path) -> Place:
    """Return the paths of a data folder, which need not exist; symbolic links are followed first.

    The sockets lie in the folder itself unless their path would be too long for the kernel; then they lie in a short
    folder for temporary files that is named by a hash of the data folder.
    """
    home = data_dir.resolve()
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    temporary = (Path(folder) / f"finderfee-{digest}" / "run" for folder in (tempfile.gettempdir(), "/tmp"))
    fitting = (folder for folder in (home / "run", *temporary) if _fits(folder))
    return Place(home=home, sockets=next(fitting))


def prepare(place: Place) -> None:
    """Create the folders that are missing.

    Raises DidNotStart if somebody else made the short socket folder first, OSError if a folder cannot be made.
    """
    close(place.home)
    if place.home not in place.sockets.parents:
        _claim(place.sockets.parent)
    place.sockets.mkdir(mode=0o700, exist_ok=True)
    place.valkey.mkdir(mode=0o700, exist_ok=True)
    place.postgres_log.parent.mkdir(exist_ok=True)


def close(home: Path) -> None:
    """Make a data folder that only we may enter, or close our own that is open to others.

    Ours is what belongs to this user and holds nothing but what Finderfee puts there. Where PostgreSQL runs as nobody
    and may pass through no closed folder (`runners`), others may pass through it, and see nothing.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = home.stat()
    held = {path.name for path in home.iterdir()}
    if found.st_uid == os.geteuid() and all(name.startswith(_OURS) for name in held):
        passable = 0o011 if _COPY in held else 0
        if found.st_mode & 0o777 & ~(0o700 | passable):
            home.chmod(0o700 | passable)


def let_pass(place: Place) -> None:
    """Let other users pass through the data folder; what is in it stays closed to them."""
    place.home.chmod(0o711)


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold the lock file against all other processes and threads; wait as long as another one holds it."""
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def connect(path: Path) -> socket.socket | None:
    """Return a connection to the listener on a unix socket, None when nobody listens; the caller closes it.

    Raises OSError when the listener does not accept within seconds, or when the folder is another user's.
    """
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Python's own timeout would turn a listener that is merely busy into an error at once.
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
    """Return the process id of the server that listens on a unix socket, None when nobody does.

    The kernel answers this, so unlike a pid file it is never stale and never means another process.
    """
    client = connect(path)
    if client is None:
        return None
    with client:
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


def ask(path: Path, question: bytes) -> bytes:
    """Return the first bytes (64 at most) that a listener answers; nothing when nobody listens or it just ended."""
    client = connect(path)
    if client is None:
        return b""
    with client:
        try:
            client.sendall(question)
            return client.recv(64)
        except ConnectionError:
            return b""


def shorten(log: Path) -> None:
    """Put a log aside that has grown large, before its server is started; the one put aside before is dropped."""
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.1"))


def wait_until(is_so: Callable[[], bool], *, timeout_s: float) -> bool:
    """Return True as soon as the question is answered with yes, False after `timeout_s` seconds of no."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def environment() -> dict[str, str]:
    """Return the environment of a server: none of the caller's PG* variables or locale may change what it does."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / _POSTGRES_SOCKET)) <= _SOCKET_PATH_LIMIT_BYTES


def _claim(folder: Path) -> None:
    """Make a folder in a place where everybody may write, or make sure that it is really ours.

    It can be passed through but not listed, because PostgreSQL may run as another user than root; the socket folder
    inside it has mode 0700.
    """
    try:
        folder.mkdir(mode=0o711)
    except FileExistsError:
        found = folder.lstat()
        is_folder = folder.is_dir() and not folder.is_symlink()
        if not is_folder or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise DidNotStart(
                f"the socket folder {folder} belongs to somebody else",
                advice="Remove it, or choose a DATA_DIR with a shorter path: sockets then lie in the data folder.",
            ) from None
