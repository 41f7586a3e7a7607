"""A fake payment service over HTTP that implements the parts of the three interfaces that the rails use.

It keeps books, and faults can be set for the next requests that would move money. As its own process it
prints nothing and is controlled over HTTP:

    python -m tests.adapters.rails.fake_processor PORT

    GET  /books                 the transfers, charges and refunds booked, in order
    POST /control               {"faults": ["hang_after", ...], "statuses": ..., "deliver": {"key", "url", "copies"}}

Faults: `reject` (a definitive refusal), `500_before`, `500_after`, `hang_before`, `hang_after`, `cut_before`,
`cut_after` (the connection ends in the middle of the answer), `say TEXT` (after), `html_400`, `slow`, `429`, `401`,
`403`, and `pending` (accepted, settled by `settle`). Before and after refer to the booking of the transfer.
"""

import base64
import hashlib
import json
import re
import sys
import threading
import urllib.request
from collections import deque
from dataclasses import asdict
from datetime import datetime
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import stripe

from tests.adapters.rails.fake_charges import ChargeHandler
from tests.adapters.rails.fake_shapes import EVENTS, SHAPES, Booking, batch, payment, transfer

KEY, WEBHOOK_SECRET, WEBHOOK_ID = "sk_test_fake", "whsec_fake", "WH-1"
CLIENT_ID, CLIENT_SECRET, TOKEN = "client", "s3cret", "A21-token"
FINANCIAL_ACCOUNT = "fa_test_1"


def environment(url: str) -> dict[str, str]:
    """Return the settings of a Finderfee instance that pays through the fake at `url`."""
    return {
        "PAYOUT_RAIL_PROCESSOR_URL": url,
        "PAYOUT_RAIL_PROCESSOR_KEY": KEY,
        "PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET": WEBHOOK_SECRET,
        "PAYOUT_RAIL_WALLET_URL": url,
        "PAYOUT_RAIL_WALLET_CLIENT_ID": CLIENT_ID,
        "PAYOUT_RAIL_WALLET_SECRET": CLIENT_SECRET,
        "PAYOUT_RAIL_WALLET_WEBHOOK_ID": WEBHOOK_ID,
        "PAYOUT_RAIL_GLOBAL_URL": url,
        "PAYOUT_RAIL_GLOBAL_KEY": KEY,
        "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT": FINANCIAL_ACCOUNT,
    }


class FakeProcessor:
    """The service on a port of this machine, from creation to `stop`."""

    def __init__(self, port: int = 0) -> None:
        self.books: list[Booking] = []
        self.faults: deque[str] = deque()
        self.page_fault = ""  # of lists, from the second page on: "500", "repeat" or "shapeless"
        self.requests: list[tuple[str, str]] = []
        self.idempotent: dict[str, tuple[str, int, Any]] = {}
        self.lock = threading.RLock()
        self.is_stopped = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self  # type: ignore[attr-defined]
        self._server.is_stopped = self.is_stopped  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Release every hanging request and stop."""
        self.is_stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def set_faults(self, *faults: str) -> None:
        """Apply these faults to the next requests that would move money, one each."""
        self.faults.extend(faults)

    def settle(self, key: str, status: str = "paid") -> None:
        """Set the status of a transfer."""
        self.find_booking(key).status = status

    def find_booking(self, key: str) -> Booking:
        """Return the only booking under a key."""
        (bookings,) = [booking for booking in self.books if booking.key == key]
        return bookings

    def expire_keys(self) -> None:
        """Forget the idempotency keys, as real services do after a while."""
        self.idempotent.clear()

    def event(self, key: str) -> tuple[dict[str, str], bytes]:
        """Return the headers and the body of the signed confirmation of a transfer; the same each time."""
        booking = self.find_booking(key)
        body = json.dumps(EVENTS[booking.method](booking)).encode()
        if booking.method == "Wallet":
            names = ("AUTH-ALGO", "CERT-URL", "TRANSMISSION-ID", "TRANSMISSION-TIME")
            return {f"PAYPAL-{name}": "x" for name in names} | {
                "PAYPAL-TRANSMISSION-SIG": _wallet_signature(body)
            }, body
        signature = stripe.WebhookSignature.generate_signature_header(body.decode(), WEBHOOK_SECRET)
        return {"Stripe-Signature": signature}, body

    def deliver(self, key: str, url: str, copies: int = 1) -> None:
        """Post `copies` copies of a transfer's confirmation to a URL."""
        headers, body = self.event(key)
        for _ in range(copies):
            request = urllib.request.Request(url, body, {**headers, "Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=60).close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error, unless the client disconnected before the response."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(ChargeHandler):
    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    @property
    def fake(self) -> FakeProcessor:
        return self.server.fake  # type: ignore[attr-defined,no-any-return]

    def _handle(self, method: str) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        self.query = parse_qs(url.query)
        self.fake.requests.append((method, url.path))
        for expected, pattern, name in _ROUTES:
            match = re.fullmatch(pattern, url.path)
            if expected == method and match:
                getattr(self, name)(*match.groups())
                return
        self.answer(404, {"error": {"type": "invalid_request_error", "message": "no such path"}})

    # Stripe, version 1

    def make_transfer(self) -> None:
        form = self._form()
        metadata = {name[9:-1]: value for name, value in form.items() if name.startswith("metadata[")}
        booking = Booking(
            "",
            "ProcessorConnect",
            form["transfer_group"],
            form["amount"],
            form["currency"],
            form["destination"],
            metadata,
        )
        self._stripe(booking, "tr", transfer, self.headers["Idempotency-Key"], self.body.decode())

    def list_transfers(self) -> None:
        bookings = [booking for booking in reversed(self.fake.books) if booking.method == "ProcessorConnect"]
        if "transfer_group" in self.query:
            bookings = [booking for booking in bookings if booking.key == self.query["transfer_group"][0]]
        bookings = [booking for booking in bookings if booking.created >= int(self.query.get("created[gte]", ["0"])[0])]
        self._list_page(bookings, transfer)

    # Stripe, version 2

    def make_payment(self) -> None:
        payload = json.loads(self.body)
        assert payload["from"] == {"financial_account": FINANCIAL_ACCOUNT, "currency": "usd"}
        booking = Booking(
            "",
            "GlobalPayouts",
            payload["metadata"]["payout_key"],
            str(payload["amount"]["value"]),
            payload["amount"]["currency"],
            payload["to"]["recipient"],
            payload["metadata"],
        )
        self._stripe(booking, "obp_test", payment, self.headers["Idempotency-Key"], self.body.decode())

    def list_payments(self) -> None:
        start = int(self.query.pop("page", ["0"])[0])
        bookings = [booking for booking in reversed(self.fake.books) if booking.method == "GlobalPayouts"]
        if "recipient" in self.query:
            bookings = [booking for booking in bookings if booking.account == self.query["recipient"][0]]
        since = datetime.fromisoformat(self.query.get("created[gte]", ["2000-01-01T00:00:00+00:00"])[0])
        bookings = [booking for booking in bookings if booking.created >= int(since.timestamp())]
        size = 2  # smaller than the requested size, so that a client without paging fails
        next_query = urlencode({**self.query, "page": start + size}, doseq=True)
        more = f"/v2/money_management/outbound_payments?{next_query}"
        page = [payment(booking) for booking in bookings[start : start + size]]
        self._read_only({"data": page, "next_page_url": more if start + size < len(bookings) else None})

    def show(self, number: str) -> None:
        bookings = [booking for booking in self.fake.books if booking.id == number]
        if not bookings:
            self.answer(404, {"error": {"type": "invalid_request_error", "code": "resource_missing"}})
        else:
            self._read_only(SHAPES[bookings[0].method](bookings[0]))

    def _stripe(self, booking: Booking, prefix: str, serialize: Any, key: str, body: str) -> None:
        if not self._is_authorized(f"Bearer {KEY}"):
            return
        fault = self._fault()
        if self.refuses(
            fault,
            {
                "error": {
                    "type": "invalid_request_error",
                    "code": "balance_insufficient",
                    "message": f"Not enough money for {booking.account}.",
                }
            },
        ):
            return
        with self.fake.lock:
            previous = self.fake.idempotent.get(key)
            if previous and previous[0] != body:
                self.answer(400, {"error": {"type": "idempotency_error", "message": "other parameters"}})
                return
            if not previous:
                new_booking = self._book(booking, prefix, fault)
                self.fake.idempotent[key] = (body, 200, new_booking)
            else:
                new_booking = previous[2]
        self.end(fault, 200, serialize(new_booking))

    # PayPal

    def sign_in(self) -> None:
        expected = "Basic " + base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if self.headers["Authorization"] != expected:
            self.answer(401, {"error": "invalid_client"})
        else:
            self.answer(200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 32400})

    def make_batch(self) -> None:
        if not self._is_authorized(f"Bearer {TOKEN}"):
            return
        payload = json.loads(self.body)
        (item,), key = payload["items"], payload["sender_batch_header"]["sender_batch_id"]
        value, currency = item["amount"]["value"], item["amount"]["currency"]
        fault = self._fault()
        if self.refuses(
            fault,
            {
                "name": "INSUFFICIENT_FUNDS",
                "message": "Sender does not have sufficient funds.",
                "details": [{"field": "items[0].receiver", "issue": item["receiver"]}],
            },
            422,
        ):
            return
        with self.fake.lock:
            previous = self.fake.idempotent.get(key)
            if previous:
                link = {"href": f"{self.fake.url}/v1/payments/payouts/{previous[2].id}", "rel": "self", "method": "GET"}
                detail = {"field": "SENDER_BATCH_ID", "issue": "Batch already exists", "link": [link]}
                status, answer = 400, {"name": "USER_BUSINESS_ERROR", "message": "User error", "details": [detail]}
            else:
                booking = Booking("", "Wallet", key, value, currency, item["receiver"])
                new_booking = self._book(booking, "BATCH", fault)
                self.fake.idempotent[key] = ("", 201, new_booking)
                status, answer = 201, {"batch_header": batch(new_booking, "PENDING")["batch_header"]}
        self.end(fault, status, answer)

    def show_batch(self, number: str) -> None:
        bookings = [booking for booking in self.fake.books if booking.id == number]
        if not bookings:
            self.answer(404, {"name": "RESOURCE_NOT_FOUND", "message": "not found"})
        else:
            self._read_only(batch(bookings[0], "PROCESSING" if bookings[0].status == "pending" else "SUCCESS"))

    def verify(self) -> None:
        payload = json.loads(self.body)
        raw = self.body[self.body.index(b'"webhook_event":') + 16 : -1]
        is_good = payload["webhook_id"] == WEBHOOK_ID and payload["transmission_sig"] == _wallet_signature(raw)
        self._read_only({"verification_status": "SUCCESS" if is_good else "FAILURE"})

    # Endpoints for the tests

    def show_books(self) -> None:
        self.answer(200, [asdict(booking) for booking in self.fake.books])

    def control(self) -> None:
        command = json.loads(self.body)
        self.fake.set_faults(*command.get("faults", []))
        for key, status in command.get("statuses", {}).items():
            self.fake.settle(key, status)
        if delivery := command.get("deliver"):
            self.fake.deliver(**delivery)
        self.answer(200, {})

    # Responses

    def _is_authorized(self, *expected: str) -> bool:
        if self.headers["Authorization"] in expected:
            return True
        self.answer(401, {"name": "AUTHENTICATION_FAILURE", "error": {"type": "authentication_error"}})
        return False

    def _read_only(self, answer: Any) -> None:
        if self._is_authorized(f"Bearer {KEY}", f"Bearer {TOKEN}"):
            self.answer_page(answer)

    def _fault(self) -> str:
        return self.fake.faults.popleft() if self.fake.faults else ""

    def _book(self, booking: Booking, prefix: str, fault: str) -> Booking:
        booking.id = f"{prefix}_{len(self.fake.books) + 1}"
        booking.status = "pending" if fault == "pending" else "paid"
        self.fake.books.append(booking)
        return booking


def _wallet_signature(body: bytes) -> str:
    return "sig" + hashlib.sha256(WEBHOOK_SECRET.encode() + body).hexdigest()


_PAYMENTS = "/v2/money_management/outbound_payments"
_ROUTES = [
    ("POST", "/v1/transfers", "make_transfer"),
    ("GET", "/v1/transfers", "list_transfers"),
    ("GET", "/v1/transfers/([^/]+)", "show"),
    ("POST", "/v1/payment_intents", "make_charge"),
    ("GET", "/v1/payment_intents", "list_charges"),
    ("GET", "/v1/payment_intents/([^/]+)", "show"),
    ("POST", "/v1/refunds", "make_refund"),
    ("GET", "/v1/refunds", "list_refunds"),
    ("GET", "/v1/refunds/([^/]+)", "show"),
    ("POST", _PAYMENTS, "make_payment"),
    ("GET", _PAYMENTS, "list_payments"),
    ("GET", f"{_PAYMENTS}/([^/]+)", "show"),
    ("POST", "/v1/oauth2/token", "sign_in"),
    ("POST", "/v1/payments/payouts", "make_batch"),
    ("GET", "/v1/payments/payouts/([^/]+)", "show_batch"),
    ("POST", "/v1/notifications/verify-webhook-signature", "verify"),
    ("GET", "/books", "show_books"),
    ("POST", "/control", "control"),
]


if __name__ == "__main__":
    FakeProcessor(int(sys.argv[1])).is_stopped.wait()
