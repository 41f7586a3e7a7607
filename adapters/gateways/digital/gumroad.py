"""gumroad: sales, renewals, refunds and disputes, each read again at its API before anything is booked.

Nothing that it sends is signed: a delivery counts for the sale that it names, and the API says what that sale is. Only
who referred it is taken from the delivery. All amounts are US cents, whatever the product's currency is.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from adapters.gateways import events, forms, proofs, shapes
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
from adapters.gateways.digital import gumroad_facts
from adapters.gateways.wire import GatewayWire, bearer, dumped, parsed
from domain.gateways.facts import BuyerOrigin, DisputeState, Fact, IgnoredFact, UnreadableEvent

_SUBSCRIPTIONS = "/resource_subscriptions"
# Their dates are days of the seller's; and refunds have no list of their own.
_OVERLAP, _REFUNDED_WITHIN = timedelta(days=2), timedelta(days=14)


class Gumroad:
    """The adapter; it has no state."""

    name = "gumroad"
    label = "Gumroad"
    kind = "digital_goods"
    fields = (
        CredentialField(
            "accessToken", "Access token", "Settings, Advanced, your application; rights view_sales and edit_products"
        ),
    )
    capabilities = Capabilities(
        coupons=True,
        disputes=(DisputeState.Lost, DisputeState.Won),
        lacks=(
            "A partial refund of a product that is not priced in US dollars waits for a person.",
            "A payment whose webhook was lost is credited by custom field, code, history or email alone.",
            "A refund whose webhook was lost, and every refund of a gift, is found for sales of the last 14 days.",
        ),
    )
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Ask whose token it is."""
        seller = _seller(api(account))
        return Known(seller, identity=(seller,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Subscribe to each resource, and learn the seller's id, which every delivery repeats."""
        wire = api(account)
        seller = _seller(wire)
        made: list[str] = []
        try:
            for name in gumroad_facts.RESOURCES:
                said = wire.ask("PUT", _SUBSCRIPTIONS, form={"resource_name": name, "post_url": address}).json
                if shapes.at(said, "success") is not True:
                    raise GatewayRejected(422, shapes.text(said, "message") or "it does not say why")
                made.append(shapes.needed(said, "resource_subscription", "id"))
        except (CredentialsRefused, GatewayRejected, GatewayUnreachable, UnreadableEvent):
            _drop(wire, made)
            raise
        return Subscribed({"sellerId": seller, "subscriptions": " ".join(made)})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Take the subscriptions back."""
        _drop(api(account), account.made.get("subscriptions", "").split())

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Take what comes to the address, which only they know: it is believed in nothing but what the API confirms."""
        if request.method != "POST" or not account.secrets("sellerId"):
            raise NotProved
        return ProvedRequest((_delivery(request),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Read the sale that a delivery names, and translate that."""
        ping = _ping(delivery.raw)
        if (kind := shapes.text(ping, "resource_name") or "sale") not in gumroad_facts.RESOURCES:
            return (IgnoredFact("unknown_type"),)
        sale_id = shapes.needed(ping, "sale_id")
        if shapes.needed(ping, "seller_id") not in account.secrets("sellerId"):
            return (IgnoredFact("wrong_seller"),)
        if gumroad_facts.flag(ping, "test") == "true":  # also a rehearsal with the last real sale
            return (IgnoredFact("test_event"),)
        wire = api(account)
        sale = gumroad_facts.sale(wire, sale_id)
        if sale is None or shapes.text(sale, "seller_id") not in account.secrets("sellerId"):
            return (IgnoredFact("unknown_sale"),)
        return gumroad_facts.read(wire, kind, sale, ping)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return the origin: the sale said all."""
        return origin

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the sales, the newest first: those since then, and what went back of older ones."""
        wire, seller = api(account), account.secrets("sellerId")
        params: dict[str, str | int] = {"after": (since - _REFUNDED_WITHIN).strftime("%Y-%m-%d")}
        while True:
            page = wire.get("/sales", params)
            if shapes.at(page, "success") is not True:
                raise GatewayUnreachable("it does not list the sales")
            sales = [sale for sale in shapes.items(page, "sales") if shapes.text(sale, "seller_id") in seller]
            found = [delivery for sale in sales for delivery in _listed(sale, since - _OVERLAP)]
            if found:
                yield found
            following = shapes.text(page, "next_page_key")
            if following is None or following == params.get("page_key"):
                return
            params["page_key"] = following


GATEWAY = Gumroad()


def api(account: GatewayAccount) -> GatewayWire:
    return GatewayWire("gumroad", "https://api.gumroad.com/v2", bearer(account.credentials.get("accessToken", "")))


def _seller(wire: GatewayWire) -> str:
    """Return the id of the seller, as deliveries spell it."""
    said = wire.get("/user")
    if shapes.at(said, "success") is not True:
        raise CredentialsRefused(shapes.text(said, "message") or "the token is of nobody")
    return shapes.identity(said, "user", "user_id") or shapes.needed(said, "user", "id")


def _drop(wire: GatewayWire, subscriptions: Sequence[str]) -> None:
    for subscription in subscriptions:
        wire.drop(f"{_SUBSCRIPTIONS}/{shapes.segment(subscription)}")


def _ping(raw: bytes) -> Any:
    """Return what was sent, a form; or JSON, as lists and some subscriptions have it."""
    ping = events.kept(raw, parsed if raw.lstrip().startswith(b"{") else forms.nested)
    if shapes.text(ping, "resource_name") is None:  # the account's own address is told of sales alone
        shapes.needed(ping, "sale_id")
    return ping


def _delivery(request: Inbound) -> GatewayDelivery:
    try:
        ping = _ping(request.body)
        kind, sale_id = shapes.text(ping, "resource_name") or "sale", shapes.text(ping, "sale_id")
    except UnreadableEvent:
        return GatewayDelivery(proofs.fingerprint(request.body), "unreadable", request.body)
    if sale_id is None:
        return GatewayDelivery(proofs.fingerprint(request.body), kind, request.body)
    parts = [kind, sale_id]
    if gumroad_facts.flag(ping, "test") == "true":  # never in the way of the sale itself
        parts.append("test")
    if (
        kind == "refund"
    ):  # each act is told by the same words; the sale is read again, and what is known changes nothing
        parts.append(request.received_at.isoformat())
    return GatewayDelivery(":".join(parts), kind, request.body, sale_id)


def _listed(sale: Any, since: datetime) -> Iterator[GatewayDelivery]:
    """Yield a sale since then, what went back of it and whether it is disputed, each figure once."""
    sale_id = shapes.needed(sale, "id")
    if shapes.moment(sale, "created_at") >= since:
        yield _told("sale", sale_id, sale)
    if shapes.at(sale, "refunded") is True:
        yield _told("refund", f"{sale_id}:refunded", sale)
    elif shapes.at(sale, "partially_refunded") is True:
        left = shapes.text(sale, "amount_refundable_in_currency")
        yield _told("refund", f"{sale_id}:left:{left}", sale)
    if shapes.at(sale, "disputed") is True:
        is_won = shapes.at(sale, "dispute_won") is True
        yield _told("dispute_won" if is_won else "dispute", f"{sale_id}:{'won' if is_won else 'disputed'}", sale)


def _told(kind: str, external: str, sale: Any) -> GatewayDelivery:
    ping = {"resource_name": kind, "from_list": True}
    ping |= {"sale_id": shapes.at(sale, "id"), "seller_id": shapes.at(sale, "seller_id")}
    return GatewayDelivery(f"reconcile:{external}", kind, dumped(ping), shapes.text(sale, "id"))
