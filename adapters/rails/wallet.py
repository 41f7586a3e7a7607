"""Wallet: one payment to an e-mail address, /v1/payments/payouts of the PayPal Payouts API.

Every payout is a batch of one. Our key is the `sender_batch_id`, which they pay once within 30 days: a repeat is
refused with a link to the first batch. A batch cannot be looked up by it, only by its own id from `known`; without
that id, only repeating the request finds it (`base.resolve`). An address without a wallet has 30 days to claim the
money, then it comes back.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from adapters import http_calls
from adapters.rails import base
from adapters.rails.wallet_client import WalletClient, WalletResponse
from domain.payouts.transfers import (
    Accepted,
    Answer,
    Method,
    Paid,
    Rejected,
    Transfer,
    Unknown,
    dollars_from_cents,
)
from domain.restores.transfers import RailTransfer

_BATCH, _TRANSACTION = "walletBatchId", "walletTransactionId"
_BATCH_LINK = re.compile(r"/v1/payments/payouts/([A-Za-z0-9_-]{1,64})(?:\?|\Z)")
_EVENTS = "PAYMENT.PAYOUTS-ITEM."
_SUBJECT = "You have a payout"

# Items on hold, blocked or unclaimed are still with the service; so is any state that it may name in future.
_GONE = ("FAILED", "RETURNED", "REFUNDED", "REVERSED")
_BATCH_GONE = ("DENIED", "CANCELED")


class WalletRail:
    """The rail at `url`, which is fixed by the operator."""

    method = Method.Wallet
    key_lasts = timedelta(days=30)
    finds_by_key = False

    def __init__(
        self,
        *,
        url: str,
        client_id: str,
        secret: str,
        webhook_id: str | None,
        timeout_s: float = http_calls.WHOLE_CALL_S,
    ) -> None:
        self.books = base.books(url, client_id)
        self._client = WalletClient(url=url, client_id=client_id, secret=secret, timeout_s=timeout_s)
        self._webhook_id = webhook_id

    def send(self, transfer: Transfer) -> Answer:
        """Request the payment; for a repeat, return what became of the first. Raises RailMisconfigured and KeyTaken."""
        try:
            response = self._client.ask("POST", "/v1/payments/payouts", _body(transfer))
        except http_calls.NoAnswer as error:
            return base.report_unknown(f"{error}", transfer)
        if response.status in (200, 201, 202):
            return _batch(response, transfer)
        if _is_repeat(response):
            batch_id = _linked_batch(response)
            return (
                self._read_batch(batch_id, transfer)
                if batch_id
                else base.report_unknown("it was sent before", transfer)
            )
        return _refusal(response, transfer)

    def look_up(self, transfer: Transfer) -> Answer:
        """Return what became of the batch that `known` names. Raises RailMisconfigured and KeyTaken."""
        if batch_id := transfer.known.get(_BATCH):
            return self._read_batch(batch_id, transfer)
        return base.report_unknown(
            "the batch's id is not known, and the service finds a batch by nothing else", transfer
        )

    def list_since(self, since: datetime) -> Iterator[RailTransfer]:
        """Raise CannotList: the interface finds a batch by its own id alone."""
        raise base.CannotList("the wallet service has no list of payments that can be asked for")

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> base.RailEvent | None:
        """Return an event about one of our items; the service itself verifies its signature.

        Raises NotSigned and RailMisconfigured.
        """
        try:
            event = orjson.loads(body)
        except orjson.JSONDecodeError:
            event = None
        if not isinstance(event, dict) or not self._is_signed(headers, body):
            raise base.NotSigned("the service does not say that it signed this")
        try:
            item, number, kind = event["resource"], str(event["id"]), str(event["event_type"])
            key, batch = item["payout_item"]["sender_item_id"], str(item["payout_batch_id"])
        except (KeyError, TypeError):
            return None
        if not kind.startswith(_EVENTS) or not isinstance(key, str):
            return None
        return base.RailEvent(number, key, {_BATCH: batch}, _item(item, batch))

    def _is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        return self._webhook_id is not None and self._client.has_signed(self._webhook_id, headers, body)

    def _read_batch(self, batch_id: str, transfer: Transfer) -> Answer:
        try:
            response = self._client.ask("GET", f"/v1/payments/payouts/{batch_id}?page_size=2")
        except http_calls.NoAnswer as error:
            return base.report_unknown(f"{error}", transfer)
        if response.status != 200:
            return base.report_unknown(f"the rail answers {response.status} to a look-up", transfer)
        return _batch(response, transfer)


def _body(transfer: Transfer) -> bytes:
    item = {
        "recipient_type": "EMAIL",
        "receiver": transfer.destination.account,
        "amount": {"value": dollars_from_cents(transfer.amount_cents), "currency": "USD"},
        "sender_item_id": transfer.key,
    }
    header = {"sender_batch_id": transfer.key, "email_subject": _SUBJECT}
    return orjson.dumps({"sender_batch_header": header, "items": [item]})


def _batch(response: WalletResponse, transfer: Transfer) -> Answer:
    """Return the state of a batch by its details; Unknown when they cannot be read."""
    try:
        header = response.body["batch_header"]
        batch_id, status = str(header["payout_batch_id"]), header["batch_status"]
        items = response.body.get("items") or []
        if header["sender_batch_header"]["sender_batch_id"] != transfer.key or len(items) > 1:
            raise base.KeyTaken(f"{transfer.key} is another batch on the rail's side")
        if status in _BATCH_GONE:
            return Rejected(base.code(status, "denied"), f"The batch was {status.lower()}.")
        if not items:
            return Accepted({_BATCH: batch_id})
        _check_same(items[0]["payout_item"], transfer)
        return _item(items[0], batch_id)
    except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation) as error:
        return base.report_unknown(f"the answer cannot be read: {type(error).__name__}", transfer)


def _check_same(item: Any, transfer: Transfer) -> None:
    amount, ours = item["amount"], transfer.destination.account
    is_amount = amount["currency"] == "USD" and Decimal(amount["value"]).scaleb(2) == transfer.amount_cents
    if not is_amount or item["receiver"].casefold() != ours.casefold():
        raise base.KeyTaken(f"{transfer.key} is another amount or recipient on the rail's side")


def _item(item: Mapping[str, Any], batch_id: str) -> Answer:
    status, errors = item.get("transaction_status"), item.get("errors")
    if status == "SUCCESS":
        number = item.get("transaction_id")
        if not number:
            return Unknown("the item is paid and its transaction is not named")
        return Paid({_BATCH: batch_id, _TRANSACTION: str(number)})
    if status in _GONE:
        details = errors if isinstance(errors, dict) else {}
        why = base.code(details.get("name"), base.code(status, "failed"))
        return Rejected(why, base.clean_message(details.get("message") or f"The payment was {str(status).lower()}."))
    return Accepted({_BATCH: batch_id})


def _is_repeat(response: WalletResponse) -> bool:
    if response.name == "USER_BUSINESS_ERROR":
        return not response.details or any(detail.get("field") == "SENDER_BATCH_ID" for detail in response.details)
    return "DUPLICATE" in response.name


def _linked_batch(response: WalletResponse) -> str | None:
    """Return the id in the link to the first batch; the link itself is not followed, it could lead anywhere."""
    links = [
        *response.links,
        *(link for detail in response.details for name in ("link", "links") for link in _list(detail.get(name))),
    ]
    matches = [_BATCH_LINK.search(str(link.get("href"))) for link in links if isinstance(link, dict)]
    ids = {match[1] for match in matches if match}
    return ids.pop() if len(ids) == 1 else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _refusal(response: WalletResponse, transfer: Transfer) -> Answer:
    # The first may have emptied the balance, or hit a limit, that its repeat now fails for. A malformed one never went.
    is_certain = not transfer.is_repeat or response.name == "VALIDATION_ERROR"
    if response.status in (400, 403, 422) and response.name and is_certain:
        issues = "; ".join(str(detail.get("issue", "")) for detail in response.details)
        text = f"{response.message} {issues}".strip() or "The payment was refused."
        return Rejected(base.code(response.name, "rejected"), base.clean_message(text, transfer))
    return base.report_unknown(f"the rail answers {response.status} {response.name}".rstrip(), transfer)
