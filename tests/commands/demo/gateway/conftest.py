"""The demo as `flask up` creates it: the service on a real socket, with a simulated gateway next to it."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import HTTPServer
from typing import Any

import click
import pytest
import stripe
from click.testing import Result

import settings
from adapters.embedded.data_folder import wait_until
from app import create_app
from commands.demo import demo as demo_command
from commands.demo import loopback
from commands.demo.gateway import object_store, server
from commands.demo.no_delay_handler import NoDelayHandler
from models import db
from tests.support.app_server import serve_app
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.running import ports
from tests.support.settings_overrides import override_settings

_PATIENCE_S = 120


@dataclass
class Demo:
    """The demo of one data folder.

    `flask` runs a command as another terminal would; `facts` has the ids, keys and secrets of its brands;
    `gateway_lines` has the lines that the simulated gateway printed; `reserved_ports` stay bound until the test ends.
    """

    app: Any
    monkeypatch: Any
    facts: dict[str, str] = field(default_factory=dict)
    gateway_lines: list[str] = field(default_factory=list)
    reserved_ports: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        with click.Context(click.Group("flask")):
            self._command_app = create_app()

    def flask(self, *words: str) -> tuple[int, str]:
        """Run a command; return its exit code and its whole output."""
        result = self._run(*words)
        return result.exit_code, result.output

    def json(self, *words: str) -> Any:
        """Run a command that must succeed; return the JSON document that it prints."""
        result = self._run(*words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def _run(self, *words: str) -> Result:
        with self._command_app.app_context():
            result: Result = self._command_app.test_cli_runner().invoke(args=words)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def create(self) -> None:
        """Create the demo, or the parts of it that are missing."""
        self.facts = self.json("demo", "--show-secrets")

    def change_ports(self) -> None:
        """Set PORT to another free port, and the gateway's address to the second port after it."""
        reserved = ports.hold_ports(3)
        self.reserved_ports += reserved
        port = ports.port_number(reserved[0])
        override_settings(
            self.monkeypatch, web={"port": port}, addresses={"apis": {"stripe": f"http://127.0.0.1:{port + 2}"}}
        )

    @contextmanager
    def run_gateway(self) -> Iterator[None]:
        """Run the simulated gateway; collect its output in `gateway_lines`."""
        self.gateway_lines.clear()
        with server.running(settings.current(), echo=self.gateway_lines.append):
            yield

    @contextmanager
    def run_all(self) -> Iterator[None]:
        """Run the service and the simulated gateway."""
        with serve_app(self.app, port=settings.current().web.port), self.run_gateway():
            yield

    @property
    def shop(self) -> Brand:
        """The brand with the gateway."""
        return Brand(self.app, self.facts["gatewayOrganizationId"], self.facts["gatewayApiKey"], "")

    def receive_events(self, *types: str) -> None:
        """Wait until exactly the events of these types have arrived through the connection; run their jobs."""
        received: list[Any] = []

        def is_complete() -> bool:
            received[:] = [row[0] for row in self.shop.rows("select type from gateway_event order by received_at, id")]
            return sorted(received) == sorted(types)

        assert wait_until(is_complete, timeout_s=_PATIENCE_S), received
        drain("gateways", "sales", "refunds")


@pytest.fixture
def demo(app, tmp_path, monkeypatch):
    """Return the demo of an empty data folder, on a private machine."""
    with db.any_org_work():
        db.db.run("select 1")  # connects this process to its database before the settings change
    monkeypatch.setattr(demo_command, "_SAMPLE_RATES", {})  # all tests share the rates
    override_settings(monkeypatch, servers={"data_dir": tmp_path / "data", "database_url": None})
    created = Demo(app, monkeypatch)
    created.change_ports()
    assert loopback.is_gateway_called(settings.current())
    yield created
    for port in created.reserved_ports:
        port.close()


class _Listener(HTTPServer):
    """A subscriber's server: records its requests and answers with the next of `statuses`, then with 200."""

    def __init__(self, port):
        self.requests, self.statuses = [], []
        super().__init__(("127.0.0.1", port), _RecordingHandler)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class _RecordingHandler(NoDelayHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers["Stripe-Signature"], body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        self.end_headers()


@pytest.fixture
def subscriber(tmp_path, monkeypatch):
    """Run the simulated gateway and a subscriber's server; return the server."""
    reserved = ports.hold_ports(3)  # the gateway's port is the second after the listener's
    listener = _Listener(ports.port_number(reserved[0]))
    config = override_settings(
        monkeypatch, servers={"data_dir": tmp_path}, web={"port": listener.server_port, "public_base_url": None}
    )
    with server.running(config, echo=lambda _: None):
        yield listener
    listener.shutdown()
    listener.server_close()
    for port in reserved:
        port.close()


@pytest.fixture
def client(subscriber):
    """Return Stripe's own client, connected to the simulated gateway."""
    config = settings.current()
    key = object_store.read_key(config.servers.data_dir)
    return stripe.StripeClient(key, base_addresses={"api": loopback.gateway_url(config)}, max_network_retries=0)


@pytest.fixture
def running_demo(demo):
    """Create the demo and run it; return it."""
    demo.create()
    with demo.run_all():
        yield demo
