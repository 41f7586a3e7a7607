"""Where a payment comes from, with what was told of its customer and subscription before."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from domain.gateways.facts import BuyerOrigin, Carrier, RedeemedCode
from domain.gateways.referrals import SLUG_KEY, TAG_KEYS, find_tag, list_claims
from domain.text import stored_values
from models.gateways import pixel_checkouts, referrals
from pipelines.gateways.booking import whom
from pipelines.gateways.booking.desk import BookingDesk

# No campaign has a shorter cookie window.
_MIN_WINDOW = timedelta(days=1)


def subjects(origin: BuyerOrigin) -> list[str]:
    """Return the names under which things are told of a customer and of a subscription."""
    named = (("subscription", origin.subscription_id), ("customer", origin.customer_id))
    return [f"{kind}:{name}" for kind, name in named if name]


def stage(desk: BookingDesk, origin: BuyerOrigin, *, told_at: datetime, replaces: bool | None = None) -> None:
    """Stage who referred a customer, for payments of theirs that say nothing themselves.

    Of two the one counts that is the later by their gateway's own time, whichever comes first; but what names no one
    (by default: what carries no slug) never takes the place of what was there before.
    """
    has_claim = any(list_claims(origin.carriers, desk.parameters))
    if not (has_claim or origin.codes or find_tag(origin.carriers)):
        return
    referrals.stage(
        organization_id=desk.organization_id,
        gateway=desk.gateway,
        subjects=subjects(origin),
        origin={"carriers": [asdict(carrier) for carrier in origin.carriers], "codes": _codes(origin.codes)},
        told_at=told_at,
        replaces=has_claim if replaces is None else replaces,
    )


def completed(desk: BookingDesk, origin: BuyerOrigin) -> BuyerOrigin:
    """Return a start's origin with the carriers and codes told before, behind its own. Budget: 1 statement."""
    names = subjects(origin)
    if not names:
        return origin
    told = referrals.list_origins(organization_id=desk.organization_id, gateway=desk.gateway, subjects=names)
    codes = tuple(stored_values.read(RedeemedCode, code) for before in told for code in before["codes"])
    return joined(replace(origin, codes=(*origin.codes, *codes)), told)


def joined(origin: BuyerOrigin, told: Iterable[Mapping[str, Any]]) -> BuyerOrigin:
    """Return an origin with the carriers of what was told before, behind its own.

    A payment redeems the codes that it carries itself: one of an earlier payment is not redeemed by a renewal.
    """
    carriers = (carrier for before in told for carrier in _carriers(before))
    return replace(origin, carriers=(*origin.carriers, *carriers))


def select_counting(
    desk: BookingDesk, told: Sequence[Mapping[str, Any]], paid_at: datetime
) -> Sequence[Mapping[str, Any]]:
    """Return the stored referrals of a buyer that count for a payment.

    They were made before it, or after it within the cookie window of the campaign that they name.
    Budget: 1 statement for each that was made more than a day after it, else none.
    """
    return [before for before in told if _counts_for(desk, before, paid_at)]


def _counts_for(desk: BookingDesk, before: Mapping[str, Any], paid_at: datetime) -> bool:
    behind = datetime.fromisoformat(before["told_at"]) - paid_at
    if behind <= _MIN_WINDOW:
        return True
    window = whom.claim_window(desk, _carriers(before), paid_at)
    return window is None or behind <= window


def _carriers(before: Mapping[str, Any]) -> tuple[Carrier, ...]:
    return tuple(stored_values.read(Carrier, carrier) for carrier in before["carriers"])


def checkout_name(token: str) -> str:
    """Return the name under which a web pixel's word of a checkout takes its turn."""
    return f"checkout:{token}"


def with_checkout(desk: BookingDesk, origin: BuyerOrigin) -> BuyerOrigin:
    """Return an origin with what a web pixel told of its checkout, behind its own carriers.

    Stores that are tried out have no pixel. Budget: 1 statement where a checkout is named, else none.
    """
    if origin.checkout is None or desk.connection.mode != "live":
        return origin
    claim = pixel_checkouts.find(organization_id=desk.organization_id, token=origin.checkout)
    if claim is None:
        return origin
    fields = {SLUG_KEY: claim.slug} | ({TAG_KEYS[0]: claim.sub_id} if claim.sub_id else {})
    return replace(origin, carriers=(*origin.carriers, Carrier(f"{desk.gateway}_web_pixel", fields)))


def stage_awaited(desk: BookingDesk, origin: BuyerOrigin) -> None:
    """Stage that the event at this desk is looked at again when a web pixel tells of its checkout."""
    if origin.checkout is not None and desk.connection.mode == "live":
        pixel_checkouts.stage_awaited(
            organization_id=desk.organization_id, token=origin.checkout, event_id=desk.event.id, at=desk.now
        )


def _codes(codes: Sequence[RedeemedCode]) -> list[dict[str, Any]]:
    return [asdict(code) for code in codes]
