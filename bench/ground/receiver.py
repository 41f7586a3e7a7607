"""A webhook receiver with minimal cost for HTTPS: one thread, one epoll, an immediate 200, keep-alive connections.

It reads whole requests and checks nothing. `python -m bench.ground.receiver FOLDER PORT` reads the certificate from
FOLDER.
"""

import select
import socket
import ssl
import sys
from dataclasses import dataclass, field
from pathlib import Path

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
_READ_BYTES = 65_536
_LENGTH = b"content-length: "


@dataclass(slots=True)
class _Caller:
    sock: ssl.SSLSocket
    buffer: bytearray = field(default_factory=bytearray)

    def answer(self) -> bool:
        """Read available bytes and respond to every complete request; return False if the caller has disconnected."""
        try:
            while True:
                piece = self.sock.recv(_READ_BYTES)
                if not piece:
                    return False
                self.buffer += piece
                while self._take_request():
                    self.sock.sendall(_ANSWER)
        except ssl.SSLWantReadError:
            return True
        except OSError:
            return False

    def _take_request(self) -> bool:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = self.buffer[:end].lower()
        at = head.find(_LENGTH)
        length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self.buffer) < end + 4 + length:
            return False
        del self.buffer[: end + 4 + length]
        return True


def serve(folder: Path, port: int) -> None:
    """Respond until killed."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    callers: dict[int, _Caller] = {}
    poll = select.epoll()
    poll.register(listener.fileno(), select.EPOLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == listener.fileno():
                caller = _accept(listener, tls)
                callers[caller.sock.fileno()] = caller
                poll.register(caller.sock.fileno(), select.EPOLLIN)
            elif not callers[descriptor].answer():
                poll.unregister(descriptor)
                callers.pop(descriptor).sock.close()


def _accept(listener: socket.socket, tls: ssl.SSLContext) -> _Caller:
    plain, _ = listener.accept()
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    plain.setblocking(False)
    # The first read does the handshake.
    return _Caller(tls.wrap_socket(plain, server_side=True, do_handshake_on_connect=False))


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
