"""Servers on loopback whose responses are scripted byte by byte, valid or not; real sockets, real TLS."""

import datetime
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from adapters.embedded.data_folder import wait_until
from adapters.safe_http.client import Client, Response

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Script = Callable[
    [ssl.SSLSocket, int, bytes], bool
]  # responds to request number n with this body; True keeps the connection open


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def write_authority(folder: Path) -> None:
    """Write ca.pem, and leaf.pem for localhost, hook.test and 127.0.0.1, into a folder."""
    now, ca_key, key = datetime.datetime.now(datetime.UTC), *(ec.generate_private_key(ec.SECP256R1()) for _ in "ab")
    day = datetime.timedelta(days=1)
    names = [x509.DNSName("localhost"), x509.DNSName("hook.test"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]

    def certificate(subject: str, public: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> bytes:
        builder = x509.CertificateBuilder(_name("test ca"), _name(subject), public, x509.random_serial_number())
        builder = builder.not_valid_before(now - day).not_valid_after(now + day).add_extension(extension, False)
        return builder.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    pem, pkcs8, plain = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    folder.joinpath("ca.pem").write_bytes(
        certificate("test ca", ca_key.public_key(), x509.BasicConstraints(True, None))
    )
    leaf = certificate("leaf", key.public_key(), x509.SubjectAlternativeName(names))
    folder.joinpath("leaf.pem").write_bytes(leaf + key.private_bytes(pem, pkcs8, plain))


class RawReceiver:
    """A TLS server on loopback; counts connections and records requests as (head, body)."""

    def __init__(self, leaf: Path, script: Script, address: str = "127.0.0.1", port: int = 0) -> None:
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(leaf)
        self._script = script
        self.listener = socket.create_server((address, port))
        self.port: int = self.listener.getsockname()[1]
        self.url = f"https://localhost:{self.port}/hook"
        self.connections = 0
        self.requests: list[tuple[bytes, bytes]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                plain, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with (
            plain,
            suppress(OSError),
            self._tls.wrap_socket(plain, server_side=True) as conn,
            conn.makefile("rb") as stream,
        ):
            while head := _head(stream):
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = stream.read(length)
                self.requests.append((head, body))
                if not self._script(conn, len(self.requests), body):
                    return


StartReceiver = Callable[..., RawReceiver]


class PlainReceiver:
    """A server on loopback without TLS that responds `OK` while the block runs."""

    def __enter__(self) -> "PlainReceiver":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self.requests: list[tuple[bytes, bytes]] = []
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                conn, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn: socket.socket) -> None:
        with conn, suppress(OSError), conn.makefile("rb") as stream:
            while (head := _head(stream)).startswith(b"POST"):
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append((head, stream.read(length)))
                conn.sendall(OK)
            if head:
                conn.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def _head(stream: BinaryIO) -> bytes:
    lines = list(takewhile(lambda line: line not in (b"\r\n", b""), iter(stream.readline, None)))
    return b"".join(lines)


def answer_with(*pieces: bytes, keep: bool = True, pause_s: float = 0) -> Script:
    """Return a script that sends these pieces with pauses, and keeps the connection open or closes it."""

    def script(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        for piece in pieces:
            conn.sendall(piece)
            time.sleep(pause_s)
        return keep

    return script


def dribble(head: bytes) -> Script:
    """Return a script that sends a head and then a byte at a time."""
    return answer_with(head, *[b"a"] * 60, pause_s=0.2)


def wait_for_socket_activity(client: Client) -> None:
    """Wait until the receiver has closed, or sent bytes on, every idle connection of a client."""
    connections = list(client._own_idle()._by_age)
    assert wait_until(lambda: not any(connection.is_quiet() for connection in connections), timeout_s=60)


def post(client: Client, url: str, body: bytes = b"{}") -> Response:
    """Post JSON to a URL."""
    return client.post(url, body=body, headers={"Content-Type": "application/json"})
