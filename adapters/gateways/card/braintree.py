"""braintree: subscriptions and disputes tell themselves; one-off sales and refunds of cards are found by searching.

A notification is a form: a text that is signed by SHA-1 under the SHA-1 of the private key (braintree's choice), and
holds XML. A new pair of keys is a rotation.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

from adapters.gateways import events, proofs, shapes
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    GatewayAccount,
    GatewayDelivery,
    GatewayUnreachable,
    Inbound,
    Known,
    NotProved,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.card import braintree_facts, braintree_xml
from adapters.gateways.wire import GatewayWire, basic, dumped, parsed
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact, UnreadableEvent

_LIVE, _SANDBOX = "https://api.braintreegateway.com", "https://api.sandbox.braintreegateway.com"
_HEADERS = {"Accept": "application/xml", "X-ApiVersion": "6"}
_CHALLENGE = re.compile(r"[a-f0-9]{20,32}")
_PAYLOAD = re.compile(r"[A-Za-z0-9+/=\n]+")
_PAGE = 50
_STEPS = (
    "Open the Control Panel, API, Webhooks, and create a webhook for the address below with the events below.",
    "Declare affiliate_slug (and sub_id) as custom fields that are stored (Transactions, Custom fields), and send them "
    "with each transaction.",
)


class Braintree:
    """The adapter; it has no state."""

    name = "braintree"
    label = "Braintree"
    kind = "card"
    fields = (
        CredentialField("merchantId", "Merchant ID", "Control Panel, API, Keys", secret=False),
        CredentialField("publicKey", "Public key", "Control Panel, API, Keys", secret=False),
        CredentialField("privateKey", "Private key", "Control Panel, API, Keys, beside the public key"),
    )
    capabilities = Capabilities(
        refunds="poll",
        own_ids=True,
        disputes=tuple(DisputeState),
        leaves=True,
        lacks=(
            "Braintree's discounts are no codes.",
            "One-off sales and refunds of cards are found once they are settled, within a quarter of an hour.",
            "Trials are not told.",
        ),
    )
    polls: timedelta | None = timedelta(minutes=15)

    def check(self, account: GatewayAccount) -> Known:
        """List the plans."""
        if "plans" not in _wire(account).get("/plans"):
            raise GatewayUnreachable("it answers without plans")
        merchant = account.credentials.get("merchantId", "")
        return Known(merchant, account.mode == "live", (merchant,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Say what the brand does: webhooks are made in the Control Panel alone."""
        sent = [name for name in braintree_facts.READERS if name not in braintree_facts.FOUND]
        return Subscribed(setup=events.by_hand(address, _STEPS, sent))

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Do nothing: nothing was made."""

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `bt_signature` over `bt_payload`; a GET with `bt_challenge` is answered with its digest."""
        if request.method == "GET":
            return ProvedRequest(body=_challenged(account, request.query.get("bt_challenge", "")))
        signature, payload = _form(request.body)
        pairs = [part.partition("|") for part in signature.split("&")]
        sent, expected = [], []
        for public, private in _keys(account):
            sent += [digest for name, _, digest in pairs if name == public]
            expected += [_digest(private, signed) for signed in (payload, f"{payload}\n")]
        proofs.require_match(sent, expected)
        return ProvedRequest((_delivery(payload),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate a notification, or a transaction that was found."""
        told = _notification(delivery.raw)
        kind, at = shapes.needed(told, "kind"), shapes.moment(told, "timestamp")
        read = braintree_facts.READERS.get(kind)
        if read is None:
            return (IgnoredFact("unknown_type"),)
        return read(_wire(account), shapes.at(told, "subject"), at)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the customer: their custom fields, email and name."""
        if origin.customer_id is None:
            return origin
        said = _wire(account).find(f"/customers/{shapes.segment(origin.customer_id)}")
        customer = shapes.at(said, "customer")
        email, name = shapes.text(customer, "email"), shapes.full_name(customer, "first_name", "last_name")
        return origin.with_more(email=email, name=name, carriers=braintree_facts.carriers(customer))

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Search what was settled since then, sales and refunds, and charges of subscriptions that were voided."""
        wire = _wire(account)
        for since_name, kind in (("settled-at", "transaction_settled"), ("voided-at", "transaction_voided")):
            for page in _pages(wire, since_name, since):
                told = [_listed(item, kind) for item in page if braintree_facts.is_counted(item, kind)]
                if told:
                    yield told


GATEWAY = Braintree()


def _wire(account: GatewayAccount) -> GatewayWire:
    held = account.credentials
    address = f"{_LIVE if account.mode == 'live' else _SANDBOX}/merchants/{shapes.segment(held.get('merchantId', ''))}"
    headers = {**basic(held.get("publicKey", ""), held.get("privateKey", "")), **_HEADERS}
    return GatewayWire("braintree", address, headers, reads=braintree_xml.parsed)


def _keys(account: GatewayAccount) -> list[tuple[str, str]]:
    """Return the pairs of keys that count now; none that is empty in part."""
    pairs = [(held.get("publicKey", ""), held.get("privateKey", "")) for held in account.sets]
    return [pair for pair in pairs if all(pair)]


def _digest(private: str, signed: str) -> str:
    key = hashlib.sha1(private.encode()).digest()  # noqa: S324  # how braintree signs
    return hmac.new(key, signed.encode(), "sha1").hexdigest()


def _challenged(account: GatewayAccount, challenge: str) -> bytes:
    keys = _keys(account)
    if not keys or not _CHALLENGE.fullmatch(challenge):
        raise NotProved
    public, private = keys[0]
    return f"{public}|{_digest(private, challenge)}".encode()


def _form(body: bytes) -> tuple[str, str]:
    """Return the signature and the payload of a form. Raises NotProved."""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=10)
    except ValueError as error:
        raise NotProved from error
    (signature, *_), (payload, *_) = fields.get("bt_signature", [""]), fields.get("bt_payload", [""])
    if not signature or not _PAYLOAD.fullmatch(payload):
        raise NotProved
    return signature, payload


def _delivery(payload: str) -> GatewayDelivery:
    """Return a notification: it has no id, but its text is the same when it is sent again."""
    try:
        raw = base64.b64decode(payload)
        kind = shapes.text(_notification(raw), "kind")
    except binascii.Error:
        raw, kind = payload.encode(), None
    except UnreadableEvent:
        kind = None
    return GatewayDelivery(proofs.fingerprint(payload.encode()), kind or "unreadable", raw)


def _notification(raw: bytes) -> Any:
    """Return a notification in either language: what came is XML, what was found is kept as JSON."""
    told = events.kept(raw, parsed if raw.startswith(b"{") else braintree_xml.parsed)
    return shapes.at(told, "notification")


def _pages(wire: GatewayWire, since_name: str, since: datetime) -> Iterator[list[Any]]:
    """Yield the transactions to which something happened since then: first all ids, then page by page."""
    start = shapes.utc(since)
    found = _asked(wire, "advanced_search_ids", braintree_xml.search(since_name, start))
    ids = shapes.at(found, "search_results", "ids")
    if not isinstance(ids, list):
        raise GatewayUnreachable("it answers without ids")
    known = [one for one in ids if isinstance(one, str) and one]
    for first in range(0, len(known), _PAGE):
        asked = braintree_xml.search(since_name, start, known[first : first + _PAGE])
        yield shapes.items(_asked(wire, "advanced_search", asked), "credit_card_transactions", "items")


def _asked(wire: GatewayWire, name: str, question: bytes) -> Any:
    headers = {"Content-Type": "application/xml"}
    return wire.ask("POST", f"/transactions/{name}", content=question, headers=headers).json


def _listed(transaction: Mapping[str, Any], kind: str) -> GatewayDelivery:
    transaction_id = shapes.needed(transaction, "id")
    again = ":voided" if kind == "transaction_voided" else ""
    at = shapes.text(transaction, "updated_at") or shapes.text(transaction, "created_at")
    told = {"kind": kind, "timestamp": at, "subject": {"transaction": transaction}}
    raw = dumped({"notification": told})
    return GatewayDelivery(f"reconcile:{transaction_id}{again}", kind, raw, transaction_id)
