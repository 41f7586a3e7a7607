"""wix: orders of a site's shop, refunds and chargebacks of their payments, told to an app of the site's own.

A sale's id is its order's; every cycle of a subscription is another order. Events are only read to be answered, for
wix waits hardly more than a second.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.gateways import events, proofs, shapes
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    GatewayUnreachable,
    Inbound,
    Known,
    NotProved,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.storefront import wix_facts, wix_proof
from adapters.gateways.tokens import AccessTokens
from adapters.gateways.wire import GatewayWire, dumped
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact, UnreadableEvent

_API = "https://www.wixapis.com"
_PAGE = 100
_LIVES_S = 4 * 3600
_TOKENS = AccessTokens()
_BY_HAND = (
    "Open your app's dashboard, Webhooks, and create a webhook for each of the events below, with the address below.",
    "Give the app the permission Read Orders, and install its new version on the site.",
)


class Wix:
    """The adapter; it has no state."""

    name = "wix"
    label = "Wix"
    kind = "storefront"
    fields = (
        CredentialField("appId", "App ID", "Your app's dashboard, OAuth", secret=False),
        CredentialField("appSecret", "App secret key", "Your app's dashboard, OAuth"),
        CredentialField("instanceId", "Instance ID", "Of the app on this site, in its installation", secret=False),
        CredentialField("publicKey", "Public key", "Your app's dashboard, Webhooks: -----BEGIN PUBLIC KEY-----…"),
    )
    capabilities = Capabilities(
        coupons=True,
        disputes=(DisputeState.Lost, DisputeState.Won),
        leaves=True,
        webhooks_belong_to="appId",
        lacks=(
            "The page on which a visit began is not told: a custom field, a coupon or history name who referred.",
            "A chargeback is told once its money is gone, and not by reconciliation.",
        ),
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Read the key, ask for a token, and ask whose it is."""
        try:
            wix_proof.key(account.credentials.get("publicKey", ""))
        except ValueError as error:
            raise CredentialsRefused(str(error)) from error
        token = _TOKENS.fresh(_key(account), lambda: _asked(account))
        said = _wire(token).get("/apps/v1/instance")
        if shapes.text(said, "instance", "instanceId") != account.credentials.get("instanceId"):
            raise CredentialsRefused("the app's instance is another")
        site = shapes.needed(said, "site", "siteId")
        name = shapes.text(said, "site", "siteDisplayName") or site
        return Known(name, identity=(site,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Say which webhooks to make: an app's are made on its dashboard only."""
        return Subscribed(setup=events.by_hand(address, _BY_HAND, wix_facts.READERS))

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Leave the webhooks: an app's are removed on its dashboard only."""

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check the token that the body is, by the app's public key, and that it is of this site."""
        claims, payload = wix_proof.claims(account, request)
        try:
            told = wix_proof.unpacked(shapes.at(claims, "data"))
            event = wix_proof.unpacked(shapes.at(told, "data"))
        except ValueError:
            told = event = None
        instance = shapes.text(told, "instanceId")
        if instance is None:
            return ProvedRequest((GatewayDelivery(proofs.fingerprint(payload), "unreadable", payload),))
        if instance not in account.secrets("instanceId"):
            raise NotProved
        kind, event_id = shapes.text(told, "eventType") or "unreadable", shapes.text(event, "id")
        key = event_id or proofs.fingerprint(payload)
        if kind == wix_facts.REMOVED and instance != account.credentials.get("instanceId"):
            return ProvedRequest(())  # a former app left the site
        return ProvedRequest((GatewayDelivery(key, kind, dumped({"eventType": kind, "data": event}), event_id),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an event, or an order or a refund that was read from a list."""
        told = events.kept(delivery.raw)
        kind, event = shapes.needed(told, "eventType"), shapes.at(told, "data")
        read = wix_facts.READERS.get(kind)
        if read is None:
            return (IgnoredFact("unknown_type"),)
        if shapes.at(event, "triggeredByAnonymizeRequest") is True:
            return (IgnoredFact("anonymized"),)
        return (read(lambda order_id: _order(account, order_id), wix_facts.body(event)),)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return it as it is: the order says everything."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the orders that changed since then, for one that was placed earlier may be paid since; and refunds."""
        start = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        search: dict[str, object] = {
            "filter": {"updatedDate": {"$gte": start}},
            "sort": [{"fieldName": "updatedDate", "order": "ASC"}],
            "cursorPaging": {"limit": _PAGE},
        }
        while True:
            page = ask(account, "POST", "/ecom/v1/orders/search", {"search": search})
            if found := [item for order in shapes.items(page, "orders") for item in _listed(account, order)]:
                yield found
            following = shapes.text(page, "metadata", "cursors", "next")
            if following is None:
                return
            search = {"cursorPaging": {"cursor": following, "limit": _PAGE}}


GATEWAY = Wix()


def _wire(token: str) -> GatewayWire:
    return GatewayWire("wix", _API, {"Authorization": token} if token else {})


def ask(account: GatewayAccount, method: str, path: str, json: object = None) -> Any:
    return _TOKENS.using(
        _key(account), lambda: _asked(account), lambda token: _wire(token).ask(method, path, json=json).json
    )


def _asked(account: GatewayAccount) -> tuple[str, float]:
    body = {
        "grant_type": "client_credentials",
        "client_id": account.credentials.get("appId", ""),
        "client_secret": account.credentials.get("appSecret", ""),
        "instance_id": account.credentials.get("instanceId", ""),
    }
    try:
        said = _wire("").ask("POST", "/oauth2/token", json=body).json
    except GatewayRejected as error:
        raise CredentialsRefused(str(error)) from error
    token, lives_s = shapes.at(said, "access_token"), shapes.at(said, "expires_in")
    if not isinstance(token, str):
        raise GatewayUnreachable("the answer holds no token")
    return token, lives_s if type(lives_s) is int else _LIVES_S


def _key(account: GatewayAccount) -> tuple[str, ...]:
    return tuple(account.credentials.get(name, "") for name in ("appId", "appSecret", "instanceId"))


def _order(account: GatewayAccount, order_id: str) -> Any:
    """Return an order as it is now. Raises UnreadableEvent where there is none."""
    try:
        return shapes.at(ask(account, "GET", f"/ecom/v1/orders/{wix_facts.in_address(order_id)}"), "order")
    except GatewayRejected as error:
        if error.status != 404:
            raise
        raise UnreadableEvent(f"the order {order_id} is not there") from error


def _listed(account: GatewayAccount, order: Any) -> Iterator[GatewayDelivery]:
    order_id = wix_facts.own_id(order)
    yield _delivery(order_id, wix_facts.APPROVED, {"order": order})
    changed = shapes.later_change(
        lambda: wix_facts.bought_at(order),
        lambda: wix_facts.changed_at(None, order),
        anyhow=wix_facts.has_no_money(order),
    )
    if changed:  # it may be known with another total, or be cancelled by now
        yield _delivery(f"{order_id}:{changed}", wix_facts.UPDATED, {"order": order})
    if shapes.text(order, "paymentStatus") not in wix_facts.REFUNDED:
        return
    said = ask(account, "GET", f"/ecom/v1/payments/orders/{wix_facts.in_address(order_id)}")
    for refund in shapes.items(said, "orderTransactions", "refunds"):
        # One that was paid back in part is told again when more of it went.
        name = f"{wix_facts.own_id(refund)}:{proofs.fingerprint(dumped(refund))}"
        yield _delivery(name, wix_facts.REFUND, {"orderId": order_id, "refund": refund})


def _delivery(name: str, kind: str, told: dict[str, Any]) -> GatewayDelivery:
    event = {"eventType": kind, "data": {"actionEvent": {"body": told}}}
    return GatewayDelivery(f"reconcile:{name}", kind, dumped(event))
