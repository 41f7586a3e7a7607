"""TLS proxy in front of a server on a Unix socket that has no TLS of its own."""

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_READ_BYTES = 1 << 16


@contextmanager
def serve_tls(server: Path, certificate: Path, *, client_ca: Path | None = None) -> Iterator[int]:
    """Serve TLS on a port of 127.0.0.1 and yield the port. `certificate` is a folder with cert.pem and key.pem.

    `client_ca` is a file of certificates: clients must then present a certificate that one of them signed.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_ca)
    connections: list[tuple[socket.socket, threading.Thread]] = []

    def accept() -> None:
        with suppress(OSError):  # closed
            while True:
                plain, _ = listener.accept()
                connections.append((plain.dup(), threading.Thread(target=_forward, args=(plain, context, server))))
                connections[-1][1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for plain, forwarder in connections:
                with plain, suppress(OSError):
                    plain.shutdown(socket.SHUT_RDWR)
                forwarder.join()


def _forward(plain: socket.socket, context: ssl.SSLContext, server: Path) -> None:
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
