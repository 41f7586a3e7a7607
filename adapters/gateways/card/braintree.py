"""braintree: subscriptions and disputes have notifications; one-off sales and refunds of cards are found by searching.

A notification is a form: a text that is signed by SHA-1 under the SHA-1 of the private key (braintree's choice), and
contains XML. A new pair of keys is a rotation.
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

from adapters.gateways import proofs, shapes
from adapters.gateways.adapter import ApiAdapter, make_listed
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
)
from adapters.gateways.card import braintree_facts, braintree_xml
from adapters.gateways.wire import GatewayApi, basic, parse_json
from domain.gateways.facts import Carrier, DisputeState, Facts, IgnoredFact, UnreadableEvent

_LIVE, _SANDBOX = "https://api.braintreegateway.com", "https://api.sandbox.braintreegateway.com"
_HEADERS = {"Accept": "application/xml", "X-ApiVersion": "6"}
_CHALLENGE = re.compile(r"[a-f0-9]{20,32}")
_PAYLOAD = re.compile(r"[A-Za-z0-9+/=\n]+")
_PAGE = 50


class Braintree(ApiAdapter):
    name = "braintree"
    label = "Braintree"
    kind = "card"
    fields = (
        CredentialField("merchantId", "Merchant ID", "Control Panel, API, Keys", secret=False),
        CredentialField("publicKey", "Public key", "Control Panel, API, Keys", secret=False),
        CredentialField("privateKey", "Private key", "Control Panel, API, Keys, next to the public key"),
    )
    capabilities = Capabilities(
        refunds="poll",
        own_ids=True,
        disputes=tuple(DisputeState),
        reports_removal=True,
        lacks=(
            "Braintree's discounts are not codes.",
            "One-off sales and refunds of cards are found once they are settled, within a quarter of an hour.",
            "Trials are not reported.",
        ),
    )
    polls = timedelta(minutes=15)
    by_hand = (
        "Open the Control Panel, API, Webhooks, and create a webhook for the address below with the events below.",
        "Declare affiliate_slug (and sub_id) as custom fields that are stored (Transactions, Custom fields), and send"
        " them with each transaction.",
    )
    sent_events = tuple(name for name in braintree_facts.READERS if name not in braintree_facts.FOUND)
    customer_path = "/customers/{customer}"
    customer_in = ("customer",)
    customer_names = ("first_name", "last_name")

    def api(self, account: GatewayAccount) -> GatewayApi:
        keys = account.credentials
        host, merchant = _LIVE if account.mode == "live" else _SANDBOX, shapes.segment(keys.get("merchantId", ""))
        headers = {**basic(keys.get("publicKey", ""), keys.get("privateKey", "")), **_HEADERS}
        return GatewayApi("braintree", f"{host}/merchants/{merchant}", headers, reads=braintree_xml.parse)

    def check(self, account: GatewayAccount) -> Known:
        if "plans" not in self.api(account).get("/plans"):
            raise GatewayUnreachable("it answers without plans")
        merchant = account.credentials.get("merchantId", "")
        return Known(merchant, account.mode == "live", (merchant,))

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `bt_signature` over `bt_payload`; a GET with `bt_challenge` is answered with its digest."""
        if request.method == "GET":
            return ProvedRequest(body=_sign_challenge(account, request.query.get("bt_challenge", "")))
        signature, payload = _form(request.body)
        pairs = [part.partition("|") for part in signature.split("&")]
        digests, expected = [], []
        for public, private in _keys(account):
            digests += [digest for name, _, digest in pairs if name == public]
            expected += [_digest(private, signed) for signed in (payload, f"{payload}\n")]
        proofs.require_match(digests, expected)
        return ProvedRequest((self._delivery(payload),))

    def parse(self, raw: bytes) -> Any:
        """Return a notification in either language: notifications are XML, listed transactions are stored as JSON."""
        document = parse_json(raw) if raw.startswith(b"{") else braintree_xml.parse(raw)
        return shapes.get(document, "notification")

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        name, at = shapes.require(event, "kind"), shapes.moment(event, "timestamp")
        read = braintree_facts.READERS.get(name)
        if read is None:
            return IgnoredFact("unknown_type")
        return read(self.api(account), shapes.get(event, "subject"), at)

    def read_carriers(self, holder: Any) -> tuple[Carrier, ...]:
        return braintree_facts.carriers(holder)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Search the sales and refunds that were settled since then, and voided charges of subscriptions."""
        api = self.api(account)
        for since_name, kind in (("settled-at", "transaction_settled"), ("voided-at", "transaction_voided")):
            for page in _pages(api, since_name, since):
                if counted := [item for item in page if braintree_facts.is_counted(item, kind)]:
                    yield [_to_delivery(item, kind) for item in counted]

    def _delivery(self, payload: str) -> GatewayDelivery:
        """Return a notification: it has no id, but its text is the same when it is sent again."""
        try:
            raw = base64.b64decode(payload)
            kind = shapes.text(self.read_event(raw), "kind")
        except binascii.Error:
            raw, kind = payload.encode(), None
        except UnreadableEvent:
            kind = None
        return GatewayDelivery(proofs.fingerprint(payload.encode()), kind or "unreadable", raw)


GATEWAY = Braintree()


def _keys(account: GatewayAccount) -> list[tuple[str, str]]:
    """Return the pairs of keys that count now; without those of which one part is empty."""
    pairs = [(keys.get("publicKey", ""), keys.get("privateKey", "")) for keys in account.sets]
    return [pair for pair in pairs if all(pair)]


def _digest(private: str, signed: str) -> str:
    key = hashlib.sha1(private.encode()).digest()  # noqa: S324  # how braintree signs
    return hmac.new(key, signed.encode(), "sha1").hexdigest()


def _sign_challenge(account: GatewayAccount, challenge: str) -> bytes:
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


def _pages(api: GatewayApi, since_name: str, since: datetime) -> Iterator[list[Any]]:
    """Yield the transactions to which something happened since then: first all ids, then page by page."""
    start = shapes.utc(since)
    results = _search(api, "advanced_search_ids", braintree_xml.search(since_name, start))
    ids = shapes.get(results, "search_results", "ids")
    if not isinstance(ids, list):
        raise GatewayUnreachable("it answers without ids")
    transaction_ids = [each for each in ids if isinstance(each, str) and each]
    for first in range(0, len(transaction_ids), _PAGE):
        query = braintree_xml.search(since_name, start, transaction_ids[first : first + _PAGE])
        yield shapes.items(_search(api, "advanced_search", query), "credit_card_transactions", "items")


def _search(api: GatewayApi, name: str, query: bytes) -> Any:
    headers = {"Content-Type": "application/xml"}
    return api.request("POST", f"/transactions/{name}", content=query, headers=headers).json


def _to_delivery(transaction: Mapping[str, Any], kind: str) -> GatewayDelivery:
    transaction_id = shapes.require(transaction, "id")
    again = ":voided" if kind == "transaction_voided" else ""
    at = shapes.text(transaction, "updated_at") or shapes.text(transaction, "created_at")
    notification = {"kind": kind, "timestamp": at, "subject": {"transaction": transaction}}
    return make_listed(f"{transaction_id}{again}", kind, {"notification": notification}, transaction_id)
