"""Codes of one affiliate: the brand mints, registers and revokes them.

Source: tracking spec, "Affiliate coupon", "Coupons".
"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.coupons import code_requests
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.edge.relay_waker import wake_relay
from domain.coupons.discounts import CodeOrigin
from domain.organization import plans
from domain.refusals import not_found
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
    object_of(code_requests.RECORD),
    status=201,
    takes=AffiliateCouponBody(),
    refuses=(*code_requests.MINT_REFUSALS, "422 storefront_reconnect_required"),
)
def create_affiliate_coupon(affiliate_id: str) -> Response:
    """Mint a code for an affiliate, at the brand's store or its processor. 201 with the code.

    With `campaignCouponId` it has that coupon's discount. Without it, `discountType` and `discountValue` set the
    discount on one payment; the code is minted at the store or another gateway, not at stripe, and wins over clicks.
    With `external` the code exists elsewhere and is only registered: it credits the affiliate, wins over clicks and
    has no cap. After a 503 it may exist: repeat the request, or look at the list in a minute.
    """
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        affiliate = _find(wanted_id)
    requested = body.load()
    if requested["external"]:
        return idempotency.run_once(lambda: _register(affiliate, requested["code"], requested["campaign_coupon_id"]))
    replay = idempotency.find_replay()
    if replay is not None:
        return replay
    code = minting.RequestedCode(
        id=idempotency.stable_id(),
        coupon_id=requested["campaign_coupon_id"],
        text=requested["code"],
        origin=CodeOrigin.Brand,
        discount=requested["discount"],
    )
    return code_requests.mint(affiliate, code)


def _register(affiliate: Affiliate, text: str | None, coupon_id: UUID | None) -> idempotency.Answer:
    now = clock.now()
    code = minting.register(affiliate, text=text, coupon_id=coupon_id, now=now)
    record = code_requests.RECORD.dump(code)
    audit.record("affiliate_coupon.created", code.id, after=record, now=now)
    return 201, record


@blueprint.get(_CODES)
@operation(_READ, page(code_requests.RECORD), asks=PageQuery(), refuses=("404 not_found",), may_lag="answer")
def list_affiliate_coupons(affiliate_id: str) -> Mapping[str, object]:
    """List an affiliate's codes, revoked ones too, newest first."""
    wanted_id, page_request = path.uuid(affiliate_id, "affiliate"), paging.read_page_request(body.query())
    with db.unit_of_work(guards.organization_id()):
        _find(wanted_id)
        rows = affiliate_coupons.page(
            organization_id=guards.organization_id(), affiliate_id=wanted_id, **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda page: [code_requests.RECORD.dump(row) for row in page])


@blueprint.delete(f"{_CODES}/<code_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def revoke_affiliate_coupon(affiliate_id: str, code_id: str) -> Response:
    """Revoke a code here and where it was minted; its text can be used again. 204."""
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
        audit.record("affiliate_coupon.revoked", revoked.id, after=code_requests.RECORD.dump(revoked), now=now)
    code_requests.end(organization_id, revoked.id)
    wake_relay()
    return Response(status=204)


def _find(affiliate_id: UUID) -> Affiliate:
    affiliate = affiliates.find(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
    if affiliate is None:
        raise not_found("affiliate", affiliate_id)
    return affiliate
