"""Where a payment comes from, with what was told of its customer and subscription before."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from domain.gateways.facts import BuyerOrigin, Carrier, RedeemedCode
from models.gateways import referrals
from pipelines.gateways.booking.desk import BookingDesk


def subjects(origin: BuyerOrigin) -> list[str]:
    """Return the names under which things are told of a customer and of a subscription."""
    named = (("subscription", origin.subscription_id), ("customer", origin.customer_id))
    return [f"{kind}:{name}" for kind, name in named if name]


def stage(desk: BookingDesk, origin: BuyerOrigin) -> None:
    """Stage who referred a customer, for payments of theirs that say nothing themselves."""
    if not origin.carriers and not origin.codes:
        return
    referrals.stage(
        organization_id=desk.organization_id,
        gateway=desk.gateway,
        subjects=subjects(origin),
        origin={"carriers": [asdict(carrier) for carrier in origin.carriers], "codes": _codes(origin.codes)},
        told_at=desk.now,
    )


def completed(desk: BookingDesk, origin: BuyerOrigin) -> BuyerOrigin:
    """Return a start's origin with the carriers and codes told before, behind its own. Budget: 1 statement."""
    names = subjects(origin)
    if not names:
        return origin
    told = referrals.of(organization_id=desk.organization_id, gateway=desk.gateway, subjects=names)
    codes = tuple(RedeemedCode(**code) for before in told for code in before["codes"])
    return joined(replace(origin, codes=(*origin.codes, *codes)), told)


def joined(origin: BuyerOrigin, told: Iterable[Mapping[str, Any]]) -> BuyerOrigin:
    """Return an origin with the carriers of what was told before, behind its own.

    A payment redeems the codes that it carries itself: one of an earlier payment is not redeemed by a renewal.
    """
    carriers = tuple(Carrier(**carrier) for before in told for carrier in before["carriers"])
    return replace(origin, carriers=(*origin.carriers, *carriers))


def _codes(codes: Sequence[RedeemedCode]) -> list[dict[str, Any]]:
    return [asdict(code) for code in codes]
