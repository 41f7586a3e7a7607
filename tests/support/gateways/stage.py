"""The base of the fake gateways ("stages"): they serve an API over HTTP, return faults, and perform buyers' acts."""

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
from commands.demo.no_delay_handler import NoDelayHandler


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call of the gateway's API. `params` are those of the query, `form` and `json` those of the body."""

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
    """A request that the gateway sends to a connection's webhook URL, with its proof (usually a signature)."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """A purchase of a buyer. `slug` is passed on if the gateway can carry one; `renews` is an earlier purchase.

    `code_id` is the gateway's id of the code, by default the id of the active code with the text `code`.
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
    """A paid purchase: the gateway's id for it, and the notifications about it, in order."""

    purchase: Purchase
    id: str
    notifications: tuple[Notification, ...]


class CannotPlay(Exception):
    """Raised for an act that this gateway does not support; the stage gives the reason in `unsupported`."""


class PlayedApi(ABC):
    """A fake API of another company on a port of this machine, from creation to `stop`.

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
        self._server.stage = self  # type: ignore[attr-defined]  # for the handler
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop the server, also for calls that hang."""
        self.release_hung.set()
        self._server.shutdown()
        self._server.server_close()

    @abstractmethod
    def answer(self, call: ApiCall) -> tuple[int, Any]:
        """Handle a call with valid credentials; return the status and the JSON of the response."""

    @abstractmethod
    def is_authorized(self, call: ApiCall) -> bool:
        """Return whether a call has valid credentials."""


class Stage(PlayedApi):
    """A fake gateway on a port of this machine, from creation to `stop`. Each subclass has the API of one gateway."""

    gateway: GatewayAdapter
    credentials: Mapping[str, str]
    #: The result of subscribing to the gateway's webhooks, for proofs that need it.
    subscription: Mapping[str, str] = {}
    mode: Mode = "live"
    #: The acts of `missing_acts.ACTS` that this gateway does not support, each with the reason.
    unsupported: Mapping[str, str] = {}

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.now = datetime.now(UTC)
        self._last_number = 0

    def number(self) -> int:
        """Return the next number, for ids."""
        self._last_number += 1
        return self._last_number

    @abstractmethod
    def pay(self, purchase: Purchase) -> Sale:
        """Pay for a purchase, and return the sale with its notifications."""

    @abstractmethod
    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        """Refund a part of a sale and return the notifications. Without any, `list_payments` must return the refund."""

    def start_trial(self, purchase: Purchase) -> tuple[Notification, ...]:
        """Start a trial without a payment, and return the notifications."""
        raise CannotPlay(self.unsupported["trial"])

    def dispute(self, sale: Sale, state: str) -> tuple[Notification, ...]:
        """Set a dispute to opened, lost or won. Without notifications, `list_payments` must return it."""
        raise CannotPlay(self.unsupported[f"dispute_{state}"])

    def cancel(self, sale: Sale) -> tuple[Notification, ...]:
        """Cancel, fail or void a sale after it was paid."""
        raise CannotPlay(self.unsupported["cancel"])

    def pay_again(self, sale: Sale) -> tuple[Notification, ...]:
        """Pay a cancelled sale after all, under the same id."""
        raise CannotPlay(self.unsupported["pay_again"])

    def change_total(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        """Edit a paid order, so that its total before refunds is this amount."""
        raise CannotPlay(self.unsupported["change_total"])

    def pay_first_part(self, purchase: Purchase) -> Sale:
        """Make the first payment of an order or invoice that is paid in parts."""
        return self.pay(purchase)

    def pay_part(self, sale: Sale, cents: int) -> Sale:
        """Make another payment of the order or invoice to which a sale belongs."""
        raise CannotPlay(self.unsupported["pay_part"])

    def uninstall(self) -> tuple[Notification, ...]:
        """Revoke the service's access."""
        raise CannotPlay(self.unsupported["uninstall"])

    @abstractmethod
    def create_unknown_event(self) -> Notification:
        """Return a validly signed event of a type that the service ignores."""

    @abstractmethod
    def create_malformed_event(self) -> Notification:
        """Return a validly signed event about money that cannot be parsed."""

    def sign_body(self, body: bytes) -> Notification:
        """Return a notification of any bytes with a valid signature, for gateways that sign bytes."""
        raise CannotPlay(self.unsupported["any_body"])

    def forge_signature(self, notification: Notification) -> Notification:
        """Return the same notification with a signature of other bytes."""
        return Notification(notification.body + b" ", notification.headers)

    def sign_in_the_past(self, notification: Notification) -> Notification:
        """Return the same notification with a valid signature that is too old."""
        raise CannotPlay(self.unsupported["time"])


class _Handler(NoDelayHandler):
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
        with suppress(ConnectionError):  # the client has timed out
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
