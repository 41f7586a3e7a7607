"""wix: orders of a site's shop, refunds and chargebacks of their payments, sent to an app of the site's own.

A sale's id is its order's; every cycle of a subscription is another order. A request only stores its event,
because wix waits little more than a second for the response.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.gateways import paging, proofs, shapes, tokens
from adapters.gateways.adapter import GatewayAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    Inbound,
    Known,
    NotProved,
    ProvedRequest,
)
from adapters.gateways.storefront import wix_facts, wix_proof
from adapters.gateways.wire import GatewayApi, serialize
from domain.gateways.facts import DisputeState, Facts, IgnoredFact, UnreadableEvent

_PAGE = 100
_LIVES_S = 4 * 3600
_TOKENS = tokens.AccessTokens()


class Wix(GatewayAdapter):
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
        reports_removal=True,
        webhooks_belong_to="appId",
        lacks=(
            "A visit's first page is not reported: a custom field, a coupon or history identifies the affiliate.",
            "A chargeback is reported once its money is taken back, and reconciliation does not find it.",
        ),
    )
    by_hand = (
        "Open your app's dashboard, Webhooks, and create a webhook for each of the events below, with the address"
        " below.",
        "Give the app the permission Read Orders, and install its new version on the site.",
    )
    sent_events = wix_facts.READERS

    def check(self, account: GatewayAccount) -> Known:
        """Read the key, request a token, and read whose it is."""
        try:
            wix_proof.key(account.credentials.get("publicKey", ""))
        except ValueError as error:
            raise CredentialsRefused(str(error)) from error
        token = _TOKENS.request_token(_key(account), lambda: _request_token(account))
        answer = _api(token).get("/apps/v1/instance")
        if shapes.text(answer, "instance", "instanceId") != account.credentials.get("instanceId"):
            raise CredentialsRefused("the app's instance is another")
        site = shapes.require(answer, "site", "siteId")
        name = shapes.text(answer, "site", "siteDisplayName") or site
        return Known(name, identity=(site,))

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check the token that the body is, by the app's public key, and that it is of this site."""
        claims, payload = wix_proof.claims(account, request)
        try:
            envelope = wix_proof.parse_text(shapes.get(claims, "data"))
            event = wix_proof.parse_text(shapes.get(envelope, "data"))
        except ValueError:
            envelope = event = None
        instance = shapes.text(envelope, "instanceId")
        if instance is None:
            return ProvedRequest((GatewayDelivery(proofs.fingerprint(payload), "unreadable", payload),))
        if instance not in account.secrets("instanceId"):
            raise NotProved
        kind, event_id = shapes.text(envelope, "eventType") or "unreadable", shapes.text(event, "id")
        key = event_id or proofs.fingerprint(payload)
        if kind == wix_facts.REMOVED and instance != account.credentials.get("instanceId"):
            return ProvedRequest(())  # a former app left the site
        return ProvedRequest((GatewayDelivery(key, kind, serialize({"eventType": kind, "data": event}), event_id),))

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        event_type, data = shapes.require(event, "eventType"), shapes.get(event, "data")
        read = wix_facts.READERS.get(event_type)
        if read is None:
            return IgnoredFact("unknown_type")
        if shapes.get(data, "triggeredByAnonymizeRequest") is True:
            return IgnoredFact("anonymized")
        return read(lambda order_id: _order(account, order_id), wix_facts.body(data))

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the orders that changed since then, for one that was placed earlier may be paid since; and refunds."""

        def fetch(search: Mapping[str, object]) -> Any:
            return request(account, "POST", "/ecom/v1/orders/search", {"search": search})

        def find_next_query(page: Any) -> Mapping[str, object] | None:
            cursor = shapes.text(page, "metadata", "cursors", "next")
            return None if cursor is None else {"cursorPaging": {"cursor": cursor, "limit": _PAGE}}

        start = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        first: Mapping[str, object] = {
            "filter": {"updatedDate": {"$gte": start}},
            "sort": [{"fieldName": "updatedDate", "order": "ASC"}],
            "cursorPaging": {"limit": _PAGE},
        }
        for page in paging.follow(fetch, first, find_next_query):
            orders = shapes.items(page, "orders")
            if deliveries := [delivery for order in orders for delivery in _to_deliveries(account, order)]:
                yield deliveries


GATEWAY = Wix()


def _api(token: str) -> GatewayApi:
    return GatewayApi("wix", "https://www.wixapis.com", {"Authorization": token} if token else {})


def request(account: GatewayAccount, method: str, path: str, json: object = None) -> Any:
    """Return the JSON of an answer to a call with a token of the account. Raises as `GatewayApi.request`."""

    def act(token: str) -> Any:
        return _api(token).request(method, path, json=json).json

    return _TOKENS.using(_key(account), lambda: _request_token(account), act)


def _request_token(account: GatewayAccount) -> tuple[str, float]:
    body = {
        "grant_type": "client_credentials",
        "client_id": account.credentials.get("appId", ""),
        "client_secret": account.credentials.get("appSecret", ""),
        "instance_id": account.credentials.get("instanceId", ""),
    }
    try:
        return tokens.read(_api("").request("POST", "/oauth2/token", json=body).json, _LIVES_S)
    except GatewayRejected as error:
        raise CredentialsRefused(str(error)) from error


def _key(account: GatewayAccount) -> tuple[str, ...]:
    return tuple(account.credentials.get(name, "") for name in ("appId", "appSecret", "instanceId"))


def _order(account: GatewayAccount, order_id: str) -> Any:
    """Return the present state of an order. Raises UnreadableEvent for one that does not exist."""
    try:
        return shapes.get(request(account, "GET", f"/ecom/v1/orders/{wix_facts.in_address(order_id)}"), "order")
    except GatewayRejected as error:
        if error.status != 404:
            raise
        raise UnreadableEvent(f"the order {order_id} is not there") from error


def _to_deliveries(account: GatewayAccount, order: Any) -> Iterator[GatewayDelivery]:
    order_id = wix_facts.own_id(order)
    yield _listed_event(order_id, wix_facts.APPROVED, {"order": order})
    changed = shapes.later_change(
        lambda: wix_facts.bought_at(order),
        lambda: wix_facts.changed_at(None, order),
        anyhow=wix_facts.has_no_money(order),
    )
    if changed:  # its stored total may be another one, or it may be cancelled
        yield _listed_event(f"{order_id}:{changed}", wix_facts.UPDATED, {"order": order})
    if shapes.text(order, "paymentStatus") not in wix_facts.REFUNDED:
        return
    payments = request(account, "GET", f"/ecom/v1/payments/orders/{wix_facts.in_address(order_id)}")
    for refund in shapes.items(payments, "orderTransactions", "refunds"):
        # The name contains a fingerprint, because a refund that is paid in parts is listed again after each part.
        name = f"{wix_facts.own_id(refund)}:{proofs.fingerprint(serialize(refund))}"
        yield _listed_event(name, wix_facts.REFUND, {"orderId": order_id, "refund": refund})


def _listed_event(name: str, kind: str, body: dict[str, Any]) -> GatewayDelivery:
    return make_listed(name, kind, {"eventType": kind, "data": {"actionEvent": {"body": body}}})
