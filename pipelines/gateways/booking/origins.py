"""Stores who referred customers and subscriptions, and adds that to the origins of their payments."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from domain.gateways.facts import BuyerOrigin, Carrier, RedeemedCode
from domain.gateways.referrals import SLUG_KEY, TAG_KEYS, find_tag, list_claims
from domain.text import stored_values
from models.gateways import pixel_checkouts, referrals
from pipelines.gateways.booking import attribution
from pipelines.gateways.booking.context import BookingContext

# No campaign has a shorter cookie window.
_MIN_WINDOW = timedelta(days=1)


def list_subjects(origin: BuyerOrigin) -> list[str]:
    """Return the names under which referrals of a customer and of a subscription are stored."""
    names = (("subscription", origin.subscription_id), ("customer", origin.customer_id))
    return [f"{kind}:{name}" for kind, name in names if name]


def stage(context: BookingContext, origin: BuyerOrigin, *, told_at: datetime, replaces: bool | None = None) -> None:
    """Stage who referred a customer, for payments of theirs that do not say so themselves.

    The later of two by their gateway's own time counts, whichever arrives first; but a referral that names no affiliate
    (by default: one without a slug) never replaces an earlier one.
    """
    has_claim = any(list_claims(origin.carriers, context.parameters))
    if not (has_claim or origin.codes or find_tag(origin.carriers)):
        return
    referrals.stage(
        organization_id=context.organization_id,
        gateway=context.gateway,
        subjects=list_subjects(origin),
        origin={"carriers": [asdict(carrier) for carrier in origin.carriers], "codes": _serialize_codes(origin.codes)},
        told_at=told_at,
        replaces=has_claim if replaces is None else replaces,
    )


def add_referrals(context: BookingContext, origin: BuyerOrigin) -> BuyerOrigin:
    """Return a start's origin with the stored carriers and codes after its own. Budget: 1 statement."""
    names = list_subjects(origin)
    if not names:
        return origin
    rows = referrals.list_origins(organization_id=context.organization_id, gateway=context.gateway, subjects=names)
    codes = tuple(stored_values.read(RedeemedCode, code) for row in rows for code in row["codes"])
    return add_carriers(replace(origin, codes=(*origin.codes, *codes)), rows)


def add_carriers(origin: BuyerOrigin, rows: Iterable[Mapping[str, Any]]) -> BuyerOrigin:
    """Return an origin with the carriers of stored referrals after its own.

    A payment redeems only its own codes: a renewal does not redeem the code of an earlier payment.
    """
    carriers = (carrier for row in rows for carrier in _parse_carriers(row))
    return replace(origin, carriers=(*origin.carriers, *carriers))


def select_counting(
    context: BookingContext, rows: Sequence[Mapping[str, Any]], paid_at: datetime
) -> Sequence[Mapping[str, Any]]:
    """Return the stored referrals of a buyer that count for a payment.

    They date from before the payment, or from within the cookie window of their campaign after it.
    Budget: 1 statement for each that dates from more than a day after it, else none.
    """
    return [row for row in rows if _counts_for(context, row, paid_at)]


def _counts_for(context: BookingContext, row: Mapping[str, Any], paid_at: datetime) -> bool:
    delay = datetime.fromisoformat(row["told_at"]) - paid_at
    if delay <= _MIN_WINDOW:
        return True
    window = attribution.claim_window(context, _parse_carriers(row), paid_at)
    return window is None or delay <= window


def _parse_carriers(row: Mapping[str, Any]) -> tuple[Carrier, ...]:
    return tuple(stored_values.read(Carrier, carrier) for carrier in row["carriers"])


def checkout_name(token: str) -> str:
    """Return the lock name of a checkout that a web pixel reports."""
    return f"checkout:{token}"


def add_checkout(context: BookingContext, origin: BuyerOrigin) -> BuyerOrigin:
    """Return an origin with the link that a web pixel reported for its checkout, after its own carriers.

    Stores in test mode have no pixel. Budget: 1 statement where a checkout is named, else none.
    """
    if origin.checkout is None or context.connection.mode != "live":
        return origin
    claim = pixel_checkouts.find(organization_id=context.organization_id, token=origin.checkout)
    if claim is None:
        return origin
    fields = {SLUG_KEY: claim.slug} | ({TAG_KEYS[0]: claim.sub_id} if claim.sub_id else {})
    return replace(origin, carriers=(*origin.carriers, Carrier(f"{context.gateway}_web_pixel", fields)))


def stage_awaited(context: BookingContext, origin: BuyerOrigin) -> None:
    """Stage that the event is retried when a web pixel reports its checkout."""
    if origin.checkout is not None and context.connection.mode == "live":
        pixel_checkouts.stage_awaited(
            organization_id=context.organization_id, token=origin.checkout, event_id=context.event.id, at=context.now
        )


def _serialize_codes(codes: Sequence[RedeemedCode]) -> list[dict[str, Any]]:
    return [asdict(code) for code in codes]
