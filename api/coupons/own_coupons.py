"""Codes of the affiliate who signed in, in all their campaigns.

Source: tracking spec, "Coupons" (self-mint).
"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.coupons import code_requests
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import array, object_of, operation, page
from api.edge.relay_waker import wake_relay
from domain.coupons.discounts import CodeOrigin
from domain.refusals import Refused
from domain.statuses import AffiliateStatus
from models import db
from models.affiliates import affiliates, recruits
from models.affiliates.affiliates import Affiliate
from models.coupons import affiliate_coupons, campaign_coupons, self_mint
from pipelines.coupons import minting, revocation
from schemas.coupons.code import MintableCouponRecord, MintBody
from schemas.paging import PageQuery

blueprint = Blueprint("own_coupons", __name__)

_READ = Guard(audience="affiliate")
_WRITE = Guard(audience="affiliate", scope="read_write")
_VERIFIED = Guard(audience="affiliate", verified_email=True)
_MINTABLE = MintableCouponRecord()


@blueprint.post("/api/me/coupons/mint")
@operation(
    _WRITE,
    object_of(code_requests.RECORD),
    status=201,
    takes=MintBody(),
    refuses=(*code_requests.MINT_REFUSALS, "403 affiliate_not_active", "403 self_mint_disabled", "403 not_granted"),
)
def mint_own_coupon() -> Response:
    """Mint a code of a coupon from which the caller may mint. 201 with the code.

    After a 503 it may exist: repeat the request, or look at the list in a minute.
    """
    requested = body.load()
    affiliate = _find_affiliate(requested["campaign_coupon_id"])
    replay = idempotency.find_replay(affiliate.organization_id)
    if replay is not None:
        return replay
    code = minting.RequestedCode(
        id=idempotency.stable_id(affiliate.organization_id),
        coupon_id=requested["campaign_coupon_id"],
        text=requested["code"],
        origin=CodeOrigin.SelfMinted,
    )
    return code_requests.mint(affiliate, code)


def _find_affiliate(coupon_id: UUID) -> Affiliate:
    """Return the caller's affiliate in a coupon's campaign.

    Raises Refused: 404 not_found if they are not in it; 403 affiliate_not_active.
    """
    account_id, email = _caller()
    with db.any_org_work():
        place = campaign_coupons.any_org_find_program(coupon_id)
        seat = (
            recruits.any_org_find_caller_affiliate(program_id=place[1], account_id=account_id, email=email)
            if place
            else None
        )
    if seat is None:
        raise _not_found("coupon", coupon_id)
    if seat.status != AffiliateStatus.Approved:
        message = f"Your status in this program is {seat.status}, not Approved."
        raise Refused(403, "affiliate_not_active", message)
    with db.unit_of_work(seat.organization_id):
        affiliate = affiliates.find(organization_id=seat.organization_id, affiliate_id=seat.affiliate_id)
    if affiliate is None:
        raise _not_found("coupon", coupon_id)
    return affiliate


@blueprint.get("/api/me/coupons")
@operation(_READ, page(code_requests.RECORD), asks=PageQuery(), may_lag="answer")
def list_own_coupons() -> Mapping[str, object]:
    """List the caller's codes in all their campaigns, revoked ones too, newest first."""
    page_request = paging.read_page_request(body.query())
    account_id, email = _caller()
    with db.any_org_work():
        rows = affiliate_coupons.any_org_list_own(account_id=account_id, email=email, **page_request.window)
    return paging.serialize_page(page_request, rows, lambda page: [code_requests.RECORD.dump(row) for row in page])


@blueprint.get("/api/me/coupons/mintable")
@operation(_VERIFIED, array(_MINTABLE))
def list_mintable_coupons() -> Response:
    """List the coupons that the caller may mint codes from, in all their campaigns. Budget: 1 statement."""
    account = guards.account()
    with db.any_org_work():
        coupons = self_mint.any_org_list_mintable(account_id=account.id, email=account.email, now=clock.now())
    return jsonify(_MINTABLE.dump(coupons, many=True))


@blueprint.delete("/api/me/coupons/<code_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def delete_own_coupon(code_id: str) -> Response:
    """Delete one of the caller's codes here and where it was minted. 204."""
    code_uuid, now = path.uuid(code_id, "code"), clock.now()
    account_id, email = _caller()
    with db.any_org_work():
        code = affiliate_coupons.any_org_find_own(account_id=account_id, email=email, code_id=code_uuid)
    if code is None:
        raise _not_found("code", code_uuid)
    with db.unit_of_work(code.organization_id):
        revoked = revocation.revoke(
            organization_id=code.organization_id,
            code_id=code.id,
            affiliate_id=code.affiliate_id,
            by_affiliate=True,
            now=now,
        )
        audit.record(
            "affiliate_coupon.revoked",
            revoked.id,
            after=code_requests.RECORD.dump(revoked),
            now=now,
            organization_id=code.organization_id,
        )
    code_requests.end(code.organization_id, code.id)
    wake_relay()
    return Response(status=204)


def _caller() -> tuple[UUID | None, str | None]:
    account = guards.account()
    return account.id, account.email if account.is_email_verified else None


def _not_found(noun: str, entity_id: UUID) -> Refused:
    return Refused(404, "not_found", f"You have no {noun} {entity_id}.")
