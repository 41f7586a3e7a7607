"""A brand as a persistent client: it posts over real HTTP, retries until it gets a response, and records responses."""

import http.client
import itertools
import json
import random
import select
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from adapters.secret_key import sealing
from models import db
from models.webhooks import endpoints
from tests.support.installation.backing_servers import PATIENCE_S
from tests.support.installation.machine import Machine
from tests.support.outside.receiver import Handler, Receiver, status
from tests.support.rows.brands import Brand
from tests.support.running import row_ids

_NUMBERS = itertools.count(1)
# Shorter than the service's Retry-After, so that a test sees as soon as possible that the service responds again.
_RETRY_AFTER_S = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """The response that ended the retries."""

    status: int
    body: dict[str, Any]


class Gate:
    """A receiver's script: responds 200 at once, or not at all while a path is shut; counts open requests by path."""

    def __init__(self) -> None:
        self.max_open: Counter[str] = Counter()
        self.open_requests: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._shut: set[str] = set()

    def shut(self, path: str) -> None:
        """Stop responding at this path."""
        self._shut.add(path)

    def open(self) -> None:
        """Respond at all paths again, also to the requests that wait."""
        self._shut.clear()

    def __call__(self, handler: Handler) -> None:
        path = handler.path
        self._count(path, 1)
        while path in self._shut and not _is_disconnected(handler):
            pass
        self._count(path, -1)
        with suppress(OSError):  # the client has timed out
            status(200)(handler)

    def _count(self, path: str, by: int) -> None:
        with self._lock:
            self.open_requests[path] += by
            self.max_open[path] = max(self.max_open[path], self.open_requests[path])


def _is_disconnected(handler: Handler) -> bool:
    """Return whether the client closes the connection soon: a client that waits for a response sends nothing."""
    return bool(select.select([handler.connection], [], [], 0.02)[0])


class Shop:
    """An organization with a campaign: ben earns 20 % of a sale, and rita, who recruited him, 10 % of that."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.statuses: Counter[int | str] = Counter()
        self.sold: dict[str, str | None] = {}
        self.refunded_cents: Counter[str] = Counter()
        self.gate = Gate()
        self._signatures: set[str] = set()
        self._lock = threading.Lock()  # for the records of responses, which several threads write
        self.receiver = Receiver(machine.certificate.parent)
        self.receiver.answers = [self.gate]
        with machine.use_models():
            self.brand = Brand.create(None)
            self.brand.skip_first_sale()  # its notification needs the queue mail, which the usual fleets do not serve
            self.brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=Decimal(10))
            self.rita = self.brand.affiliate("rita")
            self.ben = self.brand.affiliate("ben", recruited_by_affiliate_id=self.rita)

    @property
    def id(self) -> UUID:
        """The id of the organization."""
        return self.brand.id

    def subscribe(self, path: str = "/hook", events: Sequence[str] = ("*",)) -> UUID:
        """Create a webhook endpoint for a path of the receiver; a new shop has none."""
        endpoint_id = row_ids.new_id()
        with self.machine.use_models(), db.unit_of_work(self.id):
            endpoints.insert(
                endpoint_id=endpoint_id,
                organization_id=self.id,
                url=self.receiver.url.replace("/hook", path),
                events=events,
                secret_sealed=sealing.seal("a secret", belongs_to=str(endpoint_id)),
                now=datetime.now(UTC),
            )
        return endpoint_id

    def sell(self, event_id: str | None = None, *, amount_cents: int = 10_000, **fields: Any) -> str:
        """Post a signed sale until there is a response, which must be 200; return its external id."""
        event_id = event_id or f"order-{next(_NUMBERS)}"
        sale = {"externalEventId": event_id, "affiliateSlug": "ben", "amountCents": amount_cents, "currency": "USD"}
        answer = self.post("/api/tracking/s2s", sale | fields)
        assert answer.status == 200, answer
        conversion_id = answer.body.get("conversionId")
        with self._lock:
            previous = self.sold.get(event_id)
            assert conversion_id is None or previous is None, f"{event_id} was created twice"
            self.sold[event_id] = conversion_id or previous
        return event_id

    def sell_many(self, count: int, **fields: Any) -> list[str]:
        """Post sales from eight threads and return their external ids."""
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: self.sell(**fields), range(count)))

    def refund(self, event_id: str, amount_cents: int | None = None) -> Answer:
        """Post a signed refund, with a new Idempotency-Key, until there is a response."""
        body: dict[str, Any] = {"externalEventId": event_id}
        if amount_cents is not None:
            body["refundAmountCents"] = amount_cents
        answer = self.post("/api/tracking/refund", body, **{"Idempotency-Key": f"refund-{next(_NUMBERS)}"})
        if answer.status == 200:
            with self._lock:
                self.refunded_cents[event_id] += answer.body["refundedAmountCents"]
        return answer

    def post(self, path: str, body: dict[str, Any], **headers: str) -> Answer:
        """POST the same bytes and headers until there is a response other than 503."""
        raw = json.dumps(body).encode()
        signed = {
            "Authorization": f"Bearer {self.brand.api_key}",
            "Content-Type": "application/json",
            "X-Service-Signature": self._signature(raw),
        }
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.send_once(path, raw, signed | headers)
            if answer is not None and answer[0] != 503:
                status, text = answer
                return Answer(status, json.loads(text or b"{}"))
            assert time.monotonic() < deadline, f"no response in {PATIENCE_S} s: {dict(self.statuses)}"
            time.sleep(_RETRY_AFTER_S)

    def _signature(self, raw: bytes) -> str:
        # A signature is accepted once, and two equal refunds in one second would have the same one.
        at = int(time.time())
        with self._lock:
            while (signature := self.brand.signature(raw, at=at)) in self._signatures:
                at -= 1
            self._signatures.add(signature)
        return signature

    def send_once(
        self, path: str, raw: bytes, headers: Mapping[str, str], method: str = "POST"
    ) -> tuple[int, bytes] | None:
        """Send a request; return the status and body of the response, or None if the connection failed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.machine.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, raw, dict(headers))
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self._count("no response")
            return None
        finally:
            connection.close()
        self._count(response.status)
        if response.status == 503:
            assert response.headers["Retry-After"], "a 503 without Retry-After"
        return response.status, text

    def _count(self, status: int | str) -> None:
        with self._lock:
            self.statuses[status] += 1

    @contextmanager
    def sell_continuously(self, *, threads: int = 3, pause_s: float = 0.1) -> Iterator[None]:
        """Post random sales and refunds from several threads while the block runs."""
        is_over = threading.Event()
        with ThreadPoolExecutor(threads) as pool:
            loads = [pool.submit(self._sell_until, is_over, pause_s, number) for number in range(threads)]
            try:
                yield
            finally:
                is_over.set()
            for load in loads:
                load.result()
        self.machine.note(f"sold {len(self.sold)}, responses {dict(self.statuses)}")

    def wait_until_sold(self, count: int) -> None:
        """Wait until `sell_continuously` has posted this many more sales."""
        expected = len(self.sold) + count
        self.machine.wait_until(lambda: len(self.sold) >= expected, f"{count} more sales are accepted")

    def _sell_until(self, is_over: threading.Event, pause_s: float, number: int) -> None:
        chance = random.Random(f"{self.machine.seed} {number}")
        event_ids: list[str] = []
        while not is_over.wait(pause_s):
            event_ids.append(self.sell(amount_cents=chance.randint(1, 50_000), **_customer(chance)))
            if chance.random() < 0.3:
                self.refund(chance.choice(event_ids), chance.choice([None, 1, chance.randint(1, 20_000)]))

    def close(self) -> None:
        """Respond to the requests that wait, and stop the receiver."""
        self.gate.open()
        self.receiver.stop()


def _customer(chance: random.Random) -> dict[str, str]:
    return {"customerId": f"c{chance.randint(1, 5)}"} if chance.random() < 0.3 else {}
