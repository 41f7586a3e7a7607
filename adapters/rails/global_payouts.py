"""GlobalPayouts: outbound payments to recipients' own payout methods, /v2/money_management/outbound_payments of the
Stripe API, version 2026-10-28.

The money leaves a financial account of the brand for the recipient's default payout method. Our key is the
Idempotency-Key and a label: their list cannot be searched by it, so a look-up reads the recipient's payments, which are
few. A payment may still fail or be returned by the recipient's bank days later.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from adapters import http_calls
from adapters.rails import base, stripe_client
from domain.payouts.transfers import Accepted, Answer, Method, NotFound, Paid, Rejected, Transfer, Unknown
from domain.restores.transfers import RailTransfer, TransferState

_REFERENCE = "gpOutboundPaymentId"
_EVENTS = "v2.money_management.outbound_payment."
_PAGE = 100
_MAX_READ = 2000


class GlobalPayoutsRail:
    """The rail at `url`, which is fixed by the operator; the money comes from `financial_account`."""

    method = Method.GlobalPayouts
    # They promise this of every key; for this interface they may store them longer.
    key_lasts = timedelta(hours=24)
    finds_by_key = True

    def __init__(
        self,
        *,
        url: str,
        key: str,
        webhook_secret: str | None,
        financial_account: str,
        timeout_s: float = http_calls.WHOLE_CALL_S,
    ) -> None:
        self.books = base.books(url, key, financial_account)
        self._client = stripe_client.StripeClient(url=url, key=key, webhook_secret=webhook_secret, timeout_s=timeout_s)
        self._financial_account = financial_account

    def send(self, transfer: Transfer) -> Answer:
        """Request the payment. Raises RailMisconfigured and KeyTaken."""
        body: Any = {
            "from": {"financial_account": self._financial_account, "currency": "usd"},
            "to": {"recipient": transfer.destination.account},
            "amount": {"value": transfer.amount_cents, "currency": "usd"},
            "metadata": stripe_client.labels(transfer),
        }
        return self._client.create(
            transfer,
            lambda: self._payments.create(body, {"idempotency_key": transfer.key}),
            lambda row: _read(row, transfer),
        )

    def look_up(self, transfer: Transfer) -> Answer:
        """Return what became of the payment. Raises RailMisconfigured and KeyTaken."""
        return self._client.look(transfer, lambda: self._look(transfer))

    def list_since(self, since: datetime) -> Iterator[RailTransfer]:
        """Return our payments since a time. Raises CannotList and RailMisconfigured."""
        params: Any = {"created": {"gte": since.isoformat()}, "limit": _PAGE}
        return self._client.list_all(lambda: self._payments.list(params), _read_listed)

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> base.RailEvent | None:
        """Return the event of a signed notification about one of our payments.

        It names the payment and nothing more, so the payment is read; when that fails the answer is Unknown.
        Raises NotSigned.
        """
        event = self._client.verify(headers, body, thin=True)
        related = getattr(event, "related_object", None)
        if related is None or not event.type.startswith(_EVENTS):
            return None
        references = {_REFERENCE: str(related.id)}
        row = self._client.read(lambda: self._payments.retrieve(related.id))
        if row is None:
            return base.RailEvent(event.id, None, references, Unknown("the payment could not be read"))
        key = (row.get("metadata") or {}).get("payout_key")
        return base.RailEvent(event.id, key, references, _state(row)) if key else None

    def _look(self, transfer: Transfer) -> Answer:
        if payment_id := transfer.known.get(_REFERENCE):
            return _read(self._payments.retrieve(payment_id).to_dict(), transfer)
        listed = self._payments.list({"recipient": transfer.destination.account, "limit": _PAGE})
        payments = listed.auto_paging_iter()
        for payment in islice(payments, _MAX_READ):
            row = payment.to_dict()
            if (row.get("metadata") or {}).get("payout_key") == transfer.key:
                return _read(row, transfer)
        if next(iter(payments), None) is not None:
            return base.report_unknown("the recipient has more payments than can be searched", transfer)
        return NotFound()

    @property
    def _payments(self) -> Any:
        return self._client.api.v2.money_management.outbound_payments


def _read_listed(row: dict[str, Any]) -> RailTransfer | None:
    match _state(row):
        case Paid():
            state = TransferState.paid
        case Rejected():
            state = TransferState.returned
        case _:
            state = TransferState.in_flight
    return stripe_client.read_labels(
        row.get("metadata") or {},
        method=Method.GlobalPayouts,
        reference=str(row["id"]),
        state=state,
        cents=row["amount"]["value"],
        currency=row["amount"]["currency"].upper(),
        made_at=datetime.fromisoformat(row["created"]),
        account=row["to"]["recipient"],
        references={_REFERENCE: str(row["id"])},
    )


def _read(row: dict[str, Any], transfer: Transfer) -> Answer:
    stripe_client.check_same(
        transfer,
        key=row["metadata"]["payout_key"],
        amount=row["amount"]["value"],
        currency=row["amount"]["currency"],
        account=row["to"]["recipient"],
    )
    return _state(row)


def _state(row: dict[str, Any]) -> Answer:
    references, status = {_REFERENCE: str(row["id"])}, row["status"]
    if status == "posted":
        return Paid(references)
    if status in ("failed", "returned", "canceled"):
        details = (row.get("status_details") or {}).get(status) or {}
        why = base.code(details.get("reason"), status)
        return Rejected(why, f"The payment was {status}: {why.replace('_', ' ')}.")
    return Accepted(references)
