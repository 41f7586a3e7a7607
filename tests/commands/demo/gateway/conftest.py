"""The demo as `flask up` makes it, with the service behind a real socket and the gateway played beside it."""

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
from commands.demo import demo as making
from commands.demo import loopback
from commands.demo.gateway import object_store, server
from commands.demo.prompt_handler import PromptHandler
from models import db
from tests.support.app_server import serve_app
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.running import ports
from tests.support.settings_overrides import override_settings

_PATIENCE_S = 120


@dataclass
class Demo:
    """The demo of one data folder. `flask` runs a command as another terminal would; `facts` are what it is made of."""

    app: Any
    monkeypatch: Any
    facts: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    held: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        with click.Context(click.Group("flask")):
            self._of_commands = create_app()

    def flask(self, *words: str) -> tuple[int, str]:
        """Run a command; return its exit code and all that it said."""
        done = self._run(*words)
        return done.exit_code, done.output

    def json(self, *words: str) -> Any:
        """Run a command that works, and return its one document."""
        done = self._run(*words, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def _run(self, *words: str) -> Result:
        with self._of_commands.app_context():
            done: Result = self._of_commands.test_cli_runner().invoke(args=words)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    def make(self) -> None:
        """Make the demo, or what of it is not there."""
        self.facts = self.json("demo", "--show-secrets")

    def move(self) -> None:
        """Let PORT be another one from now on."""
        held = ports.hold_ports(3)
        self.held += held
        port = ports.port_number(held[0])
        override_settings(
            self.monkeypatch, web={"port": port}, addresses={"apis": {"stripe": f"http://127.0.0.1:{port + 2}"}}
        )

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Play the gateway; `said` has what it says."""
        self.said.clear()
        with server.running(settings.current(), echo=self.said.append):
            yield

    @contextmanager
    def up(self) -> Iterator[None]:
        """Play the gateway beside the service."""
        with serve_app(self.app, port=settings.current().web.port), self.playing():
            yield

    @property
    def shop(self) -> Brand:
        """The brand with the gateway."""
        return Brand(self.app, self.facts["gatewayOrganizationId"], self.facts["gatewayApiKey"], "")

    def hear(self, *types: str) -> None:
        """Wait until as many events of these types have come in through the connection, and have them booked."""
        found: list[Any] = []

        def is_there() -> bool:
            found[:] = [row[0] for row in self.shop.rows("select type from gateway_event order by received_at, id")]
            return sorted(found) == sorted(types)

        assert wait_until(is_there, timeout_s=_PATIENCE_S), found
        drain("gateways", "sales", "refunds")


@pytest.fixture
def demo(app, tmp_path, monkeypatch):
    """Return the demo of an empty data folder, on a machine that is private."""
    with db.any_org_work():
        db.db.run("select 1")  # this process knows where its database is
    monkeypatch.setattr(making, "_SAMPLE_RATES", {})  # rates are everybody's, other tests' as well
    override_settings(monkeypatch, servers={"data_dir": tmp_path / "data", "database_url": None})
    found = Demo(app, monkeypatch)
    found.move()
    assert loopback.is_gateway_called(settings.current())
    yield found
    for held in found.held:
        held.close()


class _Listener(HTTPServer):
    """A server of somebody who subscribed: keeps what it is sent, and answers with the next of `statuses`, then 200."""

    def __init__(self, port):
        self.sent, self.statuses = [], []
        super().__init__(("127.0.0.1", port), _Keeps)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class _Keeps(PromptHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.sent.append((self.path, self.headers["Stripe-Signature"], body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        self.end_headers()


@pytest.fixture
def playing(tmp_path, monkeypatch):
    held = ports.hold_ports(3)  # the gateway's port is the second after the listener's
    listener = _Listener(ports.port_number(held[0]))
    config = override_settings(
        monkeypatch, servers={"data_dir": tmp_path}, web={"port": listener.server_port, "public_base_url": None}
    )
    with server.running(config, echo=lambda _: None):
        yield listener
    listener.shutdown()
    listener.server_close()
    for port in held:
        port.close()


@pytest.fixture
def client(playing):
    """stripe's own client."""
    config = settings.current()
    key = object_store.read_key(config.servers.data_dir)
    return stripe.StripeClient(key, base_addresses={"api": loopback.gateway_url(config)}, max_network_retries=0)


@pytest.fixture
def made(demo):
    """The demo, made and up."""
    demo.make()
    with demo.up():
        yield demo
