"""What gumroad's sales mean, as its API tells them, with the referral of the delivery that named them.

A gift is two sales: its receiver's of nothing, which is told, and its giver's with the money, which is booked.
"""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from adapters import clock
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
    RefundFact,
    StartFact,
    UnclearFact,
)

RESOURCES = ("sale", "refund", "dispute", "dispute_won")

_CURRENCY = "USD"
_GIVEN_WITHIN = timedelta(hours=1)


def sale(wire: GatewayWire, sale_id: str) -> Any | None:
    """Return a sale, or None for one that the API does not know. Raises as `GatewayWire.ask`."""
    said = wire.find(f"/sales/{shapes.segment(sale_id)}")
    found = shapes.at(said, "sale") if shapes.at(said, "success") is True else None
    return found if shapes.text(found, "id") == sale_id else None


def read(wire: GatewayWire, kind: str, told: Any, ping: Any) -> tuple[Fact, ...]:
    """Return what a sale means now that something of `kind` happened to it. Raises as `GatewayAdapter.facts`."""
    if shapes.at(told, "is_bundle_product_purchase") is True:
        return (IgnoredFact("part_of_a_bundle"),)
    if "true" in (flag(told, "is_preorder_authorization"), flag(ping, "is_preorder_authorization")):
        return (IgnoredFact("not_paid"),)
    if shapes.at(told, "is_gift_receiver_purchase") is True:
        given = _given(wire, told)
        if given is None:
            return (UnclearFact("gift_not_found"),)
        told = given
    match kind:
        case "sale":
            return _payment(told, ping)
        case "refund":
            return _refund(told, ping)
        case _:
            return (_dispute(told),)


def _payment(told: Any, ping: Any) -> tuple[Fact, ...]:
    sale_id, at = shapes.needed(told, "id"), shapes.moment(told, "created_at")
    origin = _origin(told, ping)
    if _is_trial(told):
        return (StartFact(external_id=origin.subscription_id or sale_id, started_at=at, origin=origin),)
    payment = PaymentFact(
        external_id=sale_id,
        amount_cents=amounts.of_minor(shapes.at(told, "price"), _CURRENCY),
        currency=_CURRENCY,
        paid_at=at,
        origin=origin,
    )
    return (payment, *_refund(told, ping, is_asked=False))


def _is_trial(told: Any) -> bool:
    """Say whether nothing was charged: the first sale of a subscription that has a trial, with the plan's price."""
    if shapes.text(told, "subscription_id") is None or shapes.at(told, "recurring_charge") is not False:
        return False
    return shapes.at(told, "free_trial_ends_on") is not None or shapes.at(told, "free_trial_ended") is False


def _refund(told: Any, ping: Any, *, is_asked: bool = True) -> tuple[Fact, ...]:
    """Return what went back in all; where nothing did, that only if it was asked for."""
    is_whole = shapes.at(told, "refunded") is True
    if not is_whole and shapes.at(told, "partially_refunded") is not True:
        return (IgnoredFact("no_money_moved"),) if is_asked else ()
    back = None if is_whole else _back(told, ping)
    if back is None and not is_whole:
        return (UnclearFact("refund_amount_unknown"),) if is_asked else ()
    sale_id = shapes.needed(told, "id")
    refund = RefundFact(
        refund_id=sale_id,
        sale_ids=(sale_id,),
        amount_cents=back,
        currency=_CURRENCY,
        refunded_at=clock.now(),  # when it was is not told
        is_cumulative=True,
    )
    return (refund,)


def _back(told: Any, ping: Any) -> int | None:
    """Return what went back of a sale in part: its price without what can still go back, in US dollars.

    None where that is not told so: in the product's own currency, or as nothing at all, which they also say when they
    can no longer refund.
    """
    said, symbol = shapes.text(ping, "currency"), shapes.text(told, "currency_symbol")
    if (said or "usd").lower() != "usd" or (symbol or (said and "$")) != "$":
        return None
    paid = amounts.of_minor(shapes.at(told, "price"), _CURRENCY)
    try:
        left = int(Decimal((shapes.text(told, "amount_refundable_in_currency") or "").replace(",", "")).scaleb(2))
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return paid - left if 0 < left < paid else None


def _dispute(told: Any) -> Fact:
    if shapes.at(told, "disputed") is not True:
        return IgnoredFact("no_money_moved")
    sale_id = shapes.needed(told, "id")
    state = DisputeState.Won if shapes.at(told, "dispute_won") is True else DisputeState.Lost
    return DisputeFact(dispute_id=sale_id, sale_ids=(sale_id,), state=state, at=clock.now())


def _given(wire: GatewayWire, received: Any) -> Any | None:
    """Return the giver's sale of a gift: same product, for the same receiver, at the same time."""
    giver, at = shapes.text(received, "gifter_email"), shapes.moment(received, "created_at")
    if giver is None:
        return None
    params = {"email": giver, "after": (at - timedelta(days=2)).strftime("%Y-%m-%d")}
    receiver = (shapes.text(received, "giftee_email"), shapes.text(received, "email"))
    found = [
        one
        for one in shapes.items(wire.get("/sales", params), "sales")
        if shapes.at(one, "is_gift_sender_purchase") is True
        and shapes.text(one, "product_id") == shapes.text(received, "product_id")
        and shapes.text(one, "seller_id") == shapes.text(received, "seller_id")
        and shapes.text(one, "giftee_email") in receiver
        and abs(shapes.moment(one, "created_at") - at) <= _GIVEN_WITHIN
    ]
    return found[0] if len(found) == 1 else None


def _origin(told: Any, ping: Any) -> BuyerOrigin:
    email = shapes.text(told, "email")
    tables = (
        ("gumroad_url_param", shapes.table(ping, "url_params")),
        ("gumroad_custom_field", {**shapes.table(told, "custom_fields"), **shapes.table(ping, "custom_fields")}),
    )
    code = shapes.text(told, "offer_code", "code") or shapes.text(ping, "offer_code")
    return BuyerOrigin(
        customer_id=shapes.identity(told, "purchaser_id") or email,
        email=email,
        name=shapes.text(told, "full_name"),
        subscription_id=shapes.identity(told, "subscription_id"),
        carriers=tuple(Carrier(method, table) for method, table in tables if table),
        codes=(RedeemedCode(code, "gumroad_coupon_code"),) if code else (),
        is_referral_lost=shapes.at(ping, "from_list") is True,
    )


def flag(holder: Mapping[str, Any], name: str) -> str:
    """Return a flag as a form has it: true, also where JSON says so."""
    return str(shapes.at(holder, name)).lower()
