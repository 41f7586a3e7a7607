"""Families of codes: made at the processor, changed here, archived with their codes, deleted while they have none.

Source: tracking spec, "Campaign coupon", section 3 "States and transitions", "Coupons".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from adapters.coupons import registry
from adapters.gateways.base import CredentialsRefused, GatewayRejected, GatewayUnreachable
from domain import jobs
from domain.coupons.discounts import SelfMintMode
from domain.programs import terms
from domain.refused import Refused, not_found
from domain.webhooks import coupon_events
from models import ids
from models.coupons import affiliate_coupons, campaign_coupons
from models.coupons.campaign_coupons import CampaignCoupon, CountedCoupon
from models.gateways import connections
from pipelines import work
from pipelines.coupons import calls, ending, places
from pipelines.coupons.calls import Made
from pipelines.coupons.places import MintingPlace
from pipelines.programs import home_rate, lifecycle
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class BegunFamily:
    """A coupon that is written and about to be made, and where; `is_asked_again`: somebody may have asked before."""

    coupon: CampaignCoupon
    place: MintingPlace
    is_asked_again: bool = False


def begin(
    *,
    organization_id: UUID,
    program_id: UUID,
    coupon_id: UUID,
    wanted: Mapping[str, Any],
    now: datetime,
    created_by: UUID | None = None,
) -> BegunFamily:
    """Write a coupon that is about to be made. `wanted` is `schemas.coupons.campaign.CampaignCouponBody` loaded,
    `created_by` the member who creates it, if a member does.

    One that was begun under this id less than an hour ago is gone on with.
    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived program; 400 invalid_request; what
    `terms.check_rate` raises; 422 processor_not_connected.
    """
    program = lifecycle.lock_unarchived(organization_id=organization_id, program_id=program_id)
    begun = campaign_coupons.find(organization_id=organization_id, coupon_id=coupon_id)
    if begun is not None and begun.program_id == program_id and now - begun.created_at < places.REPEATED_WITHIN:
        place = places.acting(organization_id, begun.connection_id, now=now)
        if place is None:
            raise places.not_connected()
        return BegunFamily(begun, place, is_asked_again=True)
    if begun is not None:
        coupon_id = ids.new_id()  # its hour is over: this is another request
    if wanted["expires_at"] is not None and wanted["expires_at"] <= now:
        raise Refused(400, "invalid_request", "expiresAt must be in the future.", field="expiresAt")
    if wanted["commission_type"] is not None:
        terms.check_rate(
            model=program.default_commission_model,
            type=wanted["commission_type"],
            value=wanted["commission_value"],
            home=home_rate.find(organization_id),
            prefix="",
        )
    granted = _affiliates_of(organization_id, program_id, wanted["granted_affiliate_ids"])
    place = places.for_family(organization_id, now=now)
    columns = {name: value for name, value in wanted.items() if name != "granted_affiliate_ids"}
    values = {
        **columns,
        "product_refs": list(columns["product_refs"]),
        "id": coupon_id,
        "organization_id": organization_id,
        "program_id": program_id,
        "state": "minting",
        "connection_id": place.connection.id,
        "created_by": created_by,
        "created_at": now,
        "updated_at": now,
    }
    campaign_coupons.insert(values)
    campaign_coupons.stage_grants(coupon_id, organization_id, granted, at=now)
    work.enqueue(jobs.COUPON_MAKE, organization_id=organization_id, run_at=now + places.LEFT_ALONE, coupon_id=coupon_id)
    coupon = campaign_coupons.find(organization_id=organization_id, coupon_id=coupon_id)
    assert coupon is not None  # it was just inserted
    return BegunFamily(coupon, place)


def resume(*, organization_id: UUID, coupon_id: UUID, now: datetime) -> BegunFamily | None:
    """Return a coupon whose making was not finished; None when nothing is left to do."""
    coupon = campaign_coupons.lock(organization_id=organization_id, coupon_id=coupon_id)
    if coupon is None or coupon.state != "minting":
        return None
    place = places.acting(organization_id, coupon.connection_id, now=now)
    if place is None:  # its connection ended meanwhile: what was asked for cannot be had any more
        campaign_coupons.stage_remove(coupon)
        return None
    return BegunFamily(coupon, place, is_asked_again=True)


def make(begun: BegunFamily) -> Made:
    """Make a coupon at the processor, once. Calls the gateway."""
    if begun.coupon.processor_coupon_id is not None:
        return Made(begun.coupon.processor_coupon_id)
    rail, account, order = registry.processor(), begun.place.account, places.family_order(begun.coupon)
    return calls.make(
        begun.place,
        lambda: rail.create(account, order),
        lambda: rail.find_coupon(account, order),
        is_asked_again=begun.is_asked_again,
    )


def settle(
    begun: BegunFamily, made: Made, *, now: datetime, note: Callable[[CampaignCoupon], None]
) -> CampaignCoupon | None:
    """Write what came of it: active with its event, or removed, or still minting; None when it is gone.

    `note` is told of a coupon that is active by this call, for the audit log.
    """
    before = begun.coupon
    coupon = campaign_coupons.lock(organization_id=before.organization_id, coupon_id=before.id)
    if coupon is None or coupon.state != "minting":
        return coupon
    if made.is_refused:
        connections.stage_doubt(
            organization_id=coupon.organization_id, connection_id=begun.place.connection.id, why=made.words, at=now
        )
    if made.refusal is not None:
        campaign_coupons.stage_remove(coupon)
        return None
    if made.made_id is None:
        return coupon
    active = campaign_coupons.change(coupon, {"state": "active", "processor_coupon_id": made.made_id})
    granted = len(campaign_coupons.granted(active))
    emit.event(
        organization_id=active.organization_id,
        type="campaign_coupon.created",
        data=coupon_events.campaign_created(active, granted=granted),
        at=now,
    )
    note(active)
    return active


def finish(begun: BegunFamily, made: Made, *, now: datetime) -> datetime | None:
    """Write what came of it, and return when to ask again; None when it is settled."""
    after = settle(begun, made, now=now, note=lambda coupon: _stage_audit(coupon, now))
    if after is not None and after.state == "minting":
        return places.again_at(after.created_at, now)
    return None


def _stage_audit(coupon: CampaignCoupon, now: datetime) -> None:
    calls.stage_audit(
        "campaign_coupon.created",
        organization_id=coupon.organization_id,
        made_id=coupon.id,
        after=coupon_events.campaign_created(coupon, granted=len(campaign_coupons.granted(coupon))),
        now=now,
    )


def find(*, organization_id: UUID, program_id: UUID, coupon_id: UUID) -> CountedCoupon:
    """Return a coupon of a program as it is shown. Raises Refused 404 not_found."""
    found = campaign_coupons.counted(organization_id=organization_id, program_id=program_id, coupon_id=coupon_id)
    if found is None:
        raise not_found("coupon", coupon_id)
    return found


def lock(*, organization_id: UUID, program_id: UUID, coupon_id: UUID) -> CampaignCoupon:
    """Return an active coupon of a program, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for one that is archived or still being made.
    """
    found = campaign_coupons.lock(organization_id=organization_id, coupon_id=coupon_id)
    if found is None or found.program_id != program_id:
        raise not_found("coupon", coupon_id)
    require_active(found)
    return found


def require_active(coupon: CampaignCoupon) -> None:
    """Raise Refused 409 invalid_status_transition unless codes can be minted from a coupon."""
    if coupon.is_active:
        return
    why = "is archived" if coupon.state == "archived" else "is still being made at the processor; try again in a minute"
    raise Refused(409, "invalid_status_transition", f"The coupon {why}.")


def change(coupon: CampaignCoupon, changes: Mapping[str, Any], *, now: datetime) -> CampaignCoupon:
    """Change a locked coupon. `changes` is `CampaignCouponChanges` loaded.

    Whoever is taken off the allow-list loses the codes that they minted themselves.
    Raises Refused 400 invalid_request for affiliates of another program.
    """
    columns = {name: value for name, value in changes.items() if name != "granted_affiliate_ids"}
    changed = campaign_coupons.change(coupon, columns)
    removed, added = _regrant(coupon, changes.get("granted_affiliate_ids"), now=now)
    if changed == coupon and not removed and not added:
        return coupon
    changed = campaign_coupons.change(changed, {"updated_at": now})
    if removed:
        ending.revoke_minted_by(changed, removed, now=now)
    emit.event(
        organization_id=changed.organization_id,
        type="campaign_coupon.updated",
        data=coupon_events.campaign_updated(changed, granted=len(campaign_coupons.granted(changed))),
        at=now,
    )
    return changed


def archive(coupon: CampaignCoupon, *, now: datetime) -> CampaignCoupon:
    """End a locked coupon and all its codes; jobs end them at their gateways, and the last one tells the brand."""
    ended = ending.revoke_all(coupon, now=now)
    archived = campaign_coupons.change(
        coupon, {"state": "archived", "archived_at": now, "updated_at": now, "archived_codes": len(ended)}
    )
    ending.tell_when_done(archived, now=now)
    return archived


def delete(coupon: CampaignCoupon, *, now: datetime) -> None:
    """Delete a locked coupon that never had a code, here and by a job at the processor.

    Raises Refused: 409 invalid_status_transition while it is being made; 422 has_affiliate_coupons.
    """
    if coupon.state == "minting":
        require_active(coupon)
    if affiliate_coupons.has_any(organization_id=coupon.organization_id, coupon_id=coupon.id):
        message = "Affiliates have or had codes of this coupon, so it stays; archive it (POST …/archive) instead."
        raise Refused(422, "has_affiliate_coupons", message)
    campaign_coupons.stage_remove(coupon)
    work.enqueue(
        jobs.COUPON_DELETE,
        organization_id=coupon.organization_id,
        connection_id=coupon.connection_id,
        processor_coupon_id=coupon.processor_coupon_id,
        deleted_at=now.isoformat(),
    )
    emit.event(
        organization_id=coupon.organization_id,
        type="campaign_coupon.deleted",
        data=coupon_events.campaign_deleted(coupon),
        at=now,
    )


def _affiliates_of(organization_id: UUID, program_id: UUID, wanted: Sequence[UUID]) -> list[UUID]:
    asked = list(dict.fromkeys(wanted))
    if not asked:
        return []
    known = campaign_coupons.of_program(organization_id=organization_id, program_id=program_id, affiliate_ids=asked)
    for affiliate_id in asked:
        if affiliate_id not in known:
            message = f"{affiliate_id} is no affiliate of this program."
            raise Refused(400, "invalid_request", message, field="grantedAffiliateIds")
    return asked


def _regrant(coupon: CampaignCoupon, wanted: Sequence[UUID] | None, *, now: datetime) -> tuple[list[UUID], list[UUID]]:
    """Set who may mint, where that was said; return who may not any more, and who may now."""
    if wanted is None:
        return [], []
    before = campaign_coupons.granted(coupon)
    new = [one for one in wanted if one not in before]
    added = _affiliates_of(coupon.organization_id, coupon.program_id, new)
    removed = sorted(before - set(wanted))
    if added:
        campaign_coupons.stage_grants(coupon.id, coupon.organization_id, added, at=now)
    if removed:
        campaign_coupons.stage_ungranted(coupon, removed)
    return removed, added


def may_mint_themselves(coupon: CampaignCoupon, affiliate_id: UUID) -> None:
    """Raise Refused 403 self_mint_disabled or not_granted unless an affiliate may mint codes of a coupon themselves."""
    if coupon.self_mint_mode == SelfMintMode.Disabled:
        raise Refused(403, "self_mint_disabled", "The brand makes the codes of this coupon.")
    if coupon.self_mint_mode == SelfMintMode.SpecificAffiliates and affiliate_id not in campaign_coupons.granted(
        coupon
    ):
        raise Refused(403, "not_granted", "The brand lets other affiliates mint codes of this coupon; ask them.")


@dataclass(frozen=True, slots=True)
class DoomedCoupon:
    """A coupon that is deleted here and about to be deleted at the processor; `deleted_at` is when it was here."""

    place: MintingPlace
    processor_coupon_id: str
    deleted_at: datetime


def prepare_delete(
    *, organization_id: UUID, connection_id: UUID, processor_coupon_id: str, deleted_at: datetime, now: datetime
) -> DoomedCoupon | None:
    """Return what is to be deleted at the processor; None where it is no longer connected."""
    place = places.acting(organization_id, connection_id, now=now)
    return DoomedCoupon(place, processor_coupon_id, deleted_at) if place else None


def delete_there(doomed: DoomedCoupon) -> bool:
    """Delete a coupon at the processor; False when it has to be tried again. Calls the gateway."""
    try:
        registry.processor().delete(doomed.place.account, doomed.processor_coupon_id)
        return True
    except (CredentialsRefused, GatewayRejected, GatewayUnreachable):
        return False
