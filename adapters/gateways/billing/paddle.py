"""paddle (Billing): completed transactions are sales, approved adjustments are refunds and chargebacks.

A sale's id is its transaction's. Custom data is copied from a transaction to its subscription and later transactions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.gateways import paging, proofs, shapes
from adapters.gateways.adapter import OneWebhookAdapter, Reader, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    Known,
)
from adapters.gateways.wire import GatewayApi, Params, bearer
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    Facts,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    StartFact,
)

_LIVE, _SANDBOX = "https://api.paddle.com", "https://sandbox-api.paddle.com"
_PAGE = 200
_CARD_CHANGE = "subscription_payment_method_change"


def _origin(holder: Any) -> BuyerOrigin:
    return BuyerOrigin(
        customer_id=shapes.identity(holder, "customer_id"),
        subscription_id=shapes.identity(holder, "subscription_id"),
        carriers=_carriers(holder),
    )


def _carriers(holder: Any) -> tuple[Carrier, ...]:
    table = shapes.table(holder, "custom_data")
    return (Carrier("paddle_custom_data", table),) if table else ()


def _codes(api: GatewayApi, holder: Any) -> tuple[RedeemedCode, ...]:
    discount = shapes.identity(holder, "discount_id")
    if discount is None:
        return ()
    code = shapes.text(api.find(f"/discounts/{shapes.segment(discount)}"), "data", "code")
    return (RedeemedCode(code or "", "paddle_coupon_code", discount),)


def _read_caller(api: GatewayApi) -> Any:
    """Return the account of the key; without a good one the same address answers too, and names no account."""
    caller = shapes.get(api.get("/"), "data", "caller", "account")
    if caller is None:
        raise CredentialsRefused("the key is of no account")
    return caller


def _transaction(api: GatewayApi, transaction: Any, at: datetime) -> Facts:
    if shapes.text(transaction, "origin") == _CARD_CHANGE:
        return IgnoredFact("no_money_moved")
    totals = shapes.get(transaction, "details", "totals")
    currency = amounts.currency(shapes.get(transaction, "currency_code") or shapes.get(totals, "currency_code"))
    paid = amounts.from_minor(shapes.get(totals, "grand_total"), currency)
    tax = amounts.parse_exact_minor(shapes.get(totals, "grand_total_tax"), currency)
    return PaymentFact(
        external_id=shapes.require(transaction, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=at,
        origin=replace(_origin(transaction), codes=_codes(api, transaction)),
        aliases=(invoice,) if (invoice := shapes.identity(transaction, "invoice_id")) else (),
        net_cents=amounts.subtract_parts(paid, tax),
    )


def _subscription(api: GatewayApi, subscription: Any, at: datetime) -> Facts:
    subscription_id = shapes.require(subscription, "id")
    origin = replace(_origin(subscription), subscription_id=subscription_id)
    if shapes.text(subscription, "status") == "trialing":
        return StartFact(external_id=subscription_id, started_at=at, origin=origin)
    return ReferralFact(told_at=at, origin=origin)


def _updated_subscription(api: GatewayApi, subscription: Any, at: datetime) -> Facts:
    subscription_id, customer_id = shapes.require(subscription, "id"), shapes.identity(subscription, "customer_id")
    carriers = _carriers(subscription)
    origin = BuyerOrigin(customer_id=customer_id, subscription_id=subscription_id, carriers=carriers)
    return ReferralFact(told_at=at, origin=origin)


def _updated_customer(api: GatewayApi, customer: Any, at: datetime) -> Facts:
    origin = BuyerOrigin(customer_id=shapes.require(customer, "id"), carriers=_carriers(customer))
    return ReferralFact(told_at=at, origin=origin)


def _adjustment(api: GatewayApi, adjustment: Any, at: datetime) -> Facts:
    action, transaction = shapes.text(adjustment, "action"), shapes.require(adjustment, "transaction_id")
    if shapes.text(adjustment, "status") not in ("approved", "reversed"):
        return IgnoredFact("not_decided")
    state = {"chargeback": DisputeState.Lost, "chargeback_reverse": DisputeState.Won}.get(action or "")
    if state is None and action != "refund":
        return IgnoredFact("no_money_moved")
    currency = amounts.currency(shapes.get(adjustment, "currency_code"))
    cents, sale_ids = amounts.from_minor(shapes.get(adjustment, "totals", "total"), currency), (transaction,)
    if state is None:
        refund_id = shapes.require(adjustment, "id")
        return (
            RefundFact(refund_id=refund_id, sale_ids=sale_ids, amount_cents=cents, currency=currency, refunded_at=at),
        )
    return DisputeFact(
        dispute_id=transaction, sale_ids=sale_ids, state=state, at=at, amount_cents=cents, currency=currency
    )


def _read_revoked_key(api: GatewayApi, key: Any, at: datetime) -> Facts:
    _read_caller(api)  # refused where the key was ours
    return IgnoredFact("another_key")


_READERS: Mapping[str, Reader] = {
    "transaction.completed": _transaction,
    "subscription.created": _subscription,
    "subscription.updated": _updated_subscription,
    "customer.updated": _updated_customer,
    "adjustment.created": _adjustment,
    "adjustment.updated": _adjustment,
    "api_key.revoked": _read_revoked_key,
}
_UPDATES = ("subscription.updated", "customer.updated")


def _to_delivery(item: Any) -> GatewayDelivery:
    kind, entity_id = shapes.text(item, "event_type") or "", shapes.require(item, "data", "id")
    # An adjustment is reported when it is made, and again when it is decided; a change each time.
    again = f":{shapes.text(item, 'data', 'status')}" if kind.startswith("adjustment.") else ""
    if kind in _UPDATES:
        again = f":{shapes.text(item, 'event_id')}"
    return make_listed(f"{entity_id}{again}", kind, item, shapes.text(item, "event_id"))


class Paddle(OneWebhookAdapter):
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
    id_path = ("event_id",)
    type_path = ("event_type",)
    object_path = ("data",)
    time_path = ("occurred_at",)
    readers = _READERS
    proof = proofs.StampedHeader("Paddle-Signature", between=";", time="ts", digest="h1", joint=b":")
    webhooks_path = "/notification-settings"
    webhook_key = "destination"
    webhook_id = ("data", "id")
    webhook_secret = ("data", "endpoint_secret_key")
    by_hand = (
        "Open Developer tools, Notifications, and make a destination for the address below with the events below.",
        "Copy its secret key (pdl_ntfset_…) into this connection as webhookSecret.",
    )
    sent_events = _READERS
    customer_path = "/customers/{customer}"
    customer_in = ("data",)
    subscription_path = "/subscriptions/{subscription}"

    def api(self, account: GatewayAccount) -> GatewayApi:
        headers = {**bearer(account.credentials.get("apiKey", "")), "Paddle-Version": "1"}
        return GatewayApi("paddle", _LIVE if account.mode == "live" else _SANDBOX, headers)

    def check(self, account: GatewayAccount) -> Known:
        caller, key = _read_caller(self.api(account)), account.credentials.get("apiKey", "")
        caller_id = shapes.text(caller, "id")
        name = caller_id or shapes.text(caller, "name") or "paddle"
        is_live = {"pdl_live": True, "pdl_sdbx": False}.get(key[:8])
        return Known(name, is_live, (caller_id,) if caller_id else ())

    def make_webhook(self, account: GatewayAccount, address: str) -> Any:
        destination = {
            "description": "Finderfee",
            "destination": address,
            "type": "url",
            "subscribed_events": list(_READERS),
        }
        return self.api(account).request("POST", self.webhooks_path, json=destination).json

    def read_event(self, raw: bytes) -> Any:
        event = super().read_event(raw)
        shapes.require(event, "data", "id")
        return event

    def read_carriers(self, holder: Any) -> tuple[Carrier, ...]:
        return _carriers(holder)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the events since then; paddle has them for ninety days."""

        def find_next_query(page: Any) -> Params | None:
            pagination, items = shapes.get(page, "meta", "pagination"), shapes.items(page, "data")
            if shapes.text(pagination, "next") is None or shapes.get(pagination, "has_more") is not True:
                return None
            return {**first, "after": shapes.require(items[-1], "event_id")}

        api = self.api(account)
        first: Params = {
            "from": shapes.utc(since),
            "event_type": ",".join(_READERS),
            "order_by": "id[ASC]",
            "per_page": _PAGE,
        }
        for page in paging.follow(lambda query: api.get("/events", query), first, find_next_query):
            items = [item for item in shapes.items(page, "data") if shapes.text(item, "event_type") in _READERS]
            if items:
                yield [_to_delivery(item) for item in items]


GATEWAY = Paddle()
