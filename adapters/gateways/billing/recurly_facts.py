"""What recurly's notifications mean: each names an object, which is read and translated.

A sale's id is its invoice's; its transactions are aliases. Refunds are counted by their transactions alone, credit
invoices tell of the same money.
"""

from collections.abc import Iterator
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.wire import GatewayWire
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
    UnreadableEvent,
)

#: What a transaction's status says when a payment is no longer one.
TAKEN_BACK = ("void", "chargeback")

_UNPAID = ("open", "pending", "processing", "past_due", "failed")
# Of payments, these tell what the invoice tells, or that nothing happened.
_NO_REFUND = ("succeeded", "scheduled", "processing", "failed")


def read(wire: GatewayWire, told: Any) -> tuple[Fact, ...]:
    """Return what a notification means. Calls recurly. Raises as an adapter's `facts`."""
    kind, event = shapes.needed(told, "object_type"), shapes.needed(told, "event_type")
    match kind, event:
        case "charge_invoice", "paid":
            return (_invoice(wire, told),)
        case "subscription", "created":
            return (_subscription(wire, told),)
        case "subscription", "updated":
            subscription = wire.get(_path("subscriptions", told, "uuid", "uuid"))
            return (_referral(told, _origin(wire, subscription, subscription)),)
        case "account", "updated":
            account = wire.get(_path("accounts", told, "code", "account_code"))
            return (_referral(told, _origin_of_account(account)),)
        case "payment", _ if event not in _NO_REFUND:
            return (_transaction(wire, told),)
        case _:
            return (IgnoredFact("unknown_type"),)


def _invoice(wire: GatewayWire, told: Any) -> Fact:
    invoice = wire.get(_path("invoices", told, "number", "invoice_number"))
    if shapes.text(invoice, "type") != "charge" or shapes.text(invoice, "state") in _UNPAID:
        return IgnoredFact("not_paid")
    currency = amounts.currency(shapes.at(invoice, "currency"))
    paid = amounts.of_decimal(shapes.at(invoice, "paid"), currency)
    subscriptions = shapes.at(invoice, "subscription_ids")
    subscription_id = next(iter(subscriptions), None) if isinstance(subscriptions, list) else None
    subscription = _found(wire, "subscriptions", shapes.identity({"id": subscription_id}, "id"))
    return PaymentFact(
        external_id=shapes.needed(invoice, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=shapes.moment(*((invoice, "closed_at") if shapes.at(invoice, "closed_at") else (told, "event_time"))),
        origin=_origin(wire, invoice, subscription),
        aliases=tuple(_aliases(invoice)),
        net_cents=_net(invoice, paid, currency),
    )


def _subscription(wire: GatewayWire, told: Any) -> Fact:
    at = shapes.moment(told, "event_time")
    subscription = wire.get(_path("subscriptions", told, "uuid", "uuid"))
    origin = _origin(wire, subscription, subscription)
    trial_ends = shapes.at(subscription, "trial_ends_at")
    if trial_ends is not None and shapes.moment(trial_ends) > at:
        return StartFact(external_id=shapes.needed(subscription, "id"), started_at=at, origin=origin)
    return ReferralFact(told_at=at, origin=origin)


def _referral(told: Any, origin: BuyerOrigin) -> Fact:
    return ReferralFact(told_at=shapes.moment(told, "event_time"), origin=origin)


def _origin_of_account(account: Any) -> BuyerOrigin:
    return BuyerOrigin(customer_id=shapes.needed(account, "id"), carriers=tuple(_carriers(account)))


def _transaction(wire: GatewayWire, told: Any) -> Fact:
    """Read what happened to a payment: its own status says it, whatever the notification is called."""
    at = shapes.moment(told, "event_time")
    transaction = wire.get(_path("transactions", told, "uuid", "uuid"))
    kind, status = shapes.needed(transaction, "type"), shapes.text(transaction, "status")
    transaction_id = shapes.needed(transaction, "id")
    if kind != "refund" and status == "chargeback":
        currency = amounts.currency(shapes.at(transaction, "currency"))
        return DisputeFact(
            dispute_id=transaction_id,
            sale_ids=(transaction_id,),
            state=DisputeState.Lost,
            at=at,
            amount_cents=amounts.of_decimal(shapes.at(transaction, "amount"), currency),
            currency=currency,
        )
    reason = None
    if kind == "refund" and status == "success":
        refund_id, sale_id = transaction_id, shapes.needed(transaction, "original_transaction_id")
    elif kind == "purchase" and status == "void":
        refund_id, sale_id, reason = f"void:{transaction_id}", transaction_id, "cancelled"
    elif shapes.text(told, "event_type") == "refunded" and kind != "refund":
        raise UnreadableEvent("the refund names a payment that stands")
    else:
        return IgnoredFact("no_money_moved")
    currency = amounts.currency(shapes.at(transaction, "currency"))
    return RefundFact(
        refund_id=refund_id,
        sale_ids=(sale_id,),
        amount_cents=amounts.of_decimal(shapes.at(transaction, "amount"), currency),
        currency=currency,
        refunded_at=at,
        reason=reason,
    )


def _path(collection: str, told: Any, prefix: str, name: str) -> str:
    """Return where an object is: under its number or uuid where it is told, else under its id."""
    named = shapes.identity(told, name)
    return f"/{collection}/" + shapes.segment(f"{prefix}-{named}" if named else shapes.needed(told, "id"))


def _found(wire: GatewayWire, collection: str, object_id: str | None) -> Any | None:
    return wire.find(f"/{collection}/{shapes.segment(object_id)}") if object_id else None


def _origin(wire: GatewayWire, holder: Any, subscription: Any) -> BuyerOrigin:
    """Return where a payment comes from; only account and subscription carry the brand's own fields."""
    account_id = shapes.identity(holder, "account", "id")
    account = _found(wire, "accounts", account_id)
    buyers = [shapes.at(holder, "account"), account]
    names = ([shapes.text(buyer, part) for part in ("first_name", "last_name")] for buyer in buyers)
    coupons = [shapes.at(one, "coupon") for one in shapes.items(holder, "coupon_redemptions")]
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
    fields = shapes.items(holder, "custom_fields")
    table = {
        name: value for one in fields if (name := shapes.text(one, "name")) and (value := shapes.text(one, "value"))
    }
    if table:
        yield Carrier("recurly_custom_field", table)


def _aliases(invoice: Any) -> Iterator[str]:
    for transaction in shapes.items(invoice, "transactions"):
        if shapes.text(transaction, "type") in ("purchase", "capture"):
            yield shapes.needed(transaction, "id")
            if uuid := shapes.identity(transaction, "uuid"):
                yield uuid


def _net(invoice: Any, paid: int, currency: str) -> int | None:
    """Return what was paid without tax; None where that is unknown."""
    tax, total = (amounts.parse_exact_decimal(shapes.at(invoice, name), currency) for name in ("tax", "total"))
    return amounts.without_tax(paid, tax, total)
