"""The part of the fake processor that brings money in and gives it back: payment intents and refunds."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.adapters.rails.fake_answers import Answering
from tests.adapters.rails.fake_shapes import Booked, charge, refund


class Charging(Answering):
    """A handler of charges; whoever completes it has the service's books at `fake`."""

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
        booked = Booked("", "Charge", key, form["amount"], form["currency"], form["customer"], metadata)
        self._stripe(booked, "pi", charge, self.headers["Idempotency-Key"], self.body.decode())

    def list_charges(self) -> None:
        every = [one for one in reversed(self.fake.books) if one.method == "Charge"]
        if "customer" in self.query:
            every = [one for one in every if one.account == self.query["customer"][0]]
        since = int(self.query.get("created[gte]", ["0"])[0])
        self._list_page([one for one in every if one.created >= since], charge)

    def make_refund(self) -> None:
        form = self._form()
        (paid,) = [one for one in self.fake.books if one.id == form["payment_intent"]]
        key = form["metadata[deal_key]"]
        booked = Booked("", "Refund", key, form["amount"], paid.currency, paid.id, {"deal_key": key})
        self._stripe(booked, "re", refund, self.headers["Idempotency-Key"], self.body.decode())

    def list_refunds(self) -> None:
        self._list("Refund", self.query["payment_intent"][0], refund)

    def _form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}

    def _list(self, method: str, account: str, shown: Any) -> None:
        self._list_page(
            [one for one in reversed(self.fake.books) if (one.method, one.account) == (method, account)], shown
        )

    def _list_page(self, every: list[Booked], shown: Callable[[Booked], Any]) -> None:
        after = self.query.get("starting_after", [""])[0]
        start = next((n for n, one in enumerate(every, start=1) if one.id == after), 0)
        size = 2  # as for payments below
        page = [shown(one) for one in every[start : start + size]]
        url = urlsplit(self.path).path
        self._read_only({"object": "list", "data": page, "has_more": start + size < len(every), "url": url})
