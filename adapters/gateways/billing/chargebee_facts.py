"""Translates chargebee's events. A sale has the id of its transaction; transactions that pay one invoice are one sale.

If one transaction pays an invoice alone, the invoice's id is an alias of the sale.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.adapter import Reader
from adapters.gateways.wire import GatewayApi
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    CancelledFact,
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
    UnreadableEvent,
)

#: Events that report their transaction for the first and only time.
ONCE = ("payment_succeeded", "payment_refunded")

# Chargebee's amounts have no decimals or two, never three.
EXPONENTS = {"BHD": 2, "JOD": 2, "KWD": 2, "OMR": 2, "TND": 2}
# Chargebee does not document whether these currencies have decimals.
UNKNOWN_SCALE = ("ISK", "MGA", "UGX")
_CUSTOM_FIELD_PREFIX = "cf_"


def _payment(api: GatewayApi, content: Any, at: datetime) -> Facts:
    transaction = shapes.get(content, "transaction")
    if shapes.require(transaction, "type") != "payment" or shapes.text(transaction, "status") != "success":
        return IgnoredFact("no_money_moved")
    currency, paid = _amount(transaction)
    invoice = shapes.get(content, "invoice")
    return PaymentFact(
        external_id=shapes.require(transaction, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=at if shapes.get(transaction, "date") is None else shapes.moment(transaction, "date"),
        origin=origin_of(content),
        aliases=_aliases(transaction, invoice),
        net_cents=_net(transaction, invoice, paid, currency),
        order_id=_invoice_of(transaction, invoice),
        told_at=at,
    )


def _refund(api: GatewayApi, content: Any, at: datetime) -> Facts:
    transaction = shapes.get(content, "transaction")
    if shapes.require(transaction, "type") != "refund" or shapes.text(transaction, "status") != "success":
        return IgnoredFact("no_money_moved")
    currency, cents = _amount(transaction)
    return RefundFact(
        refund_id=shapes.require(transaction, "id"),
        sale_ids=(_reversed_payment_id(transaction) or _invoice_id(content),),
        amount_cents=cents,
        currency=currency,
        refunded_at=at,
    )


def _credit_note(api: GatewayApi, content: Any, at: datetime) -> Facts:
    """Read a chargeback: it names an invoice, and every payment of the invoice is reversed once.

    It does not say how much it takes of each payment, so several are reversed without an amount.
    """
    note = shapes.get(content, "credit_note")
    shapes.require(note, "id")
    if shapes.text(note, "reason_code") != "chargeback" or shapes.text(note, "status") == "voided":
        return IgnoredFact("no_money_moved")
    invoice_id = shapes.require(note, "reference_invoice_id")
    invoice = shapes.get(api.find(f"/invoices/{shapes.segment(invoice_id)}"), "invoice")
    payments = [
        shapes.require(linked, "txn_id")
        for linked in shapes.items(invoice, "linked_payments")
        if shapes.text(linked, "txn_status") in ("success", "late_failure")
    ]
    if len(payments) > 1:
        return tuple(_chargeback(payment, at) for payment in payments)
    return _chargeback(payments[0] if payments else invoice_id, at, note, "total")


def _transaction(api: GatewayApi, content: Any, at: datetime) -> Facts:
    """Read a payment that failed after it had succeeded, or what reverses one."""
    transaction = shapes.get(content, "transaction")
    match shapes.require(transaction, "type"), shapes.text(transaction, "status"):
        case "payment", "late_failure":
            return _chargeback(shapes.require(transaction, "id"), at, transaction, "amount")
        case "payment_reversal", "success":
            reversed_id = _reversed_payment_id(transaction)
            if reversed_id is None:
                raise UnreadableEvent("a reversal does not name its payment")
            return _chargeback(reversed_id, at, transaction, "amount")
        case "payment", "voided":
            return CancelledFact(sale_ids=(shapes.require(transaction, "id"),), told_at=at)
        case _:
            return IgnoredFact("no_money_moved")


def _read_removed_payment(api: GatewayApi, content: Any, at: datetime) -> Facts:
    """Read the removal of a payment that was recorded by hand."""
    transaction = shapes.get(content, "transaction")
    if shapes.require(transaction, "type") != "payment":
        return IgnoredFact("no_money_moved")
    return CancelledFact(sale_ids=(shapes.require(transaction, "id"),), told_at=at)


def _subscription(api: GatewayApi, content: Any, at: datetime) -> Facts:
    origin, subscription = origin_of(content), shapes.get(content, "subscription")
    external_id = shapes.require(subscription, "id")
    is_free = not shapes.get(content, "invoice", "total")
    if is_free or shapes.text(subscription, "status") in ("in_trial", "future"):
        return StartFact(external_id=external_id, started_at=at, origin=origin)
    return ReferralFact(told_at=at, origin=origin)


def _read_changed_object(api: GatewayApi, content: Any, at: datetime) -> Facts:
    """Read a subscription or a customer that changed: the brand may write a referral into its fields later."""
    return ReferralFact(told_at=at, origin=replace(origin_of(content), codes=()))


#: The readers of the content of an event, by its type.
READERS: Mapping[str, Reader] = {
    "payment_succeeded": _payment,
    "payment_refunded": _refund,
    "subscription_created": _subscription,
    "subscription_changed": _read_changed_object,
    "customer_changed": _read_changed_object,
    "credit_note_created": _credit_note,
    "credit_note_updated": _credit_note,
    "transaction_created": _transaction,
    "transaction_updated": _transaction,
    "transaction_deleted": _read_removed_payment,
    "payment_failed": _transaction,
}


def origin_of(content: Any) -> BuyerOrigin:
    """Return the origin of a payment, by its subscription, customer, invoice and transaction."""
    subscription, customer = shapes.get(content, "subscription"), shapes.get(content, "customer")
    holders = [shapes.get(content, name) for name in ("subscription", "invoice", "transaction")]
    names = (shapes.text(customer, "first_name"), shapes.text(customer, "last_name"))
    return BuyerOrigin(
        customer_id=shapes.identity(customer, "id") or _first(holders, "customer_id"),
        email=shapes.text(customer, "email"),
        name=" ".join(name for name in names if name) or None,
        subscription_id=shapes.identity(subscription, "id") or _first(holders[1:], "subscription_id"),
        carriers=(*_carriers(subscription), *_carriers(customer)),
        codes=tuple(dict.fromkeys(_codes(content))),
    )


def _amount(transaction: Any) -> tuple[str, int]:
    currency = amounts.currency(shapes.get(transaction, "currency_code"))
    return currency, _minor(shapes.get(transaction, "amount"), currency)


def _minor(value: Any, currency: str) -> int:
    if currency in UNKNOWN_SCALE:
        raise UnreadableEvent(f"how chargebee counts {currency} is not known")
    return amounts.from_minor(value, currency, EXPONENTS)


def _chargeback(payment_id: str, at: datetime, holder: Any = None, name: str = "") -> DisputeFact:
    """Return a lost dispute of a payment, with the amount in `holder[name]` if `holder` has that and a currency."""
    currency, cents = None, None
    if shapes.get(holder, name) is not None and shapes.get(holder, "currency_code") is not None:
        currency = amounts.currency(shapes.get(holder, "currency_code"))
        cents = _minor(shapes.get(holder, name), currency)
    return DisputeFact(
        dispute_id=payment_id,  # several events may report one chargeback, so its payment's id is its id
        sale_ids=(payment_id,),
        state=DisputeState.Lost,
        at=at,
        amount_cents=cents,
        currency=currency,
    )


def _reversed_payment_id(transaction: Any) -> str | None:
    """Return the id of the payment that a transaction refunds or reverses."""
    linked = [shapes.identity(payment, "id") for payment in shapes.items(transaction, "linked_payments")]
    sole = linked[0] if len(linked) == 1 else None
    names = ("refunded_txn_id", "reference_transaction_id")
    return next((payment_id for name in names if (payment_id := shapes.identity(transaction, name))), sole)


def _invoice_id(content: Any) -> str:
    return shapes.identity(content, "credit_note", "reference_invoice_id") or shapes.require(content, "invoice", "id")


def _invoice_of(transaction: Any, invoice: Any) -> str | None:
    """Return the one invoice that a transaction pays, whole or in part; None for one that pays several."""
    linked = [shapes.identity(link, "invoice_id") for link in shapes.items(transaction, "linked_invoices")]
    if len(linked) > 1:
        return None
    return linked[0] if linked else shapes.identity(invoice, "id")


def _aliases(transaction: Any, invoice: Any) -> tuple[str, ...]:
    """Return the invoice's id if this payment alone pays it: with several payments it would be ambiguous."""
    invoice_id, total = shapes.identity(invoice, "id"), shapes.get(invoice, "total")
    credits_applied = shapes.get(invoice, "credits_applied") or 0
    applied = [
        shapes.get(linked, "applied_amount")
        for linked in shapes.items(transaction, "linked_invoices")
        if shapes.text(linked, "invoice_id") == invoice_id
    ]
    if not invoice_id or type(total) is not int or type(credits_applied) is not int:
        return ()
    return (invoice_id,) if applied == [total - credits_applied] else ()


def _net(transaction: Any, invoice: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax; None where that is unknown or more than one invoice was paid."""
    if len(shapes.items(transaction, "linked_invoices")) > 1:
        return None
    tax, total = (
        amounts.parse_exact_minor(shapes.get(invoice, name), currency, EXPONENTS) for name in ("tax", "total")
    )
    return amounts.without_tax(paid, tax, total)


def _carriers(holder: Any) -> Iterator[Carrier]:
    if table := shapes.table(holder, "meta_data"):
        yield Carrier("chargebee_metadata", table)
    fields = shapes.table(holder)
    if own := {
        name.removeprefix(_CUSTOM_FIELD_PREFIX): value
        for name, value in fields.items()
        if name.startswith(_CUSTOM_FIELD_PREFIX)
    }:
        yield Carrier("chargebee_custom_field", own)


def _codes(content: Any) -> Iterator[RedeemedCode]:
    """Yield the codes that an invoice was reduced by; without an invoice, those of the subscription.

    Buyers type the id of a coupon, or a code of a set, which has a text of its own.
    """
    if shapes.get(content, "invoice") is None:
        for coupon in shapes.items(content, "subscription", "coupons"):
            yield from _code(shapes.text(coupon, "coupon_code"), shapes.identity(coupon, "coupon_id"))
    for discount in shapes.items(content, "invoice", "discounts"):
        if "coupon" in (shapes.text(discount, "entity_type") or ""):
            yield from _code(shapes.text(discount, "coupon_set_code"), shapes.identity(discount, "entity_id"))


def _code(set_code: str | None, coupon_id: str | None) -> Iterator[RedeemedCode]:
    if text := set_code or coupon_id:
        yield RedeemedCode(text, "chargebee_coupon_code", coupon_id)


def _first(holders: list[Any], name: str) -> str | None:
    return next((value for holder in holders if (value := shapes.identity(holder, name))), None)
