"""Translates maxio's events. A sale's id is its transaction's; those that pay one invoice are one sale.

Invoices have the tax, the discounts, and the payment of each refund.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from adapters.gateways import shapes
from adapters.gateways.wire import GatewayApi, Params
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
    UnclearFact,
    UnreadableEvent,
)
from domain.gateways.referrals import fields_from_text
from domain.money import currencies

Reader = Callable[[GatewayApi, Any], Facts]

#: The parts of each invoice in a list.
SHOWN: Params = {"payments": "true", "refunds": "true", "discounts": "true"}

#: The event of a field of the brand's own that changed on a subscription or a customer.
CHANGED_FIELD = "custom_field_value_change"

_EASTERN = ZoneInfo("America/New_York")
_ZONE = re.compile(r"\s+([+-][0-9]{2}:?[0-9]{2})$")
_INVOICES = 200
_CODE = "maxio_coupon_code"
_CHARGEBACKS = {"open": DisputeState.Opened, "lost": DisputeState.Lost, "won": DisputeState.Won}


@dataclass(frozen=True, slots=True)
class PlacedRefund:
    """A refund as an invoice has it: its id, the payment that it is of, and how much in which currency."""

    refund_id: str
    payment_id: str
    cents: int
    currency: str
    at: datetime


def moment(value: Any, *path: str) -> datetime:
    """Return a time at a path; one without a zone is US Eastern. Raises UnreadableEvent."""
    text = shapes.text(value, *path) or ""
    try:
        read = datetime.fromisoformat(_ZONE.sub(r"\1", text))
        return (read if read.tzinfo else read.replace(tzinfo=_EASTERN)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UnreadableEvent(f"{'.'.join(path)} is not a time") from error


def _payment(api: GatewayApi, payload: Any) -> Facts:
    transaction = shapes.get(payload, "transaction")
    transaction_id = shapes.require(transaction, "id")
    if (
        shapes.text(transaction, "success") == "false"
        or (shapes.text(transaction, "type") or "payment").lower() != "payment"
    ):
        return IgnoredFact("no_money_moved")
    subscription = _subscription(api, payload)
    invoices = _invoices(api, payload)
    invoice, applied = _paid_invoice(invoices, transaction_id)
    code = shapes.get(subscription, "currency") or shapes.get(invoice, "currency")
    currency = amounts.currency(code or shapes.get(api.get("/site.json"), "site", "currency"))
    paid = _paid_cents(transaction, applied, currency)
    return PaymentFact(
        external_id=transaction_id,
        amount_cents=paid,
        currency=currency,
        paid_at=moment(transaction, "created_at"),
        origin=replace(_origin(api, subscription), codes=_redeemed_codes(invoice, subscription)),
        net_cents=_net(invoice, applied, paid, currency),
        order_id=shapes.identity(invoice, "uid") if _is_of_one(invoices, transaction_id) else None,
    )


def _refund(api: GatewayApi, payload: Any) -> Facts:
    """Place a refund by the invoices: under its own id, else by its amount; one that they do not confirm waits."""
    refund_id = shapes.identity(payload, "refund_id") or shapes.require(payload, "transaction", "id")
    cents = shapes.get(payload, "amount_in_cents") or shapes.get(payload, "transaction", "amount_in_cents")
    all_refunds = list(_refunds(_invoices(api, payload)))
    own = [refund for refund in all_refunds if refund.refund_id == refund_id][:1]
    alike = [refund for refund in all_refunds if _has_amount(refund, cents)]
    is_contradicted = own and cents is not None and own[0] not in alike and currencies.exponent(own[0].currency) == 2
    confirmed = own or alike
    if not confirmed or is_contradicted or len({refund.payment_id for refund in confirmed}) > 1:
        return UnclearFact("not_confirmed")
    return tuple(
        RefundFact(
            refund_id=refund.refund_id,
            sale_ids=(refund.payment_id,),
            amount_cents=refund.cents,
            currency=refund.currency,
            refunded_at=moment(payload, "timestamp") if shapes.text(payload, "timestamp") else refund.at,
        )
        for refund in confirmed
    )


def _signup(api: GatewayApi, payload: Any) -> Facts:
    subscription = shapes.get(payload, "subscription")
    subscription_id = shapes.require(subscription, "id")
    revenue = shapes.text(subscription, "signup_revenue")
    if shapes.text(subscription, "state") != "trialing" and (revenue is None or revenue.strip("0.")):
        return IgnoredFact("duplicate_of_another_event")
    holder = subscription
    if not shapes.text(subscription, "created_at"):
        holder = shapes.get(api.get(f"/subscriptions/{shapes.segment(subscription_id)}.json"), "subscription")
    origin = replace(_origin(api, subscription), codes=_codes(subscription))
    return StartFact(external_id=subscription_id, started_at=moment(holder, "created_at"), origin=origin)


def _chargeback(api: GatewayApi, payload: Any) -> Facts:
    """Read the state of a dispute of an invoice; with several payments the disputed one is unknown."""
    state = _CHARGEBACKS.get(shapes.text(payload, "status") or "")
    if state is None:
        return IgnoredFact("no_money_moved")
    uid = shapes.require(payload, "invoice_uid")
    (invoice,) = _invoices(api, payload)
    payments = {shapes.require(payment, "transaction_id") for payment in shapes.items(invoice, "payments")}
    if len(payments) != 1:
        return UnclearFact("not_confirmed")
    return DisputeFact(dispute_id=uid, sale_ids=tuple(payments), state=state, at=moment(payload, "timestamp"))


def _changed_field(api: GatewayApi, payload: Any) -> Facts:
    """Read the metadata of a subscription or a customer in which a field changed."""
    holder_id, at = shapes.require(payload, "resource_id"), moment(payload, "timestamp")
    match shapes.text(payload, "resource_type"):
        case "Subscription":
            response = api.find(f"/subscriptions/{shapes.segment(holder_id)}.json")
            if response is None:
                return IgnoredFact("unknown_there")
            origin = _origin(api, shapes.get(response, "subscription"))
        case "Customer":
            origin = BuyerOrigin(customer_id=holder_id, carriers=tuple(_metadata(api, "customers", holder_id)))
        case _:
            return IgnoredFact("unknown_type")
    return ReferralFact(told_at=at, origin=origin)


#: The readers of the payload of an event, by its key. The last two are in lists alone.
READERS: Mapping[str, Reader] = {
    "payment_success": _payment,
    "refund_success": _refund,
    "signup_success": _signup,
    "change_chargeback_status": _chargeback,
    CHANGED_FIELD: _changed_field,
}


def _subscription(api: GatewayApi, payload: Any) -> Any:
    """Return the subscription that an event holds, or that it names."""
    subscription = shapes.get(payload, "subscription")
    if shapes.identity(subscription, "id"):
        return subscription
    return shapes.get(api.get(f"/subscriptions/{shapes.segment(_subscription_id(payload))}.json"), "subscription")


def _subscription_id(payload: Any) -> str:
    places = (("subscription", "id"), ("subscription_id",))
    subscription_id = next((value for place in places if (value := shapes.identity(payload, *place))), None)
    return subscription_id or shapes.require(payload, "transaction", "subscription_id")


def _invoices(api: GatewayApi, payload: Any) -> list[Any]:
    """Return the invoice that was listed, or those of the subscription, the newest first; none on a site without."""
    if uid := shapes.identity(payload, "invoice_uid"):
        return [api.get(f"/invoices/{shapes.segment(uid)}.json")]
    params: Params = {
        "subscription_id": _subscription_id(payload),
        "direction": "desc",
        "per_page": _INVOICES,
        **SHOWN,
    }
    return shapes.items(api.find("/invoices.json", params), "invoices")


def _paid_invoice(invoices: list[Any], transaction_id: str) -> tuple[Any, Any]:
    """Return the invoice that a transaction paid, and how it was applied there."""
    for invoice in invoices:
        for applied in shapes.items(invoice, "payments"):
            if shapes.text(applied, "transaction_id") == transaction_id:
                return invoice, applied
    return None, None


def _is_of_one(invoices: list[Any], transaction_id: str) -> bool:
    return sum(_paid_invoice([invoice], transaction_id)[0] is not None for invoice in invoices) == 1


def _paid_cents(transaction: Any, applied: Any, currency: str) -> int:
    """Return the paid amount. How a currency without cents is counted is not documented: the invoice has it."""
    cents = shapes.get(transaction, "amount_in_cents")
    if cents is not None and currencies.exponent(currency) == 2:
        return amounts.from_minor(cents, currency)
    if applied is None:
        raise UnreadableEvent(f"no invoice says how much the payment in {currency} is")
    return amounts.from_decimal(shapes.get(applied, "original_amount"), currency)


def _net(invoice: Any, applied: Any, paid: int, currency: str) -> int | None:
    """Return the payment without tax; None where that is unknown or it paid more than this invoice."""
    if shapes.get(applied, "applied_amount") != shapes.get(applied, "original_amount"):
        return None
    tax, total = (
        amounts.parse_exact_decimal(shapes.get(invoice, name), currency) for name in ("tax_amount", "total_amount")
    )
    return amounts.without_tax(paid, tax, total)


def _refunds(invoices: list[Any]) -> Iterator[PlacedRefund]:
    """Yield the refunds of invoices; one that does not name itself, its payment and its amount confirms nothing."""
    for invoice in invoices:
        for refund in shapes.items(invoice, "refunds"):
            refund_id, payment_id = (shapes.identity(refund, name) for name in ("transaction_id", "payment_id"))
            if refund_id is None or payment_id is None:
                continue
            currency = amounts.currency(shapes.get(invoice, "currency"))
            dates = (name for name in ("updated_at", "paid_date", "issue_date") if shapes.text(invoice, name))
            try:
                cents = amounts.from_decimal(shapes.get(refund, "original_amount"), currency)
            except UnreadableEvent:  # one of many, and mostly another one than is looked for
                continue
            yield PlacedRefund(refund_id, payment_id, cents, currency, moment(invoice, next(dates, "updated_at")))


def _has_amount(refund: PlacedRefund, cents: Any) -> bool:
    """Return whether a refund has the reported amount; False where the unit of that one is unknown."""
    if cents is None or currencies.exponent(refund.currency) != 2:
        return False
    return amounts.parse_exact_minor(cents, refund.currency) == refund.cents


def _origin(api: GatewayApi, subscription: Any) -> BuyerOrigin:
    """Return the origin of a payment, with the brand's own fields of its subscription and customer."""
    subscription_id, customer = shapes.require(subscription, "id"), shapes.get(subscription, "customer")
    customer_id = shapes.identity(customer, "id")
    carriers = [*_metadata(api, "subscriptions", subscription_id), *_metadata(api, "customers", customer_id)]
    if reference := fields_from_text(shapes.text(subscription, "reference") or ""):
        carriers.append(Carrier("maxio_reference_id", reference))
    return BuyerOrigin(
        customer_id=customer_id,
        email=shapes.text(customer, "email"),
        name=shapes.full_name(customer, "first_name", "last_name"),
        subscription_id=subscription_id,
        carriers=tuple(carriers),
    )


def _metadata(api: GatewayApi, collection: str, holder_id: str | None) -> Iterator[Carrier]:
    path = f"/{collection}/{shapes.segment(holder_id or '')}/metadata.json"
    if holder_id is not None and (table := shapes.pairs(api.find(path), "metadata")):
        yield Carrier("maxio_metadata", table)


def _redeemed_codes(invoice: Any, subscription: Any) -> tuple[RedeemedCode, ...]:
    """Return the codes that an invoice was reduced by; those of the subscription where no invoice has them.

    A subscription has the subcode that a buyer typed. It belongs to the coupon of an invoice that has one.
    """
    discounts = shapes.get(invoice, "discounts")
    if not isinstance(discounts, list):
        return _codes(subscription)
    coupons = [
        discount
        for discount in shapes.items(invoice, "discounts")
        if shapes.get(discount, "source_type") in (None, "Coupon")
    ]
    codes = [(shapes.text(discount, "code") or "", shapes.identity(discount, "source_id")) for discount in coupons]
    if len(codes) == 1:
        codes += [(typed.text, codes[0][1]) for typed in _codes(subscription)]
    return tuple(RedeemedCode(text, _CODE, coupon_id) for text, coupon_id in dict.fromkeys(codes) if text or coupon_id)


def _codes(subscription: Any) -> tuple[RedeemedCode, ...]:
    """Return the codes of a subscription: one, or a list, which is a table by its indices in a form. It has no ids."""
    several = shapes.get(subscription, "coupon_codes")
    several = several.values() if isinstance(several, Mapping) else several if isinstance(several, list) else ()
    texts = (shapes.get(subscription, "coupon_code"), *several)
    written = dict.fromkeys(text.strip() for text in texts if isinstance(text, str) and text.strip())
    return tuple(RedeemedCode(text, _CODE) for text in written)
