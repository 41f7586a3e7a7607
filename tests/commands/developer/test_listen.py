"""`flask listen` as a developer runs it: a process of its own, a server of theirs, real deliveries."""

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
from commands.demo.prompt_handler import PromptHandler
from commands.demo.receiver import is_genuine
from models import db
from tests.support.endpoints import Endpoint
from tests.support.running import ports

_FLASK = str(Path(sys.executable).parent / "flask")
_PATIENCE_S = 120


class OwnServer:
    """A developer's own server: keeps what it gets and answers `status`."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200
        owner = self

        class Handler(PromptHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
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


class Listening:
    """A running `flask listen` and what it has printed."""

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
        with self.process.stdout as printed:
            for line in printed:
                self.lines.append(line.rstrip("\n"))

    def until(self, word: str) -> str:
        """Let the workers work until a line has this word, and return it."""

        def has_come() -> bool:
            self._drain("webhooks", "sales")
            return any(word in line for line in self.lines)

        assert wait_until(has_come, timeout_s=_PATIENCE_S), self.lines
        return next(line for line in self.lines if word in line)

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Stop it as a developer does and return its exit status."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait for its end and for all that it printed; return its exit status."""
        code = self.process.wait(_PATIENCE_S)
        self._reader.join(_PATIENCE_S)
        return code


@pytest.fixture
def shop():
    with closing(OwnServer()) as opened:
        yield opened


@pytest.fixture
def listening(drain):
    started = []

    def start(*arguments: str, **env: str) -> Listening:
        started.append(Listening(*arguments, drain=drain, **env))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.ended()


def _sell(brand):
    brand.program()
    brand.affiliate("ben")
    assert brand.sale().status_code == 200


def _endpoints(brand):
    return brand.rows("select url from webhook_endpoint where deleted_at is null")


def test_a_delivery_is_verified_shown_and_handed_on_and_the_answer_goes_back(brand, shop, listening):
    one = listening("--org", str(brand.id), "--forward-to", shop.url)
    one.until("Ready")
    secret = one.until("signed with").split()[-1]
    shop.status = 418
    _sell(brand)

    shown = one.until("conversion.created  ")
    code = one.end()

    ((path, headers, body),) = shop.got
    rows = brand.rows(
        "select id::text, status, response_status, response_excerpt from delivery where event_type <> 'test'"
    )
    assert path == "/in?a=b"
    assert is_genuine(headers["x-service-signature"], body, secret=secret.encode())
    assert secret.startswith("whsec_")
    assert json.loads(body)["type"] == headers["x-service-event"] == "conversion.created"
    assert headers["x-service-delivery-id"] in shown
    assert "418" in shown
    assert rows == [(headers["x-service-delivery-id"], "Pending", 418, "said the shop")]
    assert code == 0
    assert one.lines[-1] == "The endpoint is removed."
    assert _endpoints(brand) == []


def test_the_endpoint_is_removed_also_when_it_is_told_to_end(brand, listening):
    one = listening("--org", str(brand.id))
    one.until("Ready")
    ((url,),) = _endpoints(brand)

    code = one.end(signal.SIGTERM)

    assert url.startswith("http://127.0.0.1:")
    assert (code, _endpoints(brand)) == (0, [])
    assert [action for (action,) in brand.rows("select action from audit_entry order by created_at")] == [
        "webhook_endpoint.created",
        "webhook_endpoint.deleted",
    ]


def test_only_the_named_events_come_and_without_a_server_they_are_only_shown(brand, listening):
    one = listening("--org", str(brand.id), "--events", "affiliate.created", "--json")
    opened = json.loads(one.until("secret"))
    _sell(brand)
    brand.post("/api/v1/affiliates", {"programId": str(brand.programs[-1]), "email": "ann@example.com"})
    heard = json.loads(one.until("ann@example.com"))
    one.end()

    assert opened["organization"] == str(brand.id)
    assert (heard["type"], heard["status"], heard["note"]) == ("affiliate.created", 200, None)
    assert json.loads(heard["body"])["data"]["email"] == "ann@example.com"
    assert len(one.lines) == 2


def test_a_server_that_does_not_run_is_a_502_that_says_so(brand, listening):
    with closing(ports.hold_port()) as nobody:
        one = listening("--org", str(brand.id), "--forward-to", f"http://127.0.0.1:{ports.port_number(nobody)}/in")
        one.until("Ready")
        _sell(brand)

        shown = one.until("conversion.created  ")

    assert "502  connection refused: is your server running?" in shown
    assert brand.rows("select response_status from delivery where event_type <> 'test'") == [(502,)]


def test_what_is_not_signed_with_its_secret_is_not_handed_on(brand, shop, listening, drain):
    one = listening("--org", str(brand.id), "--forward-to", shop.url)
    one.until("Ready")
    ((url,),) = _endpoints(brand)
    Endpoint.create(brand, f"{url}other")  # with a secret of its own
    _sell(brand)

    one.until("401  refused: the signature is wrong")
    one.until("200 ")

    assert len(shop.got) == 1


def test_what_an_earlier_one_left_behind_is_removed_and_a_neighbour_stays(brand, listening):
    killed, neighbour = listening("--org", str(brand.id)), listening("--org", str(brand.id))
    for each in (killed, neighbour):
        each.until("Ready")
    killed.process.kill()
    killed.ended()

    third = listening("--org", str(brand.id))
    third.until("Ready")

    urls = {url for (url,) in _endpoints(brand)}
    assert urls == {each.until("are sent to").split()[-1] for each in (neighbour, third)}


def test_a_service_that_may_not_call_this_machine_is_told_of(brand, listening, drain, monkeypatch):
    # the workers of this process are those of a service that calls public addresses only
    public_only = client.Client(client.Policy())
    monkeypatch.setattr("pipelines.webhooks.deliver._client", lambda: public_only)
    one = listening("--org", str(brand.id))

    one.until("The service cannot reach http://127.0.0.1:")

    assert one.ended() == 1
    assert "WEBHOOK_ALLOW_PRIVATE=on" in one.until("Next: run the service on this machine")
    assert _endpoints(brand) == []


def test_without_a_demo_brand_it_says_what_to_do(app, listening, tmp_path):
    one = listening(DATA_DIR=str(tmp_path))

    assert one.ended() == 1
    assert one.lines == [
        f"Error: There is no demo brand in {tmp_path}. Next: flask demo, or name an organization with --org"
    ]


def test_the_demo_brand_is_the_default(brand, listening, tmp_path):
    (tmp_path / "demo.json").write_text(json.dumps({"organizationId": str(brand.id)}))
    one = listening(DATA_DIR=str(tmp_path))

    assert str(brand.id) in one.until("Webhooks of Brand")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--forward-to", "localhost:3000"], "is not the address of a server; write one such as http://localhost:3000"),
        (["--forward-to", "http://"], "is not the address of a server"),
        (["--forward-to", "http://x:99999/"], "is not the address of a server"),
        (["--events", "nope"], "nope"),
        (["--port", "70000"], "70000"),
    ],
)
def test_a_command_that_cannot_be_read_ends_with_2(app, brand, arguments, told):
    done = app.test_cli_runner().invoke(args=["listen", "--org", str(brand.id), *arguments])

    assert done.exit_code == 2
    assert told in done.output
    with db.any_org_work():
        assert db.db.run("select count(*) from webhook_endpoint where organization_id = %s", (brand.id,)) == [(0,)]


def test_a_port_that_is_taken_is_one_line(app, brand, shop):
    port = shop.url.split(":")[2].split("/")[0]

    done = app.test_cli_runner().invoke(args=["listen", "--org", str(brand.id), "--port", port])

    assert (done.exit_code, done.output) == (1, f"Error: Cannot listen on port {port}: Address already in use\n")
