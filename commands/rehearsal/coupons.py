"""Makes what the events of coupons tell of, at the gateway of the demo's second brand or at one in test mode.

A code of a live gateway is worth money to whoever finds it, so none is made there.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from uuid import UUID

import settings
from adapters import clock
from commands.demo import loopback
from commands.rehearsal import scenes
from commands.rehearsal.scenes import Scene
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


def _created(scene: Scene) -> UUID:
    return _family(scene).id


def _updated(scene: Scene) -> UUID:
    return _changed(scene, _family(scene), lambda coupon: families.change(coupon, {"name": "Renamed"}, now=clock.now()))


def _archived(scene: Scene) -> UUID:
    """Archive a coupon with a code: workers end that at the gateway, and then it is told."""
    coupon = _family(scene)
    _minted(scene, coupon, CodeOrigin.Brand)
    return _changed(scene, coupon, lambda locked: families.archive(locked, now=clock.now()))


def _deleted(scene: Scene) -> UUID:
    return _changed(scene, _family(scene), lambda coupon: families.delete(coupon, now=clock.now()))


def _code_created(scene: Scene) -> UUID:
    return _minted(scene, _family(scene), CodeOrigin.SelfMinted).id


def _code_ended(*, by_affiliate: bool) -> Callable[[Scene], UUID]:
    def make(scene: Scene) -> UUID:
        code = _minted(scene, _family(scene), CodeOrigin.SelfMinted if by_affiliate else CodeOrigin.Brand)
        with db.unit_of_work(scene.id):
            revocation.revoke(
                organization_id=scene.id,
                code_id=code.id,
                affiliate_id=code.affiliate_id,
                by_affiliate=by_affiliate,
                now=clock.now(),
            )
        return code.id

    return make


#: How to make each event of coupons: returns the id of the coupon or code. Raises Refused.
MAKERS: Mapping[str, Callable[[Scene], UUID]] = MappingProxyType(
    {
        "campaign_coupon.created": _created,
        "campaign_coupon.updated": _updated,
        "campaign_coupon.deactivated": _archived,
        "campaign_coupon.deleted": _deleted,
        "affiliate_coupon.created": _code_created,
        "affiliate_coupon.deactivated": _code_ended(by_affiliate=False),
        "affiliate_coupon.revoked": _code_ended(by_affiliate=True),
    }
)


def _family(scene: Scene) -> CampaignCoupon:
    loopback.call_gateway_here()
    program_id = scenes.seller(scene).program_id
    with db.unit_of_work(scene.id):
        begun = families.start(
            organization_id=scene.id,
            program_id=program_id,
            coupon_id=ids.new_id(),
            body=CampaignCouponBody().load(_TERMS),
            now=clock.now(),
        )
        _only_where_codes_are_worth_nothing(scene, begun.place)
    made = families.create_at_processor(begun)
    with db.unit_of_work(scene.id):
        settled = families.settle(begun, made, now=clock.now(), on_active=_unnoted)
    if settled is None or made.gateway_id is None:
        raise made.refusal or calls.unreachable_refusal(begun.place)
    return settled


def _minted(scene: Scene, coupon: CampaignCoupon, origin: CodeOrigin) -> AffiliateCoupon:
    """Mint a code for a new affiliate of our own."""
    affiliate_id = scenes.join(scene, coupon.program_id, is_test=scene.is_for_test)
    with db.unit_of_work(scene.id):
        affiliate = affiliates.find(organization_id=scene.id, affiliate_id=affiliate_id)
        assert affiliate is not None  # they have just joined
        wanted = RequestedCode(id=ids.new_id(), coupon_id=coupon.id, text=None, origin=origin)
        begun = minting.start(affiliate, wanted, now=clock.now())
        _only_where_codes_are_worth_nothing(scene, begun.place)
    made = minting.mint(begun)
    with db.unit_of_work(scene.id):
        settled = minting.settle(begun, made, now=clock.now(), on_active=_unnoted)
    if settled is None or made.gateway_id is None:
        raise made.refusal or calls.unreachable_refusal(begun.place)
    return settled


def _changed(scene: Scene, coupon: CampaignCoupon, act: Callable[[CampaignCoupon], object]) -> UUID:
    with db.unit_of_work(scene.id):
        act(families.lock(organization_id=scene.id, program_id=coupon.program_id, coupon_id=coupon.id))
    return coupon.id


def _unnoted(made: object) -> None:
    """Leave the entry in the audit log to the command, which says what it was triggered for."""


def _only_where_codes_are_worth_nothing(scene: Scene, place: MintingPlace) -> None:
    connection = place.connection
    is_played = connection.gateway == loopback.GATEWAY and loopback.is_gateway_called(settings.current())
    if connection.mode == "live" and not is_played:
        message = (
            f"Codes of {scene.organization.name} are real ones at {connection.gateway}."
            " Next, for some to rehearse with: connect it in test mode alone, or leave out --org for the demo's"
        )
        raise Refused(409, "", message)
