"""The fake processor's incoming money: payment intents and refunds."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.adapters.rails.fake_responses import FaultyHandler
from tests.adapters.rails.fake_shapes import Booking, charge, refund


class ChargeHandler(FaultyHandler):
    """A handler of charges; a subclass provides the service as `fake`."""

    fake: Any
    body: bytes
    query: dict[str, list[str]]
    _stripe: Callable[..., None]
    _read_only: Callable[[Any], None]

    def make_charge(self) -> None:
        form = self._form()
        assert (form["confirm"], form["off_session"], form["automatic_payment_methods[enabled]"]) == ("true",) * 3
        assert form["payment_method"].startswith("pm_")
        key = form["metadata[deal_key]"]
        metadata = {"deal_key": key, "deal_id": form["metadata[deal_id]"]}
        booking = Booking("", "Charge", key, form["amount"], form["currency"], form["customer"], metadata)
        self._stripe(booking, "pi", charge, self.headers["Idempotency-Key"], self.body.decode())

    def list_charges(self) -> None:
        bookings = [booking for booking in reversed(self.fake.books) if booking.method == "Charge"]
        if "customer" in self.query:
            bookings = [booking for booking in bookings if booking.account == self.query["customer"][0]]
        since = int(self.query.get("created[gte]", ["0"])[0])
        self._list_page([booking for booking in bookings if booking.created >= since], charge)

    def make_refund(self) -> None:
        form = self._form()
        (charged,) = [booking for booking in self.fake.books if booking.id == form["payment_intent"]]
        key = form["metadata[deal_key]"]
        booking = Booking("", "Refund", key, form["amount"], charged.currency, charged.id, {"deal_key": key})
        self._stripe(booking, "re", refund, self.headers["Idempotency-Key"], self.body.decode())

    def list_refunds(self) -> None:
        self._list("Refund", self.query["payment_intent"][0], refund)

    def _form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}

    def _list(self, method: str, account: str, serialize: Any) -> None:
        self._list_page(
            [
                booking
                for booking in reversed(self.fake.books)
                if (booking.method, booking.account) == (method, account)
            ],
            serialize,
        )

    def _list_page(self, bookings: list[Booking], serialize: Callable[[Booking], Any]) -> None:
        after = self.query.get("starting_after", [""])[0]
        start = next((n for n, booking in enumerate(bookings, start=1) if booking.id == after), 0)
        size = 2  # as for payments in fake_processor
        page = [serialize(booking) for booking in bookings[start : start + size]]
        url = urlsplit(self.path).path
        self._read_only({"object": "list", "data": page, "has_more": start + size < len(bookings), "url": url})
