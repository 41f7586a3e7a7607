"""What every gateway of the tests can do: answer its API over HTTP, misbehave when told, and play a buyer's acts."""

import json
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from adapters.gateways.adapter import GatewayAdapter
from adapters.gateways.base import Mode
from commands.demo.prompt_handler import PromptHandler


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call of the gateway's API. `params` are the query's, `form` the body's; `json` is None for a form."""

    method: str
    path: str
    params: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, list[str]]:
        """The fields of a form."""
        return parse_qs(self.body.decode(), keep_blank_values=True)

    @property
    def json(self) -> Any:
        """The body's JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Notification:
    """What the gateway sends to a connection's address, proof and all."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """What a buyer pays for. `slug` is carried where this gateway carries one; `renews` is an earlier purchase.

    `code_id` is the gateway's id of the code; without it that of the code that buyers can redeem under this text.
    """

    cents: int = 10_890
    currency: str = "USD"
    slug: str | None = "jane"
    email: str | None = "ann@example.com"
    customer: str = "1"
    code: str | None = None
    code_id: str | None = None
    is_test: bool = False
    renews: "Sale | None" = None


@dataclass(frozen=True, slots=True)
class Sale:
    """A purchase that was paid: the gateway's id for it, and what is sent about it, in order."""

    purchase: Purchase
    id: str
    notifications: tuple[Notification, ...]


class CannotPlay(Exception):
    """An act that this gateway does not have; its stage says why in `unsupported`, and no test asks for it."""


class PlayedApi(ABC):
    """Somebody's API on a port of this machine, from creation to `stop`.

    Faults, for the next calls, one each: `refuse` (401), `forbid` (403), `busy` (429, with Retry-After where `busy_s`
    is set), `fail` (500), `slow`, `hang` (until `release_hung` is set), `cut` (the connection ends after the call),
    `html` (200 with a page), `` (none).
    """

    slow_s = 1.0
    busy_s: int | None = None

    def __init__(self, port: int = 0) -> None:
        self.calls: list[ApiCall] = []
        self.faults: deque[str] = deque()
        self.release_hung = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
        self._server.daemon_threads = True
        self._server.stage = self  # type: ignore[attr-defined]  # how the handler finds its way back
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop answering, also who waits."""
        self.release_hung.set()
        self._server.shutdown()
        self._server.server_close()

    @abstractmethod
    def answer(self, call: ApiCall) -> tuple[int, Any]:
        """Act on a call of the API with good credentials; return the status and the JSON of the answer."""

    @abstractmethod
    def is_authorized(self, call: ApiCall) -> bool:
        """Return whether a call carries our credentials."""


class Stage(PlayedApi):
    """A gateway on a port of this machine, from creation to `stop`. Subclasses speak one gateway's language."""

    gateway: GatewayAdapter
    credentials: Mapping[str, str]
    #: What subscribing makes there, for the proofs that need it.
    subscription: Mapping[str, str] = {}
    mode: Mode = "live"
    #: What this gateway does not have, of `why.ACTS`, and why: no test asks for it.
    unsupported: Mapping[str, str] = {}

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.now = datetime.now(UTC)
        self._counted = 0

    def number(self) -> int:
        """Return a number that this stage did not give out before."""
        self._counted += 1
        return self._counted

    @abstractmethod
    def pay(self, purchase: Purchase) -> Sale:
        """Take the money, and return what is sent about it."""

    @abstractmethod
    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        """Give money back; return what is sent about it. What is not sent must be found by `listed`."""

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        """Let a buyer begin without paying."""
        raise CannotPlay(self.unsupported["trial"])

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        """Let a bank ask for the money back: opened, lost or won. What is not sent must be found by `listed`."""
        raise CannotPlay(self.unsupported[f"dispute_{state}"])

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        """Let a sale that was paid come to nothing: cancelled, failed or voided."""
        raise CannotPlay(self.unsupported["cancel"])

    def pay_again(self, sale: Sale) -> tuple[Notification, ...]:
        """Let a sale that was cancelled be paid after all, under the same id."""
        raise CannotPlay(self.unsupported["pay_again"])

    def change_total(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        """Edit an order that was paid, so that it comes to this much before refunds."""
        raise CannotPlay(self.unsupported["change_total"])

    def pay_first_part(self, purchase: Purchase) -> Sale:
        """Take the first payment of an order or invoice that is paid in parts."""
        return self.pay(purchase)

    def pay_part(self, sale: Sale, cents: int) -> Sale:
        """Take a further payment of the order or invoice that a sale is a part of."""
        raise CannotPlay(self.unsupported["pay_part"])

    def uninstall(self) -> tuple[Notification, ...]:
        """Take our access away."""
        raise CannotPlay(self.unsupported["uninstall"])

    @abstractmethod
    def create_unknown_event(self) -> Notification:
        """Return a well-proved event of a type that means nothing to us."""

    @abstractmethod
    def create_malformed_event(self) -> Notification:
        """Return a well-proved event about money that cannot be read."""

    def sign_body(self, body: bytes) -> Notification:
        """Return any bytes with a good proof of their own, for gateways that sign bytes."""
        raise CannotPlay(self.unsupported["any_body"])

    def forge_signature(self, notification: Notification) -> Notification:
        """Return the same with a proof over other bytes."""
        return Notification(notification.body + b" ", notification.headers)

    def sign_in_the_past(self, notification: Notification) -> Notification:
        """Return the same, proved well but long ago."""
        raise CannotPlay(self.unsupported["time"])


class _Handler(PromptHandler):
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        stage: PlayedApi = self.server.stage  # type: ignore[attr-defined]  # set by Stage
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        params = parse_qs(parts.query, keep_blank_values=True)
        call = ApiCall(self.command, parts.path, params, dict(self.headers.items()), body)
        stage.calls.append(call)
        fault = stage.faults.popleft() if stage.faults else ""
        status, reply = _FAULTS.get(fault, (0, None))
        if fault == "slow":
            time.sleep(stage.slow_s)
        if fault == "hang":
            stage.release_hung.wait()
        if not status:
            status, reply = stage.answer(call) if stage.is_authorized(call) else (401, {"error": "unauthorized"})
        if fault == "cut":
            self.close_connection = True
            self.connection.close()
            return
        content = reply if isinstance(reply, bytes) else b"" if reply is None else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if fault == "html" else "application/json")
        self.send_header("Content-Length", str(len(content)))
        if fault == "busy" and stage.busy_s is not None:
            self.send_header("Retry-After", str(stage.busy_s))
        with suppress(ConnectionError):  # who waited too long has gone
            self.end_headers()
            self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle


_FAULTS: Mapping[str, tuple[int, Any]] = {
    "refuse": (401, {"error": {"message": "Invalid credentials."}}),
    "forbid": (403, {"error": {"message": "Missing right."}}),
    "busy": (429, None),
    "fail": (500, None),
    "html": (200, b"<html>Please wait</html>"),
}
