"""Revocation of codes: at once in our database, so that the text is free, and by a job at the gateway.

Source: tracking spec, section 3 "States and transitions" (campaign coupon, affiliate coupon).
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters.coupons import registry
from adapters.gateways.base import CredentialsRefused, GatewayRejected, GatewayUnreachable
from domain import jobs
from domain.coupons.discounts import CodeStatus
from domain.gateways.facts import UnreadableEvent
from domain.refusals import not_found
from domain.webhooks import coupon_events
from models.coupons import affiliate_coupons, campaign_coupons
from models.coupons.affiliate_coupons import AffiliateCoupon
from models.coupons.campaign_coupons import CampaignCoupon
from pipelines import work
from pipelines.coupons import places
from pipelines.coupons.places import MintingPlace
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class RevokedCode:
    """A revoked code that is about to be switched off at its gateway."""

    code: AffiliateCoupon
    family: CampaignCoupon | None
    place: MintingPlace


@dataclass(frozen=True, slots=True)
class SwitchOffResult:
    """Whether a code was switched off at its gateway, and its id there if it had to be looked up.

    `is_id_free` means that another code may get this id there from now on.
    """

    is_done: bool
    minted_id: str | None = None
    is_id_free: bool = False


def revoke(
    *, organization_id: UUID, code_id: UUID, affiliate_id: UUID, by_affiliate: bool, now: datetime
) -> AffiliateCoupon:
    """Revoke an affiliate's code, with its event; a job switches it off at its gateway unless the caller does.

    Raises Refused 404 not_found, also for one that is revoked already.
    """
    code = affiliate_coupons.lock(organization_id=organization_id, code_id=code_id)
    if code is None or code.affiliate_id != affiliate_id or code.status == CodeStatus.Revoked:
        raise not_found("code", code_id)
    is_external = code.connection_id is None
    revoked = affiliate_coupons.change(
        code,
        {
            "status": CodeStatus.Revoked.value,
            "revoked_at": now,
            "switched_off_at": now if is_external else None,
        },
    )
    _emit_revoked(revoked, by_affiliate=by_affiliate, now=now)
    if not is_external:
        _enqueue([revoked], run_at=now + places.REQUEST_TIME)
    return revoked


def revoke_minted_by(coupon: CampaignCoupon, affiliate_ids: list[UUID], *, now: datetime) -> None:
    """Revoke the codes of a locked family that these affiliates minted themselves, with one event and one job each."""
    revoked = affiliate_coupons.revoke_family(
        organization_id=coupon.organization_id, coupon_id=coupon.id, minted_by=affiliate_ids, at=now
    )
    _stage_ends(revoked, now=now)


def revoke_owned(*, organization_id: UUID, affiliate_ids: list[UUID], now: datetime) -> None:
    """Revoke the codes of affiliates who are deleted, with one event and one job each."""
    revoked = affiliate_coupons.revoke_owned(organization_id=organization_id, affiliate_ids=affiliate_ids, at=now)
    _stage_ends(revoked, now=now)


def revoke_all(coupon: CampaignCoupon, *, now: datetime) -> list[AffiliateCoupon]:
    """Revoke all codes of a locked family; one job each switches them off at their gateways."""
    revoked = affiliate_coupons.revoke_family(
        organization_id=coupon.organization_id, coupon_id=coupon.id, minted_by=None, at=now
    )
    _enqueue([code for code in revoked if code.switched_off_at is None])
    return revoked


def record_late_mint(code: AffiliateCoupon, minted_id: str) -> None:
    """Record that a revoked code was minted after all; a job switches it off at its gateway."""
    changed = affiliate_coupons.change(code, {"processor_promotion_code_id": minted_id, "switched_off_at": None})
    _enqueue([changed])


def prepare(*, organization_id: UUID, code_id: UUID, now: datetime) -> RevokedCode | None:
    """Return a revoked code that is not switched off at its gateway; None if nothing is left to do."""
    code = affiliate_coupons.find(organization_id=organization_id, code_id=code_id)
    if code is None or code.status != CodeStatus.Revoked or code.switched_off_at is not None:
        return None
    assert code.connection_id is not None  # codes made elsewhere ended when they were revoked
    place = places.find_by_connection(organization_id, code.connection_id, now=now)
    family = None
    if code.campaign_coupon_id is not None:
        family = campaign_coupons.find(organization_id=organization_id, coupon_id=code.campaign_coupon_id)
        assert family is not None  # a family with codes is never deleted
    if place is None:  # disconnected: only the brand can switch it off there
        _record_end(code, SwitchOffResult(is_done=True), now=now)
        return None
    return RevokedCode(code, family, place)


def switch_off(revoked: RevokedCode) -> SwitchOffResult:
    """Switch a code off at its gateway. Calls the gateway."""
    rail, account = revoked.place.rail, revoked.place.account
    order = places.code_order(revoked.code, revoked.family)
    try:
        minted_id = revoked.code.processor_promotion_code_id or rail.find_code(account, order)
        if minted_id is not None:
            rail.deactivate(account, order, minted_id)
        is_id_free = rail.gateway in registry.NAMED_BY_TEXT and rail.find_code(account, order) is None
        return SwitchOffResult(is_done=True, minted_id=minted_id, is_id_free=is_id_free)
    except (CredentialsRefused, GatewayRejected, GatewayUnreachable, UnreadableEvent):
        return SwitchOffResult(is_done=False)


def record(revoked: RevokedCode, result: SwitchOffResult, *, now: datetime) -> datetime | None:
    """Record that a code was switched off and return None, or return when to try again."""
    if result.is_done:
        _record_end(revoked.code, result, now=now)
        return None
    revoked_at = revoked.code.revoked_at
    assert revoked_at is not None
    return places.next_retry_at(revoked_at, now)


def emit_when_done(coupon: CampaignCoupon, *, now: datetime) -> None:
    """Emit the event of a locked, archived family once, when the last of its codes is switched off."""
    if coupon.archived_at is None or coupon.archive_told_at is not None:
        return
    if affiliate_coupons.is_ending(organization_id=coupon.organization_id, coupon_id=coupon.id):
        return
    campaign_coupons.change(coupon, {"archive_told_at": now})
    emit.event(
        organization_id=coupon.organization_id,
        type="campaign_coupon.deactivated",
        data=coupon_events.campaign_deactivated(coupon),
        at=now,
    )


def _record_end(code: AffiliateCoupon, result: SwitchOffResult, *, now: datetime) -> None:
    family = None
    if code.campaign_coupon_id is not None:
        family = campaign_coupons.lock(organization_id=code.organization_id, coupon_id=code.campaign_coupon_id)
    locked = affiliate_coupons.lock(organization_id=code.organization_id, code_id=code.id)
    if locked is None or locked.switched_off_at is not None:
        return
    known_id = result.minted_id or code.processor_promotion_code_id
    if locked.processor_promotion_code_id not in (None, known_id):
        return  # it was minted after all; the job for that switches it off
    # A later payment with a reused id must not be credited to this code.
    stored_id = None if result.is_id_free else known_id
    affiliate_coupons.change(locked, {"switched_off_at": now, "processor_promotion_code_id": stored_id})
    if family is not None:
        emit_when_done(family, now=now)


def _emit_revoked(code: AffiliateCoupon, *, by_affiliate: bool, now: datetime) -> None:
    verb, build_data = (
        ("revoked", coupon_events.code_revoked) if by_affiliate else ("deactivated", coupon_events.code_deactivated)
    )
    emit.event(organization_id=code.organization_id, type=f"affiliate_coupon.{verb}", data=build_data(code), at=now)


def _stage_ends(revoked: list[AffiliateCoupon], *, now: datetime) -> None:
    if not revoked:
        return
    emit.events_of_type(
        organization_id=revoked[0].organization_id,
        type="affiliate_coupon.deactivated",
        data=map(coupon_events.code_deactivated, revoked),
        at=now,
    )
    _enqueue([code for code in revoked if code.switched_off_at is None])


def _enqueue(codes: list[AffiliateCoupon], *, run_at: datetime | None = None) -> None:
    if codes:
        work.enqueue_all(
            jobs.CODE_SWITCH_OFF,
            organization_id=codes[0].organization_id,
            fair_key=f"codes {codes[0].organization_id}",  # payments never wait for the end of thousands of codes
            run_at=run_at,
            args=[{"code_id": code.id} for code in codes],
        )
