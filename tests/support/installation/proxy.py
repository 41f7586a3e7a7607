"""A proxy between a process and a server on a Unix socket: it sees requests and replies, and can drop them."""

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
    """An action of the proxy: forward bytes, drop them, or drop them and close the connection."""

    FORWARD = enum.auto()
    DROP = enum.auto()
    DISCONNECT = enum.auto()


# Decides about bytes as they were read from a socket; those of a small command or reply come together. It is called for
# one connection at a time, and must not wait for another one.
_Decision = Callable[[bytes], Action]


def _forward_all(_: bytes) -> Action:
    return Action.FORWARD


class Proxy:
    """A socket with the same name as the server's, in its own folder, until it is closed."""

    def __init__(
        self, server: Path, *, on_request: _Decision = _forward_all, on_reply: _Decision = _forward_all
    ) -> None:
        self._server, self._on_request, self._on_reply = server, on_request, on_reply
        self._lock = threading.Lock()
        self._folder = Path(tempfile.mkdtemp(prefix="ff-proxy-"))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / server.name))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, url: str) -> str:
        """Return a URL of the server, changed to lead through the proxy."""
        return url.replace(str(self._server.parent), str(self._folder))

    def close(self) -> None:
        """Accept no more connections; open ones stay until a side closes them."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        rmtree(self._folder)

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._forward, args=(near,), daemon=True).start()

    def _forward(self, near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far, suppress(OSError):  # either side closes the connection
            far.connect(str(self._server))
            directions = {near: (far, self._on_request), far: (near, self._on_reply)}
            while True:
                ready, _, _ = select.select(list(directions), [], [])
                for source in ready:
                    sink, decide = directions[source]
                    read = source.recv(_READ_BYTES)
                    with self._lock:
                        action = decide(read)
                    if not read or action is Action.DISCONNECT:
                        return
                    if action is Action.FORWARD:
                        sink.sendall(read)
