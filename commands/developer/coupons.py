"""Triggers the events of coupons, at the gateway of the demo's second brand or at one in test mode.

A code of a live gateway is worth money, so none is created there.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from uuid import UUID

import settings
from adapters import clock
from commands.demo import loopback
from commands.developer import targets
from commands.developer.targets import TriggerTarget
from domain.coupons.discounts import CodeOrigin
from domain.refusals import Refused
from models import db, ids
from models.affiliates import affiliates
from models.coupons.affiliate_coupons import AffiliateCoupon
from models.coupons.campaign_coupons import CampaignCoupon
from pipelines.coupons import calls, families, minting, revocation
from pipelines.coupons.minting import RequestedCode
from pipelines.coupons.places import MintingPlace
from schemas.coupons.campaign import CampaignCouponBody

_TERMS = {
    "name": "Made by flask trigger",
    "discountType": "PercentOff",
    "discountValue": 15,
    "duration": "Once",
    "selfMintMode": "AllAffiliates",
}


def _create_coupon(target: TriggerTarget) -> UUID:
    return _create_family(target).id


def _update_coupon(target: TriggerTarget) -> UUID:
    return _change_coupon(
        target, _create_family(target), lambda coupon: families.change(coupon, {"name": "Renamed"}, now=clock.now())
    )


def _archive_coupon(target: TriggerTarget) -> UUID:
    """Archive a coupon with a code; the event follows when workers have deactivated the code at the gateway."""
    coupon = _create_family(target)
    _mint_code(target, coupon, CodeOrigin.Brand)
    return _change_coupon(target, coupon, lambda locked: families.archive(locked, now=clock.now()))


def _delete_coupon(target: TriggerTarget) -> UUID:
    return _change_coupon(target, _create_family(target), lambda coupon: families.delete(coupon, now=clock.now()))


def _create_code(target: TriggerTarget) -> UUID:
    return _mint_code(target, _create_family(target), CodeOrigin.SelfMinted).id


def _code_revoker(*, by_affiliate: bool) -> Callable[[TriggerTarget], UUID]:
    def make(target: TriggerTarget) -> UUID:
        code = _mint_code(target, _create_family(target), CodeOrigin.SelfMinted if by_affiliate else CodeOrigin.Brand)
        with db.unit_of_work(target.id):
            revocation.revoke(
                organization_id=target.id,
                code_id=code.id,
                affiliate_id=code.affiliate_id,
                by_affiliate=by_affiliate,
                now=clock.now(),
            )
        return code.id

    return make


#: Function that triggers each coupon event and returns the id of the coupon or code. Raises Refused.
MAKERS: Mapping[str, Callable[[TriggerTarget], UUID]] = MappingProxyType(
    {
        "campaign_coupon.created": _create_coupon,
        "campaign_coupon.updated": _update_coupon,
        "campaign_coupon.deactivated": _archive_coupon,
        "campaign_coupon.deleted": _delete_coupon,
        "affiliate_coupon.created": _create_code,
        "affiliate_coupon.deactivated": _code_revoker(by_affiliate=False),
        "affiliate_coupon.revoked": _code_revoker(by_affiliate=True),
    }
)


def _create_family(target: TriggerTarget) -> CampaignCoupon:
    loopback.use_simulated_gateway()
    program_id = targets.find_seller(target).program_id
    with db.unit_of_work(target.id):
        started = families.start(
            organization_id=target.id,
            program_id=program_id,
            coupon_id=ids.new_id(),
            body=CampaignCouponBody().load(_TERMS),
            now=clock.now(),
        )
        _require_worthless_codes(target, started.place)
    result = families.create_at_processor(started)
    with db.unit_of_work(target.id):
        settled = families.settle(started, result, now=clock.now(), on_active=_skip_audit)
    if settled is None or result.gateway_id is None:
        raise result.refusal or calls.unreachable_refusal(started.place)
    return settled


def _mint_code(target: TriggerTarget, coupon: CampaignCoupon, origin: CodeOrigin) -> AffiliateCoupon:
    """Mint a code for a new test affiliate."""
    affiliate_id = targets.add_affiliate(target, coupon.program_id, is_test=target.is_for_test)
    with db.unit_of_work(target.id):
        affiliate = affiliates.find(organization_id=target.id, affiliate_id=affiliate_id)
        assert affiliate is not None  # they have just joined
        code = RequestedCode(id=ids.new_id(), coupon_id=coupon.id, text=None, origin=origin)
        started = minting.start(affiliate, code, now=clock.now())
        _require_worthless_codes(target, started.place)
    result = minting.mint(started)
    with db.unit_of_work(target.id):
        settled = minting.settle(started, result, now=clock.now(), on_active=_skip_audit)
    if settled is None or result.gateway_id is None:
        raise result.refusal or calls.unreachable_refusal(started.place)
    return settled


def _change_coupon(target: TriggerTarget, coupon: CampaignCoupon, act: Callable[[CampaignCoupon], object]) -> UUID:
    with db.unit_of_work(target.id):
        act(families.lock(organization_id=target.id, program_id=coupon.program_id, coupon_id=coupon.id))
    return coupon.id


def _skip_audit(result: object) -> None:
    """Write no audit entry: the command writes one with the event that it triggered."""


def _require_worthless_codes(target: TriggerTarget, place: MintingPlace) -> None:
    connection = place.connection
    is_simulated = connection.gateway == loopback.GATEWAY and loopback.is_gateway_called(settings.current())
    if connection.mode == "live" and not is_simulated:
        message = (
            f"Codes of {target.organization.name} at {connection.gateway} are worth real money."
            " Next: connect it in test mode only, or leave out --org to use the demo's"
        )
        raise Refused(409, "", message)
