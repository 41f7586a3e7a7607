"""Every HTTP server of this repository sends a response body without waiting for the head to be acknowledged."""

import ast
import http.client
import http.server
import socket
import ssl
import struct
import threading
from contextlib import closing
from pathlib import Path

import pytest

from commands.demo.certificate import write_bundle
from commands.demo.no_delay_handler import NoDelayHandler
from tests.support import trees
from tests.support.installation.raw_web import run_server

_LIBRARY_HANDLERS = {
    "BaseHTTPRequestHandler",
    "SimpleHTTPRequestHandler",
    "CGIHTTPRequestHandler",
    "StreamRequestHandler",
    "WSGIRequestHandler",
}
_NAGLE_OFF = "disable_nagle_algorithm = True"
# Offset in Linux's TCP_INFO of the number of data segments that a socket has received.
_DATA_SEGMENTS_OFFSET = 152


def test_every_handler_of_a_library_server_has_nagle_off():
    handlers = {
        f"{trees.relative_name(path)}: {node.name}": _NAGLE_OFF in map(ast.unparse, node.body)
        for path in trees.list_files(*trees.PRODUCT, "tests", "integrations")
        for node in ast.walk(trees.parse_file(path))
        if isinstance(node, ast.ClassDef) and _LIBRARY_HANDLERS & set(map(_last_name, node.bases))
    }

    assert [name for name, is_off in handlers.items() if not is_off] == []
    assert handlers


@pytest.mark.parametrize("is_tls", [False, True])
def test_reused_connection_of_a_handler_has_nagle_off(is_tls: bool, tmp_path: Path):
    options: list[int] = []

    class Handler(NoDelayHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            options.append(self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        bundle = write_bundle(tmp_path)
        if is_tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(bundle.parent / "cert.pem", bundle.parent / "key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = "localhost", server.server_port
        client_context = ssl.create_default_context(cafile=str(bundle))
        client = (
            http.client.HTTPSConnection(*address, context=client_context)
            if is_tls
            else http.client.HTTPConnection(*address)
        )
        with closing(client):
            bodies = [_get(client) for _ in range(2)]
        server.shutdown()

    assert bodies == [b"ok"] * 2
    assert len(options) == 2 and all(options)


def test_web_server_sends_head_and_body_in_one_segment(tmp_path: Path):
    with run_server(tmp_path) as (web, _), closing(http.client.HTTPConnection("127.0.0.1", web.port)) as client:
        bodies = [_get(client, "/healthz") for _ in range(3)]
        segments = _count_data_segments(client.sock)

    assert all(bodies)
    assert segments == 3


def _last_name(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""


def _get(client: http.client.HTTPConnection, path: str = "/") -> bytes:
    client.request("GET", path)
    return client.getresponse().read()


def _count_data_segments(sock: socket.socket) -> int:
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return int(struct.unpack_from("I", info, _DATA_SEGMENTS_OFFSET)[0])
