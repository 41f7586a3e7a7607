"""Translates braintree's notifications, and the transactions that are found by searching.

A sale's id is its transaction's; a refund is a transaction of its own that names the one it refunds. A charge of a
subscription counts when it is reported, every other sale when it is settled.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.adapter import Reader
from adapters.gateways.wire import GatewayApi
from domain.gateways import amounts, referrals
from domain.gateways.facts import (
    BuyerOrigin,
    CancelledFact,
    Carrier,
    DisconnectedFact,
    DisputeFact,
    DisputeState,
    Facts,
    IgnoredFact,
    PaymentFact,
    RefundFact,
    RestoredFact,
    UnreadableEvent,
)

_FIELD, _ORDER = "braintree_custom_field", "braintree_reference_id"
_NO_MONEY = (
    "authorization_expired",
    "failed",
    "gateway_rejected",
    "processor_declined",
    "settlement_declined",
    "voided",
)


def _subscription_charge(api: GatewayApi, subject: Any, at: datetime) -> Facts:
    """Read the newest of a subscription's transactions: the notification is about that one."""
    transactions = shapes.items(subject, "subscription", "transactions")
    if not transactions:
        raise UnreadableEvent("subscription.transactions is missing")
    newest = max(transactions, key=lambda transaction: shapes.moment(transaction, "created_at"))
    return _sale(api, newest, shapes.identity(subject, "subscription", "id"), at)


def _settlement(api: GatewayApi, subject: Any, at: datetime) -> Facts:
    transaction = shapes.get(subject, "transaction")
    if shapes.text(transaction, "type") == "credit":
        return _refund(transaction)
    return _sale(api, transaction, None, at)


def _voided_charge(api: GatewayApi, subject: Any, at: datetime) -> Facts:
    """Reverse a subscription charge that failed after it had been counted; only these count before they settle."""
    transaction = shapes.get(subject, "transaction")
    transaction_id = shapes.require(transaction, "id")
    if shapes.text(transaction, "type") == "credit" or shapes.text(transaction, "subscription_id") is None:
        return IgnoredFact("not_paid")
    return CancelledFact(sale_ids=(transaction_id,), told_at=at)


def _refund_failed(api: GatewayApi, subject: Any, at: datetime) -> Facts:
    transaction = shapes.get(subject, "transaction")
    sale_ids = (shapes.require(transaction, "refunded_transaction_id"),)
    return RestoredFact(sale_ids=sale_ids, restored_at=at, refund_id=shapes.require(transaction, "id"))


def _dispute(state: DisputeState) -> Reader:
    def read(api: GatewayApi, subject: Any, at: datetime) -> Facts:
        dispute = shapes.get(subject, "dispute")
        dispute_id, sale_id = shapes.require(dispute, "id"), shapes.require(dispute, "transaction", "id")
        if shapes.text(dispute, "kind") == "retrieval":  # a question of the bank's
            return IgnoredFact("no_money_moved")
        currency, cents = None, None
        amount = shapes.get(dispute, "amount_disputed" if shapes.get(dispute, "amount_disputed") else "amount")
        if amount is not None and shapes.get(dispute, "currency_iso_code") is not None:
            currency = amounts.currency(shapes.get(dispute, "currency_iso_code"))
            cents = amounts.from_decimal(amount, currency)
        return DisputeFact(
            dispute_id=dispute_id, sale_ids=(sale_id,), state=state, at=at, amount_cents=cents, currency=currency
        )

    return read


def _revocation(api: GatewayApi, subject: Any, at: datetime) -> Facts:
    return DisconnectedFact("The merchant took the access back.")


def _ping(api: GatewayApi, subject: Any, at: datetime) -> Facts:
    return IgnoredFact("ping")


#: The events that have no notification and are found by searching.
FOUND = ("transaction_voided",)
READERS: Mapping[str, Reader] = {
    "subscription_charged_successfully": _subscription_charge,
    "transaction_settled": _settlement,
    "transaction_settlement_declined": _voided_charge,
    "transaction_voided": _voided_charge,
    "refund_failed": _refund_failed,
    "dispute_opened": _dispute(DisputeState.Opened),
    "dispute_lost": _dispute(DisputeState.Lost),
    "dispute_accepted": _dispute(DisputeState.Lost),
    "dispute_auto_accepted": _dispute(DisputeState.Lost),
    "dispute_won": _dispute(DisputeState.Won),
    "oauth_access_revoked": _revocation,
    "check": _ping,
}


def is_counted(transaction: Any, kind: str) -> bool:
    """Return whether a found transaction counts: a voided one only if it is a subscription's charge."""
    if kind == "transaction_voided":
        is_charge = shapes.text(transaction, "subscription_id") is not None
        return is_charge and shapes.text(transaction, "status") == "voided"
    return shapes.text(transaction, "status") == "settled"


def carriers(holder: Any) -> tuple[Carrier, ...]:
    """Return the custom fields and the order id of a transaction, or a customer, as carriers.

    An order id is mostly a shop's own number, and is believed only where it is a query or an address.
    """
    fields = shapes.table(holder, "custom_fields")
    order = shapes.text(holder, "order_id") or ""
    query = referrals.fields_from_query(order)
    return tuple(Carrier(method, table) for method, table in ((_FIELD, fields), (_ORDER, query)) if table)


def _sale(api: GatewayApi, transaction: Any, subscription_id: str | None, at: datetime) -> Facts:
    transaction_id = shapes.require(transaction, "id")
    if shapes.text(transaction, "currency_iso_code") is None:
        response = api.find(f"/transactions/{shapes.segment(transaction_id)}")
        transaction = shapes.get(response, "transaction")
    if shapes.text(transaction, "status") in _NO_MONEY:
        return IgnoredFact("not_paid")
    currency = amounts.currency(shapes.get(transaction, "currency_iso_code"))
    paid = amounts.from_decimal(shapes.get(transaction, "amount"), currency)
    customer = shapes.get(transaction, "customer")
    origin = BuyerOrigin(
        customer_id=shapes.identity(customer, "id"),
        email=shapes.text(customer, "email"),
        name=shapes.full_name(customer, "first_name", "last_name"),
        subscription_id=subscription_id or shapes.identity(transaction, "subscription_id"),
        carriers=carriers(transaction),
    )
    return PaymentFact(
        external_id=transaction_id,
        amount_cents=paid,
        currency=currency,
        paid_at=shapes.moment(transaction, "created_at"),
        origin=origin,
        net_cents=_net(transaction, paid, currency),
        order_id=_order_of(transaction, origin),
        told_at=at,
    )


def _order_of(transaction: Any, origin: BuyerOrigin) -> str | None:
    """Return the id of what a transaction pays in part: an authorization, or an order of the shop.

    The shop's own number counts for one buyer alone, for another shop of the merchant may use it as well; a charge of a
    subscription is a payment of its own, and a query in place of a number names an affiliate.
    """
    if authorized := shapes.identity(transaction, "authorized_transaction_id"):
        return authorized
    number, buyer = shapes.identity(transaction, "order_id"), origin.customer_id or origin.email
    if number is None or buyer is None or origin.subscription_id is not None or "=" in number:
        return None
    return f"order:{number}:{buyer}"


def _refund(transaction: Any) -> Facts:
    refund_id, sale_id = shapes.require(transaction, "id"), shapes.identity(transaction, "refunded_transaction_id")
    if sale_id is None or shapes.text(transaction, "status") in _NO_MONEY:  # money that belongs to no purchase
        return IgnoredFact("no_money_moved")
    currency = amounts.currency(shapes.get(transaction, "currency_iso_code"))
    return RefundFact(
        refund_id=refund_id,
        sale_ids=(sale_id,),
        amount_cents=amounts.from_decimal(shapes.get(transaction, "amount"), currency),
        currency=currency,
        refunded_at=shapes.moment(transaction, "created_at"),
    )


def _net(transaction: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax and shipping; None where one is unknown."""
    tax, shipping = (shapes.get(transaction, name) for name in ("tax_amount", "shipping_amount"))
    parts = [tax] if shipping is None else [tax, shipping]
    return amounts.subtract_parts(paid, *(amounts.parse_exact_decimal(part, currency) for part in parts))
