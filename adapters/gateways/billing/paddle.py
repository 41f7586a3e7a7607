"""paddle (Billing): completed transactions are sales, approved adjustments are refunds and chargebacks.

A sale's id is its transaction's. Custom data is copied from a transaction to its subscription and later transactions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from adapters.gateways import events, proofs, shapes
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    Inbound,
    Known,
    ProvedRequest,
    Subscribed,
)
from adapters.gateways.wire import GatewayWire, bearer, dumped
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    Fact,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
)

_EVENTS = (
    "transaction.completed",
    "subscription.created",
    "subscription.updated",
    "customer.updated",
    "adjustment.created",
    "adjustment.updated",
    "api_key.revoked",
)
_UPDATES = ("subscription.updated", "customer.updated")
_LIVE, _SANDBOX = "https://api.paddle.com", "https://sandbox-api.paddle.com"
_STAMP = proofs.Stamp(between=";", time="ts", digest="h1", joint=b":")
_PAGE = 200
_CARD_CHANGE = "subscription_payment_method_change"
_BY_HAND = (
    "Open Developer tools, Notifications, and make a destination for the address below with the events below.",
    "Copy its secret key (pdl_ntfset_…) into this connection as webhookSecret.",
)


class Paddle:
    """The adapter; it has no state."""

    name = "paddle"
    label = "Paddle Billing"
    kind = "merchant_of_record"
    fields = (
        CredentialField("apiKey", "API key", "Developer tools, Authentication: pdl_live_apikey_… or pdl_sdbx_apikey_…"),
        CredentialField(
            "webhookSecret", "Secret key", "Only for a destination that you made: pdl_ntfset_…", required=False
        ),
    )
    capabilities = Capabilities(coupons=True, trials=True, disputes=(DisputeState.Lost, DisputeState.Won))
    polls: timedelta | None = None

    def check(self, account: GatewayAccount) -> Known:
        """Ask whose key it is; without a good one the same address answers too, and names nobody."""
        caller = shapes.at(api(account).get("/"), "data", "caller", "account")
        if caller is None:
            raise CredentialsRefused("the key is of no account")
        caller_id, key = shapes.text(caller, "id"), account.credentials.get("apiKey", "")
        is_live = {"pdl_live": True, "pdl_sdbx": False}.get(key[:8])
        name = caller_id or shapes.text(caller, "name") or "paddle"
        return Known(name, is_live, (caller_id,) if caller_id else ())

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Make the notification destination, unless the brand gave the secret of one."""
        if account.credentials.get("webhookSecret"):
            return Subscribed(setup=events.by_hand(address, _BY_HAND, _EVENTS))
        wanted = {
            "description": "Finderfee",
            "destination": address,
            "type": "url",
            "subscribed_events": list(_EVENTS),
        }
        try:
            made = api(account).ask("POST", "/notification-settings", json=wanted).json
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(setup=events.by_hand(address, _BY_HAND, _EVENTS))
        secret = shapes.needed(made, "data", "endpoint_secret_key")
        return Subscribed({"destination": shapes.needed(made, "data", "id"), "webhookSecret": secret})

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the destination that we made."""
        if destination := account.made.get("destination"):
            api(account).drop(f"/notification-settings/{destination}")

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Check `Paddle-Signature`: `ts=` and any number of `h1=`, five minutes either way."""
        header, received_s = request.headers.get("Paddle-Signature", ""), request.received_at.timestamp()
        proofs.require_stamped(header, _STAMP, request.body, received_s, secrets=account.secrets("webhookSecret"))
        return ProvedRequest((_delivery(request.body),))

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate an event, as it was sent or as the list of events has it."""
        event = _event(delivery.raw)
        kind, told = shapes.text(event, "event_type"), shapes.at(event, "data")
        at = shapes.moment(event, "occurred_at")
        match kind:
            case "transaction.completed":
                return (_transaction(api(account), told, at),)
            case "subscription.created":
                return (_subscription(told, at),)
            case "subscription.updated" | "customer.updated":
                return (ReferralFact(told_at=at, origin=_origin_of_update(kind, told)),)
            case "adjustment.created" | "adjustment.updated":
                return (_adjustment(told, at),)
            case "api_key.revoked":
                self.check(account)  # refused where the key was ours
                return (IgnoredFact("another_key"),)
            case _:
                return (IgnoredFact("unknown_type"),)

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the customer: their email, name and custom data."""
        if origin.customer_id is None:
            return origin
        customer = shapes.at(api(account).find(f"/customers/{shapes.segment(origin.customer_id)}"), "data")
        email, name = shapes.text(customer, "email"), shapes.text(customer, "name")
        return origin.with_more(email=email, name=name, carriers=_carriers(customer))

    def read_subscription(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Read the subscription's custom data."""
        if origin.subscription_id is None:
            return origin
        response = api(account).find(f"/subscriptions/{shapes.segment(origin.subscription_id)}")
        return origin.with_more(email=None, name=None, carriers=_carriers(shapes.at(response, "data")))

    def listed(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the events since then; they are kept for ninety days."""
        wire = api(account)
        path = "/events"
        params: dict[str, str | int] = {
            "from": shapes.utc(since),
            "event_type": ",".join(_EVENTS),
            "order_by": "id[ASC]",
            "per_page": _PAGE,
        }
        while True:
            page = wire.get(path, params)
            found = [item for item in shapes.items(page, "data") if shapes.text(item, "event_type") in _EVENTS]
            if found:
                yield [_listed(item) for item in found]
            following = shapes.text(page, "meta", "pagination", "next")
            if following is None or shapes.at(page, "meta", "pagination", "has_more") is not True:
                return
            params = {**params, "after": shapes.needed(shapes.items(page, "data")[-1], "event_id")}


GATEWAY = Paddle()


def api(account: GatewayAccount) -> GatewayWire:
    headers = {**bearer(account.credentials.get("apiKey", "")), "Paddle-Version": "1"}
    return GatewayWire("paddle", _LIVE if account.mode == "live" else _SANDBOX, headers)


def _event(raw: bytes) -> Any:
    event = events.kept(raw)
    shapes.needed(event, "data", "id")
    return event


def _delivery(body: bytes) -> GatewayDelivery:
    event = events.glance(body)
    return events.delivery(body, shapes.text(event, "event_id"), shapes.text(event, "event_type"))


def _listed(item: Any) -> GatewayDelivery:
    kind, told = shapes.text(item, "event_type") or "", shapes.needed(item, "data", "id")
    # An adjustment is reported when it is made, and again when it is decided; a change each time.
    again = f":{shapes.text(item, 'data', 'status')}" if kind.startswith("adjustment.") else ""
    if kind in _UPDATES:
        again = f":{shapes.text(item, 'event_id')}"
    return GatewayDelivery(f"reconcile:{told}{again}", kind, dumped(item), shapes.text(item, "event_id"))


def _transaction(wire: GatewayWire, told: Any, at: datetime) -> Fact:
    if shapes.text(told, "origin") == _CARD_CHANGE:
        return IgnoredFact("no_money_moved")
    totals = shapes.at(told, "details", "totals")
    currency = amounts.currency(shapes.at(told, "currency_code") or shapes.at(totals, "currency_code"))
    paid = amounts.of_minor(shapes.at(totals, "grand_total"), currency)
    tax = amounts.parse_exact_minor(shapes.at(totals, "grand_total_tax"), currency)
    return PaymentFact(
        external_id=shapes.needed(told, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=at,
        origin=replace(_origin(told), codes=_codes(wire, told)),
        aliases=(invoice,) if (invoice := shapes.identity(told, "invoice_id")) else (),
        net_cents=amounts.subtract_parts(paid, tax),
    )


def _subscription(told: Any, at: datetime) -> Fact:
    origin = replace(_origin(told), subscription_id=shapes.needed(told, "id"))
    if shapes.text(told, "status") == "trialing":
        return StartFact(external_id=shapes.needed(told, "id"), started_at=at, origin=origin)
    return ReferralFact(told_at=at, origin=origin)


def _origin_of_update(kind: str, told: Any) -> BuyerOrigin:
    holder_id, carriers = shapes.needed(told, "id"), _carriers(told)
    if kind == "customer.updated":
        return BuyerOrigin(customer_id=holder_id, carriers=carriers)
    customer_id = shapes.identity(told, "customer_id")
    return BuyerOrigin(customer_id=customer_id, subscription_id=holder_id, carriers=carriers)


def _adjustment(told: Any, at: datetime) -> Fact:
    action, transaction = shapes.text(told, "action"), shapes.needed(told, "transaction_id")
    if shapes.text(told, "status") not in ("approved", "reversed"):
        return IgnoredFact("not_decided")
    state = {"chargeback": DisputeState.Lost, "chargeback_reverse": DisputeState.Won}.get(action or "")
    if state is None and action != "refund":
        return IgnoredFact("no_money_moved")
    currency = amounts.currency(shapes.at(told, "currency_code"))
    cents = amounts.of_minor(shapes.at(told, "totals", "total"), currency)
    if state is None:
        return RefundFact(
            refund_id=shapes.needed(told, "id"),
            sale_ids=(transaction,),
            amount_cents=cents,
            currency=currency,
            refunded_at=at,
        )
    return DisputeFact(
        dispute_id=transaction, sale_ids=(transaction,), state=state, at=at, amount_cents=cents, currency=currency
    )


def _origin(told: Any) -> BuyerOrigin:
    return BuyerOrigin(
        customer_id=shapes.identity(told, "customer_id"),
        subscription_id=shapes.identity(told, "subscription_id"),
        carriers=_carriers(told),
    )


def _carriers(told: Any) -> tuple[Carrier, ...]:
    table = shapes.table(told, "custom_data")
    return (Carrier("paddle_custom_data", table),) if table else ()


def _codes(wire: GatewayWire, told: Any) -> tuple[RedeemedCode, ...]:
    discount = shapes.identity(told, "discount_id")
    if discount is None:
        return ()
    code = shapes.text(wire.find(f"/discounts/{shapes.segment(discount)}"), "data", "code")
    return (RedeemedCode(code or "", "paddle_coupon_code", discount),)
