"""Speaks TLS before a server on a Unix socket that has none built in, with a certificate of its own."""

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_READ_BYTES = 1 << 16


@contextmanager
def served(server: Path, certificate: Path, *, trusts: Path | None = None) -> Iterator[int]:
    """Serve on a port of 127.0.0.1 and yield it. `certificate` has cert.pem and key.pem.

    With `trusts`, a file, clients have to show a certificate as well that is signed with one of those.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    if trusts is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(trusts)
    taken: list[tuple[socket.socket, threading.Thread]] = []

    def accept() -> None:
        with suppress(OSError):  # closed
            while True:
                plain, _ = listener.accept()
                taken.append((plain.dup(), threading.Thread(target=_lead_through, args=(plain, context, server))))
                taken[-1][1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for plain, led in taken:
                with plain, suppress(OSError):
                    plain.shutdown(socket.SHUT_RDWR)
                led.join()


def _lead_through(plain: socket.socket, context: ssl.SSLContext, server: Path) -> None:
    with (
        plain,
        suppress(OSError),  # either side hangs up
        context.wrap_socket(plain, server_side=True) as near,
        socket.socket(socket.AF_UNIX) as far,
    ):
        far.connect(str(server))
        while True:
            ready = [near] if near.pending() else select.select([near, far], [], [])[0]
            for source, target in ((near, far), (far, near)):
                if source in ready:
                    data = source.recv(_READ_BYTES)
                    if not data:
                        return
                    target.sendall(data)
