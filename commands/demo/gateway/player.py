"""Plays the gateway: answers stripe's API on this machine, and sends each event, signed, to the connection's address.

An event that nobody takes is sent again for half a minute; after that a reconcile finds it in the list of events.
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
from commands.demo.gateway import books, words
from commands.demo.gateway.account import StripeAccount
from commands.demo.gateway.books import StripeBooks
from commands.demo.gateway.forms import Fields
from commands.demo.gateway.words import StripeObject
from commands.demo.prompt_handler import PromptHandler

#: The thread that sends events.
SENDER = "gateway-events"
# An event, and the endpoint that is told of it; None is the end.
_Post = queue.SimpleQueue[tuple[StripeObject, StripeObject] | None]

_LARGEST_BODY = 64 << 10
_NUMBERED = re.compile(r"\[\d+\]$")
_PAUSES_S = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
_NOT_LET_IN = words.error(
    "This is the demo's gateway, which knows no key but its own. For the real one:"
    " API_ADDRESSES=stripe=https://api.stripe.com make run"
)


@contextmanager
def playing(chosen: settings.Settings, *, say: Callable[[str], None]) -> Iterator[None]:
    """Play the gateway until the end, and `say` what became of each event. Raises ClickException for a port in use.

    What was not taken by then is not sent any more: the port of a service that has gone may be somebody else's.
    """
    post, is_over = _Post(), threading.Event()
    kept = StripeBooks(chosen.servers.data_dir)
    key = books.key(chosen.servers.data_dir) or ""
    address = loopback.gateway(chosen)
    with loopback.listening("gateway", address):
        server = _Server(address, StripeAccount(kept, lambda *told: post.put(told)), key)
    what = (post, chosen.web.url, say, is_over)
    sender = threading.Thread(target=_send_all, args=what, name=SENDER, daemon=True)
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

    def lets_in(self, authorization: str) -> bool:
        return hmac.compare_digest(authorization.encode(), b"Bearer " + self._key)

    def answer(self, method: str, path: str, fields: Fields, key: str) -> tuple[int, StripeObject]:
        with self._one_at_a_time:
            return self._account.answer(method, path, fields, key=key)


class _Handler(PromptHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Show what is kept."""
        self._answer()

    def do_POST(self) -> None:
        """Do what the form asks."""
        self._answer()

    def do_DELETE(self) -> None:
        """End an endpoint or a coupon."""
        self._answer()

    def _answer(self) -> None:
        server = cast(_Server, self.server)
        status, said = 401, _NOT_LET_IN
        fields = self._fields()
        if fields is None:
            status, said = 400, words.error(f"A body is a form in UTF-8 of at most {_LARGEST_BODY} bytes.")
        elif server.lets_in(self.headers.get("Authorization", "")):
            key = self.headers.get("Idempotency-Key", "")
            status, said = server.answer(self.command, urlsplit(self.path).path, fields, key)
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _fields(self) -> Fields | None:
        """Return the fields of query and form; None for a body that cannot be read, after which nothing follows."""
        length = self.headers.get("Content-Length") or "0"
        if not (length.isascii() and length.isdigit()) or int(length) > _LARGEST_BODY:
            self.close_connection = True
            return None
        try:
            form = self.rfile.read(int(length)).decode()
            return _fields("&".join(filter(None, [urlsplit(self.path).query, form])))
        except ValueError:
            return None


def _fields(form: str) -> Fields:
    """Return a form's fields; those of a list by one name, whether they are written `name[]` or with their numbers."""
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(form, keep_blank_values=True):
        found.setdefault(_NUMBERED.sub("[]", name), []).append(value)
    return found


def _send_all(post: _Post, url: str, say: Callable[[str], None], is_over: threading.Event) -> None:
    """Send events in their order; to where the service is now, whatever PORT was when it subscribed."""
    while (told := post.get()) is not None:
        event, endpoint = told
        address = url + urlsplit(endpoint["url"]).path
        said = _sent(json.dumps(event).encode(), address, endpoint["secret"], is_over)
        say(f"{event['type']} of {event['data']['object']['id']}: {said}")


def _sent(body: bytes, address: str, secret: str, is_over: threading.Event) -> str:
    """Send an event until it is taken, the pauses are used up or all is over; return what became of it."""
    from adapters import http_calls  # five megabytes, of which nobody has need before there is something to send

    said = "nobody was asked"
    for pause_s in _PAUSES_S:
        if is_over.wait(pause_s):
            break
        headers = {"Stripe-Signature": words.signature(body, secret=secret, at=int(time.time()))}
        try:
            status, _, _ = http_calls.call("POST", address, {**headers, "Content-Type": "application/json"}, body)
        except http_calls.NoAnswer as error:
            said = str(error)
            continue
        if status < 300:
            return "taken"
        said = f"answered {status}"
    return f"not taken ({said}); flask connection reconcile finds it"
