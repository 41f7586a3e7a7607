"""Codes of one affiliate, as the brand mints, registers and revokes them.

Source: tracking spec, "Affiliate coupon", "Coupons".
"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.coupons import view
from api.edge import answers, audit, body, paging, path
from api.edge.operations import one, operation, page
from api.edge.wake import wake_relay
from domain.coupons.discounts import CodeOrigin
from domain.organization import plans
from domain.refused import not_found
from models import db
from models.affiliates import affiliates
from models.affiliates.affiliates import Affiliate
from models.coupons import affiliate_coupons
from pipelines.coupons import minting, revocation
from schemas.coupons.code import AffiliateCouponBody
from schemas.paging import PageQuery

blueprint = Blueprint("affiliate_coupons", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter, plan_for_people=True)
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter, plan_for_people=True)
_CODES = "/api/v1/affiliates/<affiliate_id>/coupons"


@blueprint.post(_CODES)
@operation(
    _WRITE,
    one(view.RECORD),
    status=201,
    takes=AffiliateCouponBody(),
    refuses=(*view.MINT_REFUSALS, "422 storefront_reconnect_required"),
)
def create_affiliate_coupon(affiliate_id: str) -> Response:
    """Mint a code for an affiliate, at the brand's store or its processor. 201 with it.

    With `campaignCouponId` it takes off what that coupon does. Without it, `discountType` and `discountValue` say what
    it takes off one payment; it is minted at the store or another gateway, not at stripe, and wins over clicks.
    With `external` the code was made elsewhere and is only registered: it credits the affiliate, wins over clicks and
    has no cap. After a 503 it may have been made: repeat the request, or look at the list in a minute.
    """
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        affiliate = _find(wanted_id)
    sent = body.load()
    if sent["external"]:
        return answers.once(lambda: _register(affiliate, sent["code"], sent["campaign_coupon_id"]))
    repeated = answers.repeated()
    if repeated is not None:
        return repeated
    wanted = minting.RequestedCode(
        id=answers.made_id(),
        coupon_id=sent["campaign_coupon_id"],
        text=sent["code"],
        origin=CodeOrigin.Brand,
        discount=sent["discount"],
    )
    return view.minted(affiliate, wanted)


def _register(affiliate: Affiliate, text: str | None, coupon_id: UUID | None) -> answers.Answer:
    now = clock.now()
    made = minting.register(affiliate, text=text, coupon_id=coupon_id, now=now)
    shown = view.RECORD.dump(made)
    audit.record("affiliate_coupon.created", made.id, after=shown, now=now)
    return 201, shown


@blueprint.get(_CODES)
@operation(_READ, page(view.RECORD), asks=PageQuery(), refuses=("404 not_found",), may_lag="answer")
def list_affiliate_coupons(affiliate_id: str) -> Mapping[str, object]:
    """List an affiliate's codes, revoked ones too, newest first."""
    wanted_id, asked = path.uuid(affiliate_id, "affiliate"), paging.wanted(body.query())
    with db.unit_of_work(guards.organization_id()):
        _find(wanted_id)
        rows = affiliate_coupons.page(
            organization_id=guards.organization_id(), affiliate_id=wanted_id, after=asked.after, limit=asked.limit
        )
    return paging.envelope(asked, rows, lambda page: [view.RECORD.dump(row) for row in page])


@blueprint.delete(f"{_CODES}/<code_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def revoke_affiliate_coupon(affiliate_id: str, code_id: str) -> Response:
    """Revoke a code: it ends here and where it was minted, and its text is free again. 204."""
    organization_id, now = guards.organization_id(), clock.now()
    wanted_id, wanted_code = path.uuid(affiliate_id, "affiliate"), path.uuid(code_id, "code")
    with db.unit_of_work(organization_id):
        _find(wanted_id)
        revoked = revocation.revoke(
            organization_id=organization_id,
            code_id=wanted_code,
            affiliate_id=wanted_id,
            by_affiliate=False,
            now=now,
        )
        audit.record("affiliate_coupon.revoked", revoked.id, after=view.RECORD.dump(revoked), now=now)
    view.end(organization_id, revoked.id)
    wake_relay()
    return Response(status=204)


def _find(affiliate_id: UUID) -> Affiliate:
    found = affiliates.find(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
    if found is None:
        raise not_found("affiliate", affiliate_id)
    return found
