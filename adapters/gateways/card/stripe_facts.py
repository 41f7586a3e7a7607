"""Translates stripe's events: invoices, checkout sessions, charges, refunds, disputes, subscriptions.

A sale's id is its invoice's, else its payment intent's; the other ids are aliases. Both shapes of an invoice are read:
the one since API version 2025-03-31 first, then the older. Refunds are counted by the charge's running total.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.adapter import Reader
from adapters.gateways.wire import GatewayApi
from domain.gateways import amounts
from domain.gateways.facts import (
    AliasFact,
    BuyerOrigin,
    Carrier,
    DisconnectedFact,
    DisputeFact,
    DisputeState,
    Facts,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    ReferralFact,
    RefundFact,
    RestoredFact,
    StartFact,
    UnreadableEvent,
)
from domain.gateways.referrals import fields_from_text

#: Currencies whose minor units are not ours: they count hundredths where there are none.
EXPONENTS = {"MGA": 0, "ISK": 2, "UGX": 2}
_METADATA, _REFERENCE, _CODE = "metadata_or_customer", "stripe_reference_id", "coupon"


def _invoice(api: GatewayApi, invoice: Any, created: datetime) -> Facts:
    currency = amounts.currency(shapes.get(invoice, "currency"))
    details = shapes.get(invoice, "parent", "subscription_details") or shapes.get(invoice, "subscription_details")
    paid = amounts.from_minor(shapes.get(invoice, "amount_paid"), currency, EXPONENTS)
    path = f"/v1/invoices/{shapes.require(invoice, 'id')}"
    origin = BuyerOrigin(
        customer_id=shapes.identity(invoice, "customer") or shapes.identity(invoice, "customer_account"),
        email=shapes.text(invoice, "customer_email"),
        name=shapes.text(invoice, "customer_name"),
        subscription_id=shapes.identity(details, "subscription") or shapes.identity(invoice, "subscription"),
        carriers=carriers(shapes.table(invoice, "metadata"), shapes.table(details, "metadata")),
        codes=_codes(api, path, invoice),
        is_test=_is_test(invoice),
    )
    return PaymentFact(
        external_id=shapes.require(invoice, "id"),
        amount_cents=paid,
        currency=currency,
        paid_at=_paid_at(invoice, created),
        origin=origin,
        aliases=_ids(invoice, "payment_intent", "charge"),
        net_cents=_net(invoice, paid, currency),
    )


def _session(api: GatewayApi, session: Any, created: datetime) -> Facts:
    session_id, mode = shapes.require(session, "id"), shapes.text(session, "mode")
    if shapes.text(session, "payment_status") == "unpaid" or mode not in ("payment", "subscription"):
        return IgnoredFact("not_paid")
    reference = fields_from_text(shapes.text(session, "client_reference_id") or "")
    origin = BuyerOrigin(
        customer_id=shapes.identity(session, "customer"),
        email=shapes.text(session, "customer_details", "email") or shapes.text(session, "customer_email"),
        name=shapes.text(session, "customer_details", "name"),
        subscription_id=shapes.identity(session, "subscription"),
        carriers=(
            *carriers(shapes.table(session, "metadata")),
            *([Carrier(_REFERENCE, reference)] if reference else []),
        ),
        codes=_codes(api, f"/v1/checkout/sessions/{session_id}", session),
        is_test=_is_test(session),
    )
    if mode == "subscription" or shapes.get(session, "invoice") is not None:
        return ReferralFact(told_at=created, origin=origin)  # its invoice is the sale
    intent = shapes.identity(session, "payment_intent")
    if intent is None:  # nothing was to be paid
        return StartFact(external_id=session_id, started_at=created, origin=origin)
    currency = amounts.currency(shapes.get(session, "currency"))
    paid = amounts.from_minor(shapes.get(session, "amount_total"), currency, EXPONENTS)
    return PaymentFact(
        external_id=intent,
        amount_cents=paid,
        currency=currency,
        paid_at=created,
        origin=origin,
        aliases=(session_id,),
        net_cents=_net(session, paid, currency),
    )


def _alias(api: GatewayApi, invoice_payment: Any, created: datetime) -> Facts:
    payment = shapes.get(invoice_payment, "payment")
    return AliasFact(ids=(shapes.require(invoice_payment, "invoice"), *_ids(payment, "payment_intent", "charge")))


def _refunded_charge(api: GatewayApi, charge: Any, created: datetime) -> Facts:
    currency = amounts.currency(shapes.get(charge, "currency"))
    return RefundFact(
        refund_id=shapes.require(charge, "id"),
        sale_ids=_ids(charge, "payment_intent", "id", "invoice"),
        amount_cents=amounts.from_minor(shapes.get(charge, "amount_refunded"), currency, EXPONENTS),
        currency=currency,
        refunded_at=created,
        is_cumulative=True,
    )


def _refund(api: GatewayApi, refund: Any, created: datetime) -> Facts:
    """Read the charge again: a refund that failed lowers its refunded total, as a listed one reports."""
    status = shapes.text(refund, "status")
    charge_id = shapes.identity(refund, "charge")
    if charge_id is None or status == "pending":
        return IgnoredFact("no_money_moved")
    charge = api.find(f"/v1/charges/{charge_id}")
    if charge is None:
        raise UnreadableEvent(f"the charge {charge_id} is not there")
    if status not in ("failed", "canceled"):
        return _refunded_charge(api, charge, created)
    currency = amounts.currency(shapes.get(charge, "currency"))
    return RestoredFact(
        sale_ids=_ids(charge, "payment_intent", "id", "invoice"),
        restored_at=created,
        refunded_cents=amounts.from_minor(shapes.get(charge, "amount_refunded"), currency, EXPONENTS),
        currency=currency,
    )


def _dispute(state: DisputeState | None) -> Reader:
    """Return the reader of a dispute in a state; None takes the state from how it was closed."""

    def read(api: GatewayApi, dispute: Any, created: datetime) -> Facts:
        status = shapes.text(dispute, "status") or ""
        now = state or _CLOSED.get(status)
        if now is None or status.startswith("warning"):
            return IgnoredFact("no_money_moved")
        currency = amounts.currency(shapes.get(dispute, "currency"))
        return DisputeFact(
            dispute_id=shapes.require(dispute, "id"),
            sale_ids=_ids(dispute, "payment_intent", "charge"),
            state=now,
            at=created,
            amount_cents=amounts.from_minor(shapes.get(dispute, "amount"), currency, EXPONENTS),
            currency=currency,
        )

    return read


def _subscription(api: GatewayApi, subscription: Any, created: datetime) -> Facts:
    subscription_id = shapes.require(subscription, "id")
    origin = BuyerOrigin(
        customer_id=shapes.identity(subscription, "customer"),
        subscription_id=subscription_id,
        carriers=carriers(shapes.table(subscription, "metadata")),
        codes=_codes(api, f"/v1/subscriptions/{subscription_id}", subscription),
        is_test=_is_test(subscription),
    )
    if shapes.text(subscription, "status") == "trialing":
        return StartFact(external_id=subscription_id, started_at=created, origin=origin)
    return ReferralFact(told_at=created, origin=origin)


def _updated_subscription(api: GatewayApi, subscription: Any, created: datetime) -> Facts:
    origin = BuyerOrigin(
        customer_id=shapes.identity(subscription, "customer"),
        subscription_id=shapes.require(subscription, "id"),
        carriers=carriers(shapes.table(subscription, "metadata")),
        is_test=_is_test(subscription),
    )
    return ReferralFact(told_at=created, origin=origin)


def _updated_customer(api: GatewayApi, customer: Any, created: datetime) -> Facts:
    origin = BuyerOrigin(
        customer_id=shapes.require(customer, "id"),
        carriers=carriers(shapes.table(customer, "metadata")),
        is_test=_is_test(customer),
    )
    return ReferralFact(told_at=created, origin=origin)


def _deauthorization(api: GatewayApi, application: Any, created: datetime) -> Facts:
    return DisconnectedFact("The account took the access back.")


_CLOSED = {"lost": DisputeState.Lost, "won": DisputeState.Won}
READERS: Mapping[str, Reader] = {
    "invoice.paid": _invoice,
    "checkout.session.completed": _session,
    "checkout.session.async_payment_succeeded": _session,
    "invoice_payment.paid": _alias,
    "charge.refunded": _refunded_charge,
    "refund.updated": _refund,
    "refund.failed": _refund,
    "charge.dispute.created": _dispute(DisputeState.Opened),
    "charge.dispute.funds_withdrawn": _dispute(DisputeState.Opened),
    "charge.dispute.funds_reinstated": _dispute(DisputeState.Won),
    "charge.dispute.closed": _dispute(None),
    "customer.subscription.created": _subscription,
    "customer.subscription.updated": _updated_subscription,
    "customer.updated": _updated_customer,
    "account.application.deauthorized": _deauthorization,
}


#: The events of changes, of which only metadata matters: the brand may write a referral into it later.
UPDATES = ("customer.subscription.updated", "customer.updated")


def is_update_without_metadata(event: Any) -> bool:
    """Return whether an event is of a change that left the metadata as it was."""
    previous = shapes.get(event, "data", "previous_attributes")
    return shapes.text(event, "type") in UPDATES and isinstance(previous, Mapping) and "metadata" not in previous


def _paid_at(invoice: Any, created: datetime) -> datetime:
    paid_at = shapes.get(invoice, "status_transitions", "paid_at")
    return created if paid_at is None else shapes.moment(paid_at)


def _net(paid_for: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax and shipping; None where one is unknown."""

    def read(*path: str) -> int | None:
        return amounts.parse_exact_minor(shapes.get(paid_for, *path), currency, EXPONENTS)

    if shapes.get(paid_for, "total_excluding_tax") is not None:
        before_tax, total = read("total_excluding_tax"), read("total")
        tax = None if before_tax is None or total is None or before_tax > total else total - before_tax
    else:
        tax = read(*_first_there(paid_for, ("total_details", "amount_tax"), ("tax",)))
    shipping_path = _first_there(paid_for, ("shipping_cost", "amount_subtotal"), ("total_details", "amount_shipping"))
    has_shipping = shapes.get(paid_for, *shipping_path) is not None
    return amounts.subtract_parts(paid, tax, read(*shipping_path) if has_shipping else 0)


def _first_there(holder: Any, *paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first path at which there is a value, else the last one."""
    return next((path for path in paths if shapes.get(holder, *path) is not None), paths[-1])


def carriers(*tables: Mapping[str, str]) -> tuple[Carrier, ...]:
    return tuple(Carrier(_METADATA, table) for table in tables if table)


def _codes(api: GatewayApi, path: str, holder: Any) -> tuple[RedeemedCode, ...]:
    discounts = shapes.get(holder, "discounts")
    if not isinstance(discounts, list) or not discounts:
        return ()
    if not all(isinstance(discount, Mapping) for discount in discounts):
        discounts = shapes.items(api.get(path, {"expand[]": ["discounts"]}), "discounts")
    return tuple(code for discount in discounts if (code := _code(api, discount)))


def _code(api: GatewayApi, discount: Any) -> RedeemedCode | None:
    """Return the promotion code of a discount; None for a discount that was given without one."""
    promotion = shapes.get(discount, "promotion_code")
    promotion_id = promotion if isinstance(promotion, str) else shapes.identity(promotion, "id")
    if isinstance(promotion, str):
        promotion = api.find(f"/v1/promotion_codes/{shapes.segment(promotion)}")
    text = shapes.text(promotion, "code") or ""
    return RedeemedCode(text, _CODE, promotion_id) if text or promotion_id else None


def _ids(holder: Any, *names: str) -> tuple[str, ...]:
    return tuple(value for name in names if (value := shapes.identity(holder, name)))


def _is_test(holder: Any) -> bool:
    return shapes.get(holder, "livemode") is False
