"""`flask listen` as a developer runs it: its own process, the developer's own server, real deliveries."""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from adapters.embedded.data_folder import wait_until
from adapters.safe_http import client
from commands.demo.no_delay_handler import NoDelayHandler
from commands.demo.receiver import is_genuine
from models import db
from tests.support.endpoints import Endpoint
from tests.support.running import ports

_FLASK = str(Path(sys.executable).parent / "flask")
_PATIENCE_S = 120


class OwnServer:
    """A developer's own server: records its requests and answers with `status`."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200
        owner = self

        class Handler(NoDelayHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                owner.requests.append((self.path, headers, body))
                self.send_response(owner.status)
                self.send_header("Retry-After", "77")
                self.send_header("Location", "http://127.0.0.1:1/")
                self.end_headers()
                self.wfile.write(b"said the shop")

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/in?a=b"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class ListenProcess:
    """A running `flask listen` and the lines that it has printed."""

    def __init__(self, *arguments: str, drain: Callable[..., int], **env: str) -> None:
        self.lines: list[str] = []
        self._drain = drain
        self.process = subprocess.Popen(
            [_FLASK, "listen", *arguments],
            env={**os.environ, "FLASK_APP": "app:create_app", "PYTHONUNBUFFERED": "1", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip("\n"))

    def wait_for_line(self, word: str) -> str:
        """Run the workers until a line with this word is printed; return the line."""

        def is_printed() -> bool:
            self._drain("webhooks", "sales")
            return any(word in line for line in self.lines)

        assert wait_until(is_printed, timeout_s=_PATIENCE_S), self.lines
        return next(line for line in self.lines if word in line)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Stop the process with a signal, Ctrl-C by default; return its exit status."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait until the process has ended and its output is read; return its exit status."""
        code = self.process.wait(_PATIENCE_S)
        self._reader.join(_PATIENCE_S)
        return code


@pytest.fixture
def shop():
    with closing(OwnServer()) as server:
        yield server


@pytest.fixture
def start_listen(drain):
    """Return a function that starts `flask listen`; kill the processes at the end."""
    started = []

    def start(*arguments: str, **env: str) -> ListenProcess:
        started.append(ListenProcess(*arguments, drain=drain, **env))
        return started[-1]

    yield start
    for listen in started:
        listen.process.kill()
        listen.wait()


def _sell(brand):
    brand.program()
    brand.affiliate("ben")
    assert brand.sale().status_code == 200


def _list_endpoint_urls(brand):
    return brand.rows("select url from webhook_endpoint where deleted_at is null")


def test_delivery_is_verified_printed_and_forwarded_and_the_response_returned(brand, shop, start_listen):
    listen = start_listen("--org", str(brand.id), "--forward-to", shop.url)
    listen.wait_for_line("Ready")
    secret = listen.wait_for_line("signed with").split()[-1]
    shop.status = 418
    _sell(brand)

    line = listen.wait_for_line("conversion.created  ")
    code = listen.stop()

    ((path, headers, body),) = shop.requests
    rows = brand.rows(
        "select id::text, status, response_status, response_excerpt from delivery where event_type <> 'test'"
    )
    assert path == "/in?a=b"
    assert is_genuine(headers["x-service-signature"], body, secret=secret.encode())
    assert secret.startswith("whsec_")
    assert json.loads(body)["type"] == headers["x-service-event"] == "conversion.created"
    assert headers["x-service-delivery-id"] in line
    assert "418" in line
    assert rows == [(headers["x-service-delivery-id"], "Pending", 418, "said the shop")]
    assert code == 0
    assert listen.lines[-1] == "The endpoint is removed."
    assert _list_endpoint_urls(brand) == []


def test_endpoint_is_removed_when_terminated(brand, start_listen):
    listen = start_listen("--org", str(brand.id))
    listen.wait_for_line("Ready")
    ((url,),) = _list_endpoint_urls(brand)

    code = listen.stop(signal.SIGTERM)

    assert url.startswith("http://127.0.0.1:")
    assert (code, _list_endpoint_urls(brand)) == (0, [])
    assert [action for (action,) in brand.rows("select action from audit_entry order by created_at")] == [
        "webhook_endpoint.created",
        "webhook_endpoint.deleted",
    ]


def test_selected_events_are_printed_without_a_server(brand, start_listen):
    listen = start_listen("--org", str(brand.id), "--events", "affiliate.created", "--json")
    greeting = json.loads(listen.wait_for_line("secret"))
    _sell(brand)
    brand.post("/api/v1/affiliates", {"programId": str(brand.programs[-1]), "email": "ann@example.com"})
    event = json.loads(listen.wait_for_line("ann@example.com"))
    listen.stop()

    assert greeting["organization"] == str(brand.id)
    assert (event["type"], event["status"], event["note"]) == ("affiliate.created", 200, None)
    assert json.loads(event["body"])["data"]["email"] == "ann@example.com"
    assert len(listen.lines) == 2


def test_stopped_server_returns_502_with_the_reason(brand, start_listen):
    with closing(ports.hold_port()) as unused_port:
        listen = start_listen(
            "--org", str(brand.id), "--forward-to", f"http://127.0.0.1:{ports.port_number(unused_port)}/in"
        )
        listen.wait_for_line("Ready")
        _sell(brand)

        line = listen.wait_for_line("conversion.created  ")

    assert "502  connection refused: is your server running?" in line
    assert brand.rows("select response_status from delivery where event_type <> 'test'") == [(502,)]


def test_delivery_with_a_wrong_signature_is_not_forwarded(brand, shop, start_listen, drain):
    listen = start_listen("--org", str(brand.id), "--forward-to", shop.url)
    listen.wait_for_line("Ready")
    ((url,),) = _list_endpoint_urls(brand)
    Endpoint.create(brand, f"{url}other")  # has another secret
    _sell(brand)

    listen.wait_for_line("401  refused: the signature is wrong")
    listen.wait_for_line("200 ")

    assert len(shop.requests) == 1


def test_endpoint_of_a_killed_process_is_removed_and_a_running_ones_stays(brand, start_listen):
    killed, neighbour = start_listen("--org", str(brand.id)), start_listen("--org", str(brand.id))
    for listen in (killed, neighbour):
        listen.wait_for_line("Ready")
    killed.process.kill()
    killed.wait()

    third = start_listen("--org", str(brand.id))
    third.wait_for_line("Ready")

    urls = {url for (url,) in _list_endpoint_urls(brand)}
    assert urls == {listen.wait_for_line("are sent to").split()[-1] for listen in (neighbour, third)}


def test_service_without_private_addresses_is_reported(brand, start_listen, drain, monkeypatch):
    # the workers of this process belong to a service that calls public addresses only
    public_only = client.Client(client.Policy())
    monkeypatch.setattr("pipelines.webhooks.deliver._client", lambda: public_only)
    listen = start_listen("--org", str(brand.id))

    listen.wait_for_line("The service cannot reach http://127.0.0.1:")

    assert listen.wait() == 1
    assert "WEBHOOK_ALLOW_PRIVATE=on" in listen.wait_for_line("Next: run the service on this machine")
    assert _list_endpoint_urls(brand) == []


def test_missing_demo_brand_is_reported_with_the_next_step(app, start_listen, tmp_path):
    listen = start_listen(DATA_DIR=str(tmp_path))

    assert listen.wait() == 1
    assert listen.lines == [
        f"Error: There is no demo brand in {tmp_path}. Next: flask demo, or name an organization with --org"
    ]


def test_demo_brand_is_the_default(brand, start_listen, tmp_path):
    (tmp_path / "demo.json").write_text(json.dumps({"organizationId": str(brand.id)}))
    listen = start_listen(DATA_DIR=str(tmp_path))

    assert str(brand.id) in listen.wait_for_line("Webhooks of Brand")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--forward-to", "localhost:3000"], "is not the address of a server; write one such as http://localhost:3000"),
        (["--forward-to", "http://"], "is not the address of a server"),
        (["--forward-to", "http://x:99999/"], "is not the address of a server"),
        (["--events", "nope"], "nope"),
        (["--port", "70000"], "70000"),
    ],
)
def test_invalid_arguments_exit_with_2(app, brand, arguments, message):
    result = app.test_cli_runner().invoke(args=["listen", "--org", str(brand.id), *arguments])

    assert result.exit_code == 2
    assert message in result.output
    with db.any_org_work():
        assert db.db.run("select count(*) from webhook_endpoint where organization_id = %s", (brand.id,)) == [(0,)]


def test_port_in_use_is_a_one_line_error(app, brand, shop):
    port = shop.url.split(":")[2].split("/")[0]

    result = app.test_cli_runner().invoke(args=["listen", "--org", str(brand.id), "--port", port])

    assert (result.exit_code, result.output) == (1, f"Error: Cannot listen on port {port}: Address already in use\n")
