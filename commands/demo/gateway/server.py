"""The simulated gateway: serves stripe's API on this machine, and sends signed events to the connection's address.

An event that is not accepted is sent again for half a minute; after that a reconcile finds it in the list of events.
"""

import hmac
import http.server
import json
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import settings
from commands.demo import loopback
from commands.demo.gateway import object_store, stripe_objects
from commands.demo.gateway.account import StripeAccount
from commands.demo.gateway.forms import Fields
from commands.demo.gateway.object_store import StripeObjectStore
from commands.demo.gateway.stripe_objects import StripeObject
from commands.demo.no_delay_handler import NoDelayHandler

#: The thread that sends events.
SENDER = "gateway-events"
# Queue of events with the endpoint to notify; None ends it.
_Post = queue.SimpleQueue[tuple[StripeObject, StripeObject] | None]

_LARGEST_BODY = 64 << 10
_NUMBERED = re.compile(r"\[\d+\]$")
_PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
_UNAUTHORIZED = stripe_objects.build_error(
    "This is the demo's gateway, which accepts only its own key. For the real one:"
    " API_ADDRESSES=stripe=https://api.stripe.com make run"
)


@contextmanager
def running(config: settings.Settings, *, echo: Callable[[str], None]) -> Iterator[None]:
    """Run the gateway during the context, and `echo` the outcome of each event. Raises ClickException for a used port.

    Events not accepted by then are not sent any more: the port of a stopped service may belong to another program.
    """
    post, is_over = _Post(), threading.Event()
    store = StripeObjectStore(config.servers.data_dir)
    key = object_store.read_key(config.servers.data_dir) or ""
    address = loopback.gateway_address(config)
    with loopback.listening("gateway", address):
        server = _Server(address, StripeAccount(store, lambda *delivery: post.put(delivery)), key)
    arguments = (post, config.web.url, echo, is_over)
    sender = threading.Thread(target=_send_all, args=arguments, name=SENDER, daemon=True)
    for thread in (sender, threading.Thread(target=server.serve_forever, daemon=True)):
        thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        is_over.set()
        post.put(None)
        sender.join()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], account: StripeAccount, key: str) -> None:
        self._account = account
        self._key = key.encode()
        self._one_at_a_time = threading.Lock()
        super().__init__(address, _Handler)

    def is_authorized(self, authorization: str) -> bool:
        return hmac.compare_digest(authorization.encode(), b"Bearer " + self._key)

    def answer(self, method: str, path: str, fields: Fields, key: str) -> tuple[int, StripeObject]:
        with self._one_at_a_time:
            return self._account.answer(method, path, fields, key=key)


class _Handler(NoDelayHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Return an object or a list."""
        self._answer()

    def do_POST(self) -> None:
        """Execute the call of the form."""
        self._answer()

    def do_DELETE(self) -> None:
        """Delete an endpoint or a coupon."""
        self._answer()

    def _answer(self) -> None:
        server = cast(_Server, self.server)
        status, response = 401, _UNAUTHORIZED
        fields = self._fields()
        if fields is None:
            status, response = (
                400,
                stripe_objects.build_error(f"The body must be a form in UTF-8 of at most {_LARGEST_BODY} bytes."),
            )
        elif server.is_authorized(self.headers.get("Authorization", "")):
            key = self.headers.get("Idempotency-Key", "")
            status, response = server.answer(self.command, urlsplit(self.path).path, fields, key)
        body = json.dumps(response).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _fields(self) -> Fields | None:
        """Return the fields of query and form; None for an unreadable body, after which the connection closes."""
        length = self.headers.get("Content-Length") or "0"
        if not (length.isascii() and length.isdigit()) or int(length) > _LARGEST_BODY:
            self.close_connection = True
            return None
        try:
            form = self.rfile.read(int(length)).decode()
            return _parse_form("&".join(filter(None, [urlsplit(self.path).query, form])))
        except ValueError:
            return None


def _parse_form(form: str) -> Fields:
    """Return a form's fields; list fields as `name[]`, whether they are sent as `name[]` or with indexes."""
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(form, keep_blank_values=True):
        fields.setdefault(_NUMBERED.sub("[]", name), []).append(value)
    return fields


def _send_all(post: _Post, url: str, echo: Callable[[str], None], is_over: threading.Event) -> None:
    """Send events in order, to the service's current address, whatever PORT was when it subscribed."""
    while (delivery := post.get()) is not None:
        event, endpoint = delivery
        address = url + urlsplit(endpoint["url"]).path
        outcome = _send(json.dumps(event).encode(), address, endpoint["secret"], is_over)
        echo(f"{event['type']} of {event['data']['object']['id']}: {outcome}")


def _send(body: bytes, address: str, secret: str, is_over: threading.Event) -> str:
    """Send an event until it is accepted, the pauses are used up or the gateway stops; return the outcome."""
    from adapters import http_calls  # five megabytes, needed only once there is an event

    outcome = "no attempt"
    for pause_s in _PAUSES_S:
        if is_over.wait(pause_s):
            break
        headers = {"Stripe-Signature": stripe_objects.sign(body, secret=secret, at=int(time.time()))}
        try:
            status, _, _ = http_calls.call("POST", address, {**headers, "Content-Type": "application/json"}, body)
        except http_calls.NoAnswer as error:
            outcome = str(error)
            continue
        if status < 300:
            return "accepted"
        outcome = f"response {status}"
    return f"not accepted ({outcome}). Next: flask connection reconcile"
