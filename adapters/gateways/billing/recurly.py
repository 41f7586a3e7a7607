"""recurly: notifications name an object without amounts; invoices, transactions and subscriptions are always read.

Only JSON notifications are signed; unsigned ones in XML are refused. A sale's id is its invoice's; its
transactions are aliases. Refunds are counted by their transactions only, because credit invoices repeat the same money.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from adapters.gateways import paging, proofs, shapes
from adapters.gateways.adapter import ApiAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    Inbound,
    Known,
)
from adapters.gateways.wire import GatewayApi, Params, basic
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    Fact,
    Facts,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)

_HOSTS = {"us": "https://v3.recurly.com", "eu": "https://v3.eu.recurly.com"}
_VERSION = {"Accept": "application/vnd.recurly.v2021-02-25+json"}
_PAGE = 200
_KEY_FIELDS = ("object_type", "event_type", "id", "uuid", "invoice_number", "event_time")
# The statuses of a transaction whose payment is no longer one.
_TAKEN_BACK = ("void", "chargeback")

_UNPAID = ("open", "pending", "processing", "past_due", "failed")
# Events of payments that repeat the invoice, or during which no money moved.
_NO_REFUND = ("succeeded", "scheduled", "processing", "failed")


class Recurly(ApiAdapter):
    name = "recurly"
    label = "Recurly"
    kind = "subscription"
    fields = (
        CredentialField("apiKey", "Private API key", "Integrations, API credentials"),
        CredentialField("webhookSecret", "Endpoint secret key", "Integrations, Webhooks", required=False),
        CredentialField("region", "Region", "us (default) or eu: where your site's data is", False, required=False),
    )
    capabilities = Capabilities(coupons=True, trials=True, disputes=(DisputeState.Lost,))
    by_hand = (
        "Open Integrations, Webhooks, and add an endpoint for the address below; choose JSON, not XML.",
        "Let it send charge invoices, payments, subscriptions and accounts (or everything).",
        "Copy the endpoint's secret key into this connection as webhookSecret.",
    )

    def api(self, account: GatewayAccount) -> GatewayApi:
        host = _HOSTS.get((account.credentials.get("region") or "us").strip().lower())
        if host is None:
            raise CredentialsRefused("the region is us or eu")
        return GatewayApi("recurly", host, {**basic(account.credentials.get("apiKey", "")), **_VERSION})

    def check(self, account: GatewayAccount) -> Known:
        """Read the site of the key."""
        site = next(iter(shapes.items(self.api(account).get("/sites"), "data")), None)
        if site is None:
            raise CredentialsRefused("the key is of no site")
        name = shapes.text(site, "subdomain") or shapes.require(site, "id")
        modes = {"production": True, "development": False, "sandbox": False}
        return Known(name, modes.get(shapes.text(site, "mode") or ""), (shapes.identity(site, "id") or name,))

    def verify(self, account: GatewayAccount, request: Inbound) -> None:
        """Check `recurly-signature`: milliseconds and any number of digests, five minutes either way."""
        at, *digests = (part.strip() for part in request.headers.get("recurly-signature", "").split(","))
        proofs.require_recent(at, request.received_at.timestamp(), unit_s=0.001)
        signed = at.encode() + b"." + request.body
        expected = (proofs.hex_digest(secret.encode(), signed) for secret in account.secrets("webhookSecret"))
        proofs.require_match(digests, expected)

    def read_delivery(self, request: Inbound) -> GatewayDelivery:
        event = self.glance(request.body)
        # The id is the object's and comes again with everything that happens to it.
        parts = {name: shapes.text(event, name) for name in _KEY_FIELDS}
        is_whole = all(parts[name] for name in ("object_type", "event_type", "id", "event_time"))
        key = ":".join(part for part in parts.values() if part) if is_whole else proofs.fingerprint(request.body)
        kind = f"{parts['object_type']}.{parts['event_type']}" if is_whole else "unreadable"
        return GatewayDelivery(key, kind, request.body, parts["id"])

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Read the object that a notification names, and translate it."""
        api = self.api(account)
        object_type, act = shapes.require(event, "object_type"), shapes.require(event, "event_type")
        match object_type, act:
            case "charge_invoice", "paid":
                return _invoice(api, event)
            case "subscription", "created":
                return _subscription(api, event)
            case "subscription", "updated":
                subscription = api.get(_path("subscriptions", event, "uuid", "uuid"))
                return _referral(event, _origin(api, subscription, subscription))
            case "account", "updated":
                buyer = api.get(_path("accounts", event, "code", "account_code"))
                return _referral(event, _origin_of_account(buyer))
            case "payment", _ if act not in _NO_REFUND:
                return _transaction(api, event)
            case _:
                return IgnoredFact("unknown_type")

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the paid invoices that changed since then, and the transactions that gave money back."""
        api = self.api(account)
        params: Params = {"sort": "updated_at", "order": "asc", "begin_time": shapes.utc(since), "limit": _PAGE}
        for page in _pages(api, "/invoices", {"type": "charge", "state": "paid", **params}):
            # Whatever else happens to an old invoice changes it too.
            paid = [item for item in page if shapes.is_since(since, partial(shapes.moment, item, "closed_at"))]
            if paid:
                yield [_to_delivery("charge_invoice", "paid", item, "") for item in paid]
        for page in _pages(api, "/transactions", params):
            if deliveries := [delivery for item in page if (delivery := _listed_reversal(item))]:
                yield deliveries


GATEWAY = Recurly()


def _pages(api: GatewayApi, path: str, params: Params) -> Iterator[list[Any]]:
    def find_next_query(page: Any) -> tuple[str, Params | None] | None:
        next_page = shapes.get(page, "next")
        if shapes.get(page, "has_more") is not True or not isinstance(next_page, str):
            return None
        parts = urlsplit(next_page)  # its path and query are all that is taken; the host stays ours
        return f"/{parts.path.lstrip('/')}?{parts.query}", None

    first: tuple[str, Params | None] = (path, params)
    for page in paging.follow(lambda place: api.get(*place), first, find_next_query):
        if items := shapes.items(page, "data"):
            yield items


def _listed_reversal(transaction: Any) -> GatewayDelivery | None:
    """Return a refund, a void or a chargeback as the notification of it."""
    status = shapes.text(transaction, "status")
    if shapes.text(transaction, "type") == "refund":
        return _to_delivery("payment", "refunded", transaction, "") if status == "success" else None
    # A payment that is void or charged back was reported under its own id before.
    return _to_delivery("payment", str(status), transaction, f":{status}") if status in _TAKEN_BACK else None


def _to_delivery(object_type: str, event_type: str, item: Any, suffix: str) -> GatewayDelivery:
    object_id = shapes.require(item, "id")
    times = (shapes.text(item, name) for name in ("closed_at", "updated_at", "created_at"))
    event = {
        "object_type": object_type,
        "event_type": event_type,
        "id": object_id,
        "uuid": shapes.identity(item, "uuid"),
        "invoice_number": shapes.identity(item, "number"),
        "event_time": next(filter(None, times), None),
    }
    return make_listed(f"{object_id}{suffix}", f"{object_type}.{event_type}", event, object_id)


def _invoice(api: GatewayApi, event: Any) -> Fact:
    invoice = api.get(_path("invoices", event, "number", "invoice_number"))
    if shapes.text(invoice, "type") != "charge" or shapes.text(invoice, "state") in _UNPAID:
        return IgnoredFact("not_paid")
    currency = amounts.currency(shapes.get(invoice, "currency"))
    paid = amounts.from_decimal(shapes.get(invoice, "paid"), currency)
    subscriptions = shapes.get(invoice, "subscription_ids")
    subscription_id = next(iter(subscriptions), None) if isinstance(subscriptions, list) else None
    subscription = _find(api, "subscriptions", shapes.identity({"id": subscription_id}, "id"))
    return PaymentFact(
        external_id=shapes.require(invoice, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=shapes.moment(*((invoice, "closed_at") if shapes.get(invoice, "closed_at") else (event, "event_time"))),
        origin=_origin(api, invoice, subscription),
        aliases=tuple(_aliases(invoice)),
        net_cents=_net(invoice, paid, currency),
    )


def _subscription(api: GatewayApi, event: Any) -> Fact:
    at = shapes.moment(event, "event_time")
    subscription = api.get(_path("subscriptions", event, "uuid", "uuid"))
    origin = _origin(api, subscription, subscription)
    trial_ends = shapes.get(subscription, "trial_ends_at")
    if trial_ends is not None and shapes.moment(trial_ends) > at:
        return StartFact(external_id=shapes.require(subscription, "id"), started_at=at, origin=origin)
    return ReferralFact(told_at=at, origin=origin)


def _referral(event: Any, origin: BuyerOrigin) -> Fact:
    return ReferralFact(told_at=shapes.moment(event, "event_time"), origin=origin)


def _origin_of_account(account: Any) -> BuyerOrigin:
    return BuyerOrigin(customer_id=shapes.require(account, "id"), carriers=tuple(_carriers(account)))


def _transaction(api: GatewayApi, event: Any) -> Fact:
    """Read what happened to a payment: its own status decides, whatever the name of the notification."""
    at = shapes.moment(event, "event_time")
    transaction = api.get(_path("transactions", event, "uuid", "uuid"))
    kind, status = shapes.require(transaction, "type"), shapes.text(transaction, "status")
    transaction_id = shapes.require(transaction, "id")
    if kind != "refund" and status == "chargeback":
        currency = amounts.currency(shapes.get(transaction, "currency"))
        return DisputeFact(
            dispute_id=transaction_id,
            sale_ids=(transaction_id,),
            state=DisputeState.Lost,
            at=at,
            amount_cents=amounts.from_decimal(shapes.get(transaction, "amount"), currency),
            currency=currency,
        )
    reason = None
    if kind == "refund" and status == "success":
        refund_id, sale_id = transaction_id, shapes.require(transaction, "original_transaction_id")
    elif kind == "purchase" and status == "void":
        refund_id, sale_id, reason = f"void:{transaction_id}", transaction_id, "cancelled"
    elif shapes.text(event, "event_type") == "refunded" and kind != "refund":
        raise UnreadableEvent("the refund names a payment that was not reversed")
    else:
        return IgnoredFact("no_money_moved")
    currency = amounts.currency(shapes.get(transaction, "currency"))
    return RefundFact(
        refund_id=refund_id,
        sale_ids=(sale_id,),
        amount_cents=amounts.from_decimal(shapes.get(transaction, "amount"), currency),
        currency=currency,
        refunded_at=at,
        reason=reason,
    )


def _path(collection: str, event: Any, prefix: str, name: str) -> str:
    """Return the path of an object: by its number or uuid where the event has it, else by its id."""
    value = shapes.identity(event, name)
    return f"/{collection}/" + shapes.segment(f"{prefix}-{value}" if value else shapes.require(event, "id"))


def _find(api: GatewayApi, collection: str, object_id: str | None) -> Any | None:
    return api.find(f"/{collection}/{shapes.segment(object_id)}") if object_id else None


def _origin(api: GatewayApi, holder: Any, subscription: Any) -> BuyerOrigin:
    """Return where a payment comes from; only account and subscription carry the brand's own fields."""
    account_id = shapes.identity(holder, "account", "id")
    account = _find(api, "accounts", account_id)
    buyers = [shapes.get(holder, "account"), account]
    names = ([shapes.text(buyer, part) for part in ("first_name", "last_name")] for buyer in buyers)
    coupons = [shapes.get(redemption, "coupon") for redemption in shapes.items(holder, "coupon_redemptions")]
    codes = [(shapes.text(coupon, "code") or "", shapes.identity(coupon, "id")) for coupon in coupons]
    return BuyerOrigin(
        customer_id=account_id,
        email=next((email for buyer in buyers if (email := shapes.text(buyer, "email"))), None),
        name=next((full for parts in names if (full := " ".join(filter(None, parts)))), None),
        subscription_id=shapes.identity(subscription, "id"),
        carriers=(*_carriers(subscription), *_carriers(account)),
        codes=tuple(RedeemedCode(text, "recurly_coupon_code", id) for text, id in dict.fromkeys(codes) if text or id),
    )


def _carriers(holder: Any) -> Iterator[Carrier]:
    if table := shapes.pairs(holder, "custom_fields"):
        yield Carrier("recurly_custom_field", table)


def _aliases(invoice: Any) -> Iterator[str]:
    for transaction in shapes.items(invoice, "transactions"):
        if shapes.text(transaction, "type") in ("purchase", "capture"):
            yield shapes.require(transaction, "id")
            if uuid := shapes.identity(transaction, "uuid"):
                yield uuid


def _net(invoice: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax; None where that is unknown."""
    tax, total = (amounts.parse_exact_decimal(shapes.get(invoice, name), currency) for name in ("tax", "total"))
    return amounts.without_tax(paid, tax, total)
