"""Stands between a process and a server on a Unix socket: sees what is asked and answered, and loses some of it."""

import enum
import select
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

_READ_BYTES = 1 << 20


class Action(enum.Enum):
    """What becomes of some bytes on their way: lost alone, or the connection is cut there as well."""

    FORWARD = enum.auto()
    DROP = enum.auto()
    DISCONNECT = enum.auto()


# Says what becomes of bytes as they were read from a socket; those of a small command or answer come together. It is
# asked of one connection's at a time, and waits for no other's.
_Look = Callable[[bytes], Action]


def _all_pass(_: bytes) -> Action:
    return Action.FORWARD


class Proxy:
    """A socket of the server's own name in a folder of its own, until it is closed."""

    def __init__(self, server: Path, *, on_request: _Look = _all_pass, on_reply: _Look = _all_pass) -> None:
        self._server, self._asked, self._answered = server, on_request, on_reply
        self._looking = threading.Lock()
        self._folder = Path(tempfile.mkdtemp(prefix="ff-proxy-"))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / server.name))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, url: str) -> str:
        """Return the server's URL, led through here."""
        return url.replace(str(self._server.parent), str(self._folder))

    def close(self) -> None:
        """Take no more connections; those that are led through stay until a side hangs up."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        rmtree(self._folder)

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._lead_through, args=(near,), daemon=True).start()

    def _lead_through(self, near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far, suppress(OSError):  # either side hangs up
            far.connect(str(self._server))
            ways = {near: (far, self._asked), far: (near, self._answered)}
            while True:
                ready, _, _ = select.select(list(ways), [], [])
                for source in ready:
                    sink, look = ways[source]
                    read = source.recv(_READ_BYTES)
                    with self._looking:
                        fate = look(read)
                    if not read or fate is Action.DISCONNECT:
                        return
                    if fate is Action.FORWARD:
                        sink.sendall(read)
