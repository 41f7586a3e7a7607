"""Stands between a process and a server on a Unix socket: sees what is asked, and may lose an answer."""

import select
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

_READ_BYTES = 1 << 20

# Takes bytes as they were read from a socket, which need not be whole messages.
_Look = Callable[[bytes], bool]


def _nothing(_: bytes) -> bool:
    return False


class Proxy:
    """A socket of the server's own name in a folder of its own, until it is closed.

    `asked` sees what goes to the server, after it went. An answer that `is_lost` says yes to is dropped and its
    connection cut, as by a network that fails in that moment; `lost` counts them.
    """

    def __init__(self, server: Path, *, asked: _Look = _nothing, is_lost: _Look = _nothing) -> None:
        self.lost = 0
        self._server, self._asked, self._is_lost = server, asked, is_lost
        self.folder = Path(tempfile.mkdtemp(prefix="ff-proxy-"))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / server.name))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, url: str) -> str:
        """Return the server's URL, led through here."""
        return url.replace(str(self._server.parent), str(self.folder))

    def close(self) -> None:
        """Take no more connections; those that are led through stay until a side hangs up."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        rmtree(self.folder)

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._lead_through, args=(near,), daemon=True).start()

    def _lead_through(self, near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far, suppress(OSError):  # either side hangs up
            far.connect(str(self._server))
            while True:
                ready, _, _ = select.select([near, far], [], [])
                for source in ready:
                    read = source.recv(_READ_BYTES)
                    if not read or (source is far and self._is_cut(read)):
                        return
                    (far if source is near else near).sendall(read)
                    if source is near:
                        self._asked(read)

    def _is_cut(self, answer: bytes) -> bool:
        is_lost = self._is_lost(answer)
        self.lost += is_lost
        return is_lost
