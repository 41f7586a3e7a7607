"""Translates paypal's events and the lines of its report.

A payment's id is its capture's, or paypal's sale's for a subscription; the report has the same id. A payment whose
money was taken is a lost dispute with the payment's id, whether a reversal or a decided dispute reports it.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from adapters.gateways import shapes
from adapters.gateways.adapter import Reader
from adapters.gateways.wire import GatewayApi, parse_json
from domain.gateways import amounts, referrals
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    Facts,
    IgnoredFact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    StartFact,
    UnreadableEvent,
)

_METHOD = "paypal_custom_field"
_PAID = ("COMPLETED", "PARTIALLY_REFUNDED", "REFUNDED")
# How a dispute ended; one with another outcome is not decided.
_OUTCOMES = {
    "RESOLVED_BUYER_FAVOUR": DisputeState.Lost,
    "RESOLVED_SELLER_FAVOUR": DisputeState.Won,
    "RESOLVED_WITH_PAYOUT": DisputeState.Won,
    "CANCELED_BY_BUYER": DisputeState.Won,
}
# The codes of the report: payments that go through an app, refunds by the seller, money that paypal or a bank took.
_PAYMENTS = ("T0002", "T0003", "T0005", "T0006")
_REFUND = "T1107"
_TAKEN = ("T1106", "T1201")
# Carried out; V is a payment that was carried out and reversed later.
_DONE = ("S", "V")


def _capture(api: GatewayApi, capture: Any, created: datetime) -> Facts:
    if (shapes.text(capture, "status") or _PAID[0]) not in _PAID:
        return IgnoredFact("not_paid")
    currency, paid = _money(capture, "amount")
    order_id = shapes.identity(capture, "supplementary_data", "related_ids", "order_id")
    order = api.find(f"/v2/checkout/orders/{shapes.segment(order_id)}") if order_id else None
    units = shapes.items(order, "purchase_units")
    payer = shapes.get(order, "payer")
    return PaymentFact(
        external_id=shapes.require(capture, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=_made_at(capture, created),
        origin=BuyerOrigin(
            customer_id=shapes.identity(payer, "payer_id"),
            email=shapes.text(payer, "email_address"),
            name=shapes.full_name(shapes.get(payer, "name"), "given_name", "surname"),
            carriers=_carriers(capture.get("custom_id"), *(unit.get("custom_id") for unit in units)),
        ),
        net_cents=_net(units, paid, currency),
        order_id=order_id,
    )


def _sale(api: GatewayApi, sale: Any, created: datetime) -> Facts:
    if (shapes.text(sale, "state") or "completed") not in ("completed", "partially_refunded", "refunded"):
        return IgnoredFact("not_paid")
    currency, paid = _money(sale, "amount")
    own = _carriers(sale.get("custom"), sale.get("custom_id"))
    origin = _subscriber(api, shapes.identity(sale, "billing_agreement_id"))
    return PaymentFact(
        external_id=shapes.require(sale, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=_made_at(sale, created),
        # The subscription's own fields go first.
        origin=replace(origin, carriers=(*origin.carriers, *own)),
        order_id=None if origin.subscription_id else shapes.identity(sale, "parent_payment"),
    )


def _refund(api: GatewayApi, refund: Any, created: datetime) -> Facts:
    status = shapes.text(refund, "status") or shapes.text(refund, "state") or "completed"
    if status.lower() != "completed":
        return IgnoredFact("not_decided")
    currency, gone = _money(refund, "amount", goes_out=True)
    return RefundFact(
        refund_id=shapes.require(refund, "id"),
        sale_ids=(_payment_of(refund),),
        amount_cents=gone,
        currency=currency,
        refunded_at=_made_at(refund, created),
        reason=shapes.text(refund, "note_to_payer"),
    )


def _read_reversal(api: GatewayApi, taken: Any, created: datetime) -> Facts:
    fact = _lost_payment(_payment_of(taken, or_itself=True), created)
    if shapes.get(taken, "amount") is None:
        return fact
    currency, cents = _money(taken, "amount", goes_out=True)
    return replace(fact, amount_cents=cents, currency=currency)


def _read_resolved_dispute(api: GatewayApi, dispute: Any, created: datetime) -> Facts:
    state = _OUTCOMES.get(shapes.text(dispute, "dispute_outcome", "outcome_code") or "")
    if state is None:
        return IgnoredFact("not_decided")
    ids = [shapes.require(item, "seller_transaction_id") for item in shapes.items(dispute, "disputed_transactions")]
    if not ids:
        raise UnreadableEvent("disputed_transactions is missing")
    facts = tuple(_lost_payment(payment_id, created, state) for payment_id in ids)
    # Of several payments, the share of each is unknown. The amount of one includes what was refunded earlier.
    if len(facts) > 1 or shapes.get(dispute, "dispute_outcome", "amount_refunded") is None:
        return facts
    currency, cents = _money(shapes.get(dispute, "dispute_outcome"), "amount_refunded", goes_out=True)
    return replace(facts[0], amount_cents=cents, currency=currency, covers_refunds=True)


def _read_activated_subscription(api: GatewayApi, subscription: Any, created: datetime) -> Facts:
    subscription_id = shapes.require(subscription, "id")
    origin = _of_subscription(subscription, subscription_id)
    cycles = shapes.items(subscription, "billing_info", "cycle_executions")
    has_paid = shapes.get(subscription, "billing_info", "last_payment") is not None
    if not has_paid and any(shapes.text(cycle, "tenure_type") == "TRIAL" for cycle in cycles):
        return StartFact(external_id=subscription_id, started_at=created, origin=origin)
    return ReferralFact(told_at=created, origin=origin)


def _read_updated_subscription(api: GatewayApi, subscription: Any, created: datetime) -> Facts:
    """Read a subscription that changed: the brand may write its custom id later."""
    subscription_id = shapes.require(subscription, "id")
    return ReferralFact(told_at=created, origin=_of_subscription(subscription, subscription_id))


READERS: Mapping[str, Reader] = {
    "PAYMENT.CAPTURE.COMPLETED": _capture,
    "PAYMENT.SALE.COMPLETED": _sale,
    "BILLING.SUBSCRIPTION.ACTIVATED": _read_activated_subscription,
    "BILLING.SUBSCRIPTION.UPDATED": _read_updated_subscription,
    "PAYMENT.CAPTURE.REFUNDED": _refund,
    "PAYMENT.SALE.REFUNDED": _refund,
    "PAYMENT.CAPTURE.REVERSED": _read_reversal,
    "PAYMENT.SALE.REVERSED": _read_reversal,
    "CUSTOMER.DISPUTE.RESOLVED": _read_resolved_dispute,
}


def is_money(item: Any) -> bool:
    """Return whether a line of the report is money that moved: a payment, a refund, or a reversal."""
    line = shapes.get(item, "transaction_info")
    code = shapes.text(line, "transaction_event_code")
    is_in = not (shapes.text(line, "transaction_amount", "value") or "-").startswith("-")
    if shapes.text(line, "transaction_status") not in _DONE:
        return False
    return is_in if code in _PAYMENTS else code in (_REFUND, *_TAKEN) and not is_in


def of_report(api: GatewayApi, line: Any, payer: Any) -> Facts:
    """Translate a line of the report."""
    code, at = shapes.text(line, "transaction_event_code"), shapes.moment(line, "transaction_initiation_date")
    transaction_id, about = shapes.require(line, "transaction_id"), shapes.identity(line, "paypal_reference_id")
    currency, cents = _money(line, "transaction_amount", goes_out=code not in _PAYMENTS)
    if code not in _PAYMENTS:
        if about is None:
            raise UnreadableEvent("paypal_reference_id is missing")
        if code in _TAKEN:
            return replace(_lost_payment(about, at), amount_cents=cents, currency=currency)
        return RefundFact(
            refund_id=transaction_id, sale_ids=(about,), amount_cents=cents, currency=currency, refunded_at=at
        )
    own = BuyerOrigin(
        customer_id=shapes.identity(payer, "account_id"),
        email=shapes.text(payer, "email_address"),
        name=shapes.text(payer, "payer_name", "alternate_full_name"),
        carriers=_carriers(line.get("custom_field")),
    )
    origin = own
    if code == "T0002" and shapes.text(line, "paypal_reference_id_type") == "SUB":
        subscriber = _subscriber(api, about)
        origin = replace(
            subscriber,
            customer_id=subscriber.customer_id or own.customer_id,
            email=subscriber.email or own.email,
            name=subscriber.name or own.name,
            carriers=(*subscriber.carriers, *own.carriers),
        )
    return PaymentFact(
        external_id=transaction_id,
        amount_cents=cents,
        currency=currency,
        paid_at=at,
        origin=origin,
        order_id=None if origin.subscription_id else _order_of(api, line),
    )


def _order_of(api: GatewayApi, line: Any) -> str | None:
    """Return the order that a line of the report pays in part; most lines do not have it, so the capture is read."""
    if shapes.text(line, "paypal_reference_id_type") == "ODR":
        return shapes.identity(line, "paypal_reference_id")
    capture = api.find(f"/v2/payments/captures/{shapes.segment(shapes.require(line, 'transaction_id'))}")
    return shapes.identity(capture, "supplementary_data", "related_ids", "order_id")


def _lost_payment(payment_id: str, at: datetime, state: DisputeState = DisputeState.Lost) -> DisputeFact:
    return DisputeFact(dispute_id=payment_id, sale_ids=(payment_id,), state=state, at=at)


def _subscriber(api: GatewayApi, subscription_id: str | None) -> BuyerOrigin:
    """Read a subscription: its custom id and its payer."""
    if subscription_id is None:
        return BuyerOrigin()
    return _of_subscription(api.find(f"/v1/billing/subscriptions/{shapes.segment(subscription_id)}"), subscription_id)


def _of_subscription(subscription: Any, subscription_id: str) -> BuyerOrigin:
    subscriber = shapes.get(subscription, "subscriber")
    return BuyerOrigin(
        customer_id=shapes.identity(subscriber, "payer_id"),
        email=shapes.text(subscriber, "email_address"),
        name=shapes.full_name(shapes.get(subscriber, "name"), "given_name", "surname"),
        subscription_id=subscription_id,
        carriers=_carriers(shapes.get(subscription, "custom_id")),
    )


def _payment_of(refund: Any, *, or_itself: bool = False) -> str:
    """Return the payment of a refund: its `sale_id`, or the capture that its link `up` leads to."""
    if (sale_id := shapes.identity(refund, "sale_id")) is not None:
        return sale_id
    for link in shapes.items(refund, "links"):
        *_, kind, payment_id = ("", "", *urlsplit(shapes.text(link, "href") or "").path.split("/"))
        if shapes.text(link, "rel") == "up" and kind in ("captures", "capture", "sale") and payment_id:
            return shapes.require({"links": payment_id}, "links")
    if or_itself:
        return shapes.require(refund, "id")
    raise UnreadableEvent("links.up is missing")


def _money(holder: Any, name: str, *, goes_out: bool = False) -> tuple[str, int]:
    """Return a currency and an amount, in the newer shape or the older; outgoing money may be negative."""
    amount = shapes.get(holder, name)
    currency = amounts.currency(shapes.get(amount, "currency_code") or shapes.get(amount, "currency"))
    value = shapes.get(amount, "value")
    if value is None:
        value = shapes.get(amount, "total")
    if goes_out and isinstance(value, str):
        value = value.removeprefix("-")
    return currency, amounts.from_decimal(value, currency)


def _made_at(holder: Any, otherwise: datetime) -> datetime:
    return otherwise if shapes.get(holder, "create_time") is None else shapes.moment(holder, "create_time")


def _carriers(*texts: Any) -> tuple[Carrier, ...]:
    tables = [_fields(text.strip()) for text in dict.fromkeys(text for text in texts if isinstance(text, str))]
    return tuple(Carrier(_METHOD, table) for table in tables if table)


def _fields(custom: str) -> Mapping[str, str]:
    """Return the fields of a custom id: a slug alone, a query, an address, or an object."""
    if custom.startswith("{"):
        try:
            return shapes.table(parse_json(custom.encode()))
        except ValueError:
            return {}
    return referrals.fields_from_text(custom)


def _net(units: list[Any], paid: int, currency: str) -> int | None:
    """Return the payment without its share of tax and delivery, where an order of one unit has them."""
    amount = shapes.get(units[0], "amount") if len(units) == 1 else None
    ordered = amounts.parse_exact_decimal(shapes.get(amount, "value"), currency)
    if (shapes.text(amount, "currency_code") or "").upper() != currency:
        return None
    tax, shipping = (shapes.get(amount, "breakdown", name, "value") for name in ("tax_total", "shipping"))
    parts = [amounts.parse_exact_decimal(part, currency) for part in ([tax] if shipping is None else [tax, shipping])]
    values = [part for part in parts if part is not None]
    return amounts.without_tax(paid, sum(values) if len(values) == len(parts) else None, ordered)
