"""ProcessorConnect: transfers to connected accounts, POST /v1/transfers of the Stripe API.

A created transfer is paid: it is in the recipient's balance. Our key is the Idempotency-Key, which they keep for
24 hours at least, and the `transfer_group`, by which the transfer can always be found. A server error is also
stored under the key, so after one only the look-up shows the result.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters import http_calls
from adapters.rails import base, stripe_client
from domain.payouts.transfers import Answer, Method, NotFound, Paid, Rejected, Transfer
from domain.restores.transfers import RailTransfer, TransferState

_REFERENCE = "processorTransferId"
_PAGE = 100
_EVENTS = ("transfer.created", "transfer.updated", "transfer.reversed")


class ProcessorConnectRail:
    """The rail at `url`, which is fixed by the operator."""

    method = Method.ProcessorConnect
    key_lasts = timedelta(hours=24)
    finds_by_key = True

    def __init__(
        self, *, url: str, key: str, webhook_secret: str | None, timeout_s: float = http_calls.WHOLE_CALL_S
    ) -> None:
        self.books = base.books(url, key)
        self._client = stripe_client.StripeClient(url=url, key=key, webhook_secret=webhook_secret, timeout_s=timeout_s)

    def send(self, transfer: Transfer) -> Answer:
        """Create the transfer. Raises RailMisconfigured and KeyTaken."""
        body: Any = {
            "amount": transfer.amount_cents,
            "currency": "usd",
            "destination": transfer.destination.account,
            "transfer_group": transfer.key,
            "metadata": stripe_client.labels(transfer),
        }
        transfers = self._client.api.v1.transfers
        return self._client.create(
            transfer,
            lambda: transfers.create(body, {"idempotency_key": transfer.key}),
            lambda row: _read(row, transfer),
        )

    def look_up(self, transfer: Transfer) -> Answer:
        """Return what became of the transfer. Raises RailMisconfigured and KeyTaken."""
        return self._client.look(transfer, lambda: self._look(transfer))

    def list_since(self, since: datetime) -> Iterator[RailTransfer]:
        """Return our transfers since a time. Raises CannotList and RailMisconfigured."""
        params: Any = {"created": {"gte": int(since.timestamp())}, "limit": _PAGE}
        return self._client.list_all(lambda: self._client.api.v1.transfers.list(params), _read_listed)

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> base.RailEvent | None:
        """Return a signed event about one of our transfers. Raises NotSigned."""
        event = self._client.verify(headers, body, thin=False)
        if event.type not in _EVENTS:
            return None
        row = event.data.object.to_dict()
        key = (row.get("metadata") or {}).get("payout_key")
        if not key:
            return None
        return base.RailEvent(event.id, key, {_REFERENCE: row["id"]}, _state(row))

    def _look(self, transfer: Transfer) -> Answer:
        transfers = self._client.api.v1.transfers
        if transfer_id := transfer.known.get(_REFERENCE):
            return _read(transfers.retrieve(transfer_id).to_dict(), transfer)
        row = transfers.list({"transfer_group": transfer.key, "limit": 2}).to_dict()["data"]
        if len(row) > 1:
            raise base.KeyTaken(f"{transfer.key} names more than one transfer on the rail's side")
        return _read(row[0], transfer) if row else NotFound()


def _read_listed(row: dict[str, Any]) -> RailTransfer | None:
    return stripe_client.read_labels(
        row.get("metadata") or {},
        method=Method.ProcessorConnect,
        reference=str(row["id"]),
        state=TransferState.returned if row["reversed"] else TransferState.paid,
        cents=row["amount"],
        currency=row["currency"].upper(),
        made_at=datetime.fromtimestamp(row["created"], UTC),
        account=row["destination"],
        references={_REFERENCE: str(row["id"])},
        returned_cents=0 if row["reversed"] else row.get("amount_reversed") or 0,
    )


def _read(row: dict[str, Any], transfer: Transfer) -> Answer:
    stripe_client.check_same(
        transfer,
        key=row["transfer_group"],
        amount=row["amount"],
        currency=row["currency"],
        account=row["destination"],
    )
    return _state(row)


def _state(row: dict[str, Any]) -> Answer:
    if row["reversed"]:
        return Rejected("reversed", "The transfer was reversed.")
    return Paid({_REFERENCE: str(row["id"])})
