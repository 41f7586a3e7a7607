"""Connections of a delivering process when it ends."""

import os
import subprocess
import sys
from http.server import ThreadingHTTPServer
from threading import Thread

import pytest

from commands.demo.no_delay_handler import NoDelayHandler

_DELIVER = """
import sys
from pipelines.webhooks import deliver
print(deliver._client().post(sys.argv[1], body=b"{}", headers={}).status)
"""


class _KeepAliveHandler(NoDelayHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()


@pytest.fixture
def url():
    with ThreadingHTTPServer(("127.0.0.1", 0), _KeepAliveHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_idle_connections_are_closed_with_the_process(url):
    env = os.environ | {"WEBHOOK_ALLOW_PRIVATE": "on", "SECRET_KEY": "of-this-test-alone" * 3}
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", _DELIVER, url]
    result = subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    assert (result.stdout, result.stderr) == ("204\n", "")
