"""Coupons, which are families of codes: created at the processor, changed in our database, archived with their codes,
deleted while they have none.

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
from domain.refusals import Refused, not_found
from domain.webhooks import coupon_events
from models import ids
from models.coupons import affiliate_coupons, campaign_coupons
from models.coupons.campaign_coupons import CampaignCoupon, CountedCoupon
from models.gateways import connections
from pipelines import work
from pipelines.coupons import calls, places, revocation
from pipelines.coupons.calls import GatewayResult
from pipelines.coupons.places import MintingPlace
from pipelines.programs import home_rate, lifecycle
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class StartedFamily:
    """A coupon in state "minting", and where it is created; `is_retry`: an earlier call may have created it."""

    coupon: CampaignCoupon
    place: MintingPlace
    is_retry: bool = False


def start(
    *,
    organization_id: UUID,
    program_id: UUID,
    coupon_id: UUID,
    body: Mapping[str, Any],
    now: datetime,
    created_by: UUID | None = None,
) -> StartedFamily:
    """Write a coupon that is about to be created. `body` is `schemas.coupons.campaign.CampaignCouponBody` loaded,
    `created_by` the member who creates it, if any.

    If it was started with this id less than an hour ago, that one is continued.
    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived program; 400 invalid_request; what
    `terms.check_rate` raises; 422 processor_not_connected.
    """
    program = lifecycle.lock_unarchived(organization_id=organization_id, program_id=program_id)
    started = campaign_coupons.find(organization_id=organization_id, coupon_id=coupon_id)
    if (
        started is not None
        and started.program_id == program_id
        and now - started.created_at < places.IDEMPOTENCY_WINDOW
    ):
        place = places.find_by_connection(organization_id, started.connection_id, now=now)
        if place is None:
            raise places.not_connected_refusal()
        return StartedFamily(started, place, is_retry=True)
    if started is not None:
        coupon_id = ids.new_id()  # the hour has passed: this is another request
    _check_terms(organization_id, program.default_commission_model, body, now)
    granted = _check_affiliates(organization_id, program_id, body["granted_affiliate_ids"])
    place = places.find_for_family(organization_id, now=now)
    columns = {name: value for name, value in body.items() if name != "granted_affiliate_ids"}
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
    work.enqueue(
        jobs.COUPON_MAKE, organization_id=organization_id, run_at=now + places.REQUEST_TIME, coupon_id=coupon_id
    )
    coupon = campaign_coupons.find(organization_id=organization_id, coupon_id=coupon_id)
    assert coupon is not None  # it was just inserted
    return StartedFamily(coupon, place)


def _check_terms(organization_id: UUID, model: str, body: Mapping[str, Any], now: datetime) -> None:
    if body["expires_at"] is not None and body["expires_at"] <= now:
        raise Refused(400, "invalid_request", "expiresAt must be in the future.", field="expiresAt")
    if body["commission_type"] is not None:
        terms.check_rate(
            model=model,
            type=body["commission_type"],
            value=body["commission_value"],
            home=home_rate.find(organization_id),
            prefix="",
        )


def resume(*, organization_id: UUID, coupon_id: UUID, now: datetime) -> StartedFamily | None:
    """Return a coupon whose creation is unfinished; None if nothing is left to do."""
    coupon = campaign_coupons.lock(organization_id=organization_id, coupon_id=coupon_id)
    if coupon is None or coupon.state != "minting":
        return None
    place = places.find_by_connection(organization_id, coupon.connection_id, now=now)
    if place is None:  # its connection has ended: it can no longer be created
        campaign_coupons.stage_remove(coupon)
        return None
    return StartedFamily(coupon, place, is_retry=True)


def create_at_processor(started: StartedFamily) -> GatewayResult:
    """Create a coupon at the processor, once. Calls the gateway."""
    if started.coupon.processor_coupon_id is not None:
        return GatewayResult(started.coupon.processor_coupon_id)
    rail, account, order = registry.processor(), started.place.account, places.family_order(started.coupon)
    return calls.create_at_gateway(
        started.place,
        lambda: rail.create_coupon(account, order),
        lambda: rail.find_coupon(account, order),
        is_retry=started.is_retry,
    )


def settle(
    started: StartedFamily, result: GatewayResult, *, now: datetime, on_active: Callable[[CampaignCoupon], None]
) -> CampaignCoupon | None:
    """Record the result: active with its event, removed (None), or still minting.

    `on_active` is called with a coupon that this call activates, for the audit log.
    """
    before = started.coupon
    coupon = campaign_coupons.lock(organization_id=before.organization_id, coupon_id=before.id)
    if coupon is None or coupon.state != "minting":
        return coupon
    if result.credentials_refused:
        connections.stage_refusal(
            organization_id=coupon.organization_id,
            connection_id=started.place.connection.id,
            why=result.message,
            at=now,
        )
    if result.refusal is not None:
        campaign_coupons.stage_remove(coupon)
        return None
    if result.gateway_id is None:
        return coupon
    active = campaign_coupons.change(coupon, {"state": "active", "processor_coupon_id": result.gateway_id})
    granted = len(campaign_coupons.list_granted(active))
    emit.event(
        organization_id=active.organization_id,
        type="campaign_coupon.created",
        data=coupon_events.campaign_created(active, granted=granted),
        at=now,
    )
    on_active(active)
    return active


def finish(started: StartedFamily, result: GatewayResult, *, now: datetime) -> datetime | None:
    """Record the result, and return when to try again; None if it is final."""
    after = settle(started, result, now=now, on_active=lambda coupon: _stage_audit(coupon, now))
    if after is not None and after.state == "minting":
        return places.next_retry_at(after.created_at, now)
    return None


def _stage_audit(coupon: CampaignCoupon, now: datetime) -> None:
    calls.stage_audit(
        "campaign_coupon.created",
        organization_id=coupon.organization_id,
        entity_id=coupon.id,
        after=coupon_events.campaign_created(coupon, granted=len(campaign_coupons.list_granted(coupon))),
        now=now,
    )


def find(*, organization_id: UUID, program_id: UUID, coupon_id: UUID) -> CountedCoupon:
    """Return a coupon of a program with its counts. Raises Refused 404 not_found."""
    coupon = campaign_coupons.find_counted(organization_id=organization_id, program_id=program_id, coupon_id=coupon_id)
    if coupon is None:
        raise not_found("coupon", coupon_id)
    return coupon


def lock(*, organization_id: UUID, program_id: UUID, coupon_id: UUID) -> CampaignCoupon:
    """Return an active coupon of a program, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for one that is archived or still being created.
    """
    coupon = campaign_coupons.lock(organization_id=organization_id, coupon_id=coupon_id)
    if coupon is None or coupon.program_id != program_id:
        raise not_found("coupon", coupon_id)
    check_active(coupon)
    return coupon


def check_active(coupon: CampaignCoupon) -> None:
    """Raise Refused 409 invalid_status_transition unless codes can be minted from a coupon."""
    if coupon.is_active:
        return
    why = (
        "is archived"
        if coupon.state == "archived"
        else "is still being created at the processor; try again in a minute"
    )
    raise Refused(409, "invalid_status_transition", f"The coupon {why}.")


def change(coupon: CampaignCoupon, changes: Mapping[str, Any], *, now: datetime) -> CampaignCoupon:
    """Change a locked coupon. `changes` is `CampaignCouponChanges` loaded.

    An affiliate who is removed from the allow-list loses the codes that they minted themselves.
    Raises Refused 400 invalid_request for affiliates of another program.
    """
    columns = {name: value for name, value in changes.items() if name != "granted_affiliate_ids"}
    changed = campaign_coupons.change(coupon, columns)
    removed, added = _set_grants(coupon, changes.get("granted_affiliate_ids"), now=now)
    if changed == coupon and not removed and not added:
        return coupon
    changed = campaign_coupons.change(changed, {"updated_at": now})
    if removed:
        revocation.revoke_minted_by(changed, removed, now=now)
    emit.event(
        organization_id=changed.organization_id,
        type="campaign_coupon.updated",
        data=coupon_events.campaign_updated(changed, granted=len(campaign_coupons.list_granted(changed))),
        at=now,
    )
    return changed


def archive(coupon: CampaignCoupon, *, now: datetime) -> CampaignCoupon:
    """Archive a locked coupon and revoke all its codes; jobs switch them off, and the last one emits the event."""
    codes = revocation.revoke_all(coupon, now=now)
    archived = campaign_coupons.change(
        coupon, {"state": "archived", "archived_at": now, "updated_at": now, "archived_codes": len(codes)}
    )
    revocation.emit_when_done(archived, now=now)
    return archived


def delete(coupon: CampaignCoupon, *, now: datetime) -> None:
    """Delete a locked coupon that never had a code; a job deletes it at the processor.

    Raises Refused: 409 invalid_status_transition while it is being created; 422 has_affiliate_coupons.
    """
    if coupon.state == "minting":
        check_active(coupon)
    if affiliate_coupons.has_any(organization_id=coupon.organization_id, coupon_id=coupon.id):
        message = "This coupon has or had codes, so it cannot be deleted; archive it (POST …/archive) instead."
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


def _check_affiliates(organization_id: UUID, program_id: UUID, affiliate_ids: Sequence[UUID]) -> list[UUID]:
    unique_ids = list(dict.fromkeys(affiliate_ids))
    if not unique_ids:
        return []
    ids_of_program = campaign_coupons.filter_by_program(
        organization_id=organization_id, program_id=program_id, affiliate_ids=unique_ids
    )
    for affiliate_id in unique_ids:
        if affiliate_id not in ids_of_program:
            message = f"{affiliate_id} is not an affiliate of this program."
            raise Refused(400, "invalid_request", message, field="grantedAffiliateIds")
    return unique_ids


def _set_grants(
    coupon: CampaignCoupon, affiliate_ids: Sequence[UUID] | None, *, now: datetime
) -> tuple[list[UUID], list[UUID]]:
    """Set who may mint codes, if given; return the affiliates removed and those added."""
    if affiliate_ids is None:
        return [], []
    before = campaign_coupons.list_granted(coupon)
    new = [affiliate_id for affiliate_id in affiliate_ids if affiliate_id not in before]
    added = _check_affiliates(coupon.organization_id, coupon.program_id, new)
    removed = sorted(before - set(affiliate_ids))
    if added:
        campaign_coupons.stage_grants(coupon.id, coupon.organization_id, added, at=now)
    if removed:
        campaign_coupons.stage_revoke_grants(coupon, removed)
    return removed, added


def check_self_mint(coupon: CampaignCoupon, affiliate_id: UUID) -> None:
    """Raise Refused 403 self_mint_disabled or not_granted unless an affiliate may mint codes of a coupon themselves."""
    if coupon.self_mint_mode == SelfMintMode.Disabled:
        raise Refused(403, "self_mint_disabled", "Only the brand creates codes of this coupon.")
    if coupon.self_mint_mode == SelfMintMode.SpecificAffiliates and affiliate_id not in campaign_coupons.list_granted(
        coupon
    ):
        raise Refused(403, "not_granted", "You may not create codes of this coupon; ask the brand for access.")


@dataclass(frozen=True, slots=True)
class DeletedCoupon:
    """A deleted coupon that is about to be deleted at the processor; `deleted_at` is the time in our database."""

    place: MintingPlace
    processor_coupon_id: str
    deleted_at: datetime


def prepare_delete(
    *, organization_id: UUID, connection_id: UUID, processor_coupon_id: str, deleted_at: datetime, now: datetime
) -> DeletedCoupon | None:
    """Return the coupon to delete at the processor; None if it is no longer connected."""
    place = places.find_by_connection(organization_id, connection_id, now=now)
    return DeletedCoupon(place, processor_coupon_id, deleted_at) if place else None


def delete_at_processor(deleted: DeletedCoupon) -> bool:
    """Delete a coupon at the processor; return False if it has to be tried again. Calls the gateway."""
    try:
        registry.processor().delete_coupon(deleted.place.account, deleted.processor_coupon_id)
        return True
    except (CredentialsRefused, GatewayRejected, GatewayUnreachable):
        return False
