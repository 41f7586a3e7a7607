"""Sub-affiliates: an affiliate's recruiting link and their recruits.

Source: tracking spec, "Sub-affiliate recruiting" and "Override conversion" (recruit records).
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, jsonify

from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import array, object_of, operation, page
from domain.refusals import not_found
from models import db
from models.affiliates import affiliates, recruits
from models.affiliates.recruits import Recruit
from pipelines.affiliates import recruitment
from schemas.affiliates.sub_affiliate import LinkQuery, RecruitingLink, RecruitRecord, SubAffiliateRecord
from schemas.paging import PageQuery

blueprint = Blueprint("sub_affiliates", __name__)

_INVITE = Guard(audience="affiliate", verified_email=True)
_OWN = Guard(audience="affiliate")
# Recruiting is on every plan.
_READ = Guard(audience="brand")

_LINK = RecruitingLink()
_RECRUIT = RecruitRecord()
_SUB_AFFILIATE = SubAffiliateRecord()


@blueprint.get("/api/v1/me/sub-affiliate/link")
@operation(
    _INVITE,
    object_of(_LINK),
    asks=LinkQuery(),
    refuses=(
        "400 program_id_required",
        "403 email_verification_required",
        "404",
        "403",
        "400 sub_affiliate_recruiting_disabled",
        "409 portal_not_configured",
    ),
)
def get_recruiting_link() -> Mapping[str, object]:
    """Show the caller's recruiting address for a campaign.

    Errors are checked in this order: no programId, a campaign that the caller is not in (404), a caller who is not
    Approved in it (403), recruiting that is off, a brand without a portal. So strangers learn nothing about a campaign.
    """
    program_id = path.required_program(body.query()["program_id"])
    account_id, email = _caller()
    with db.any_org_work():
        seat = recruitment.any_org_find_seat(program_id=program_id, account_id=account_id, email=email)
    with db.unit_of_work(seat.organization_id):
        invitation = recruitment.create_invitation(organization_id=seat.organization_id, affiliate_id=seat.affiliate_id)
    record: Mapping[str, object] = {**_LINK.dump(invitation), "programId": str(program_id)}
    return record


@blueprint.get("/api/v1/me/sub-affiliate/recruits")
@operation(_OWN, page(_RECRUIT), asks=PageQuery(), may_lag="answer")
def list_recruits() -> Mapping[str, object]:
    """List the caller's recruits in all their campaigns, newest first, without those who were never accepted."""
    page_request = paging.read_page_request(body.query())
    account_id, email = _caller()
    with db.any_org_work():
        rows = recruits.any_org_page(account_id=account_id, email=email, **page_request.window)
        sums = recruitment.sum_earnings(rows[: page_request.take])
    return paging.serialize_page(page_request, rows, lambda page_rows: _serialize(_RECRUIT, page_rows, sums))


@blueprint.get("/api/v1/affiliates/<affiliate_id>/sub-affiliates")
@operation(_READ, array(_SUB_AFFILIATE), refuses=("404 not_found",), may_lag="answer")
def list_sub_affiliates(affiliate_id: str) -> Response:
    """List an affiliate's recruits, newest first, without those who were never accepted."""
    wanted_id, organization_id = path.uuid(affiliate_id, "affiliate"), guards.organization_id()
    with db.unit_of_work(organization_id):
        if affiliates.find(organization_id=organization_id, affiliate_id=wanted_id) is None:
            raise not_found("affiliate", wanted_id)
        rows = recruits.list_of_affiliate(organization_id=organization_id, affiliate_id=wanted_id)
        sums = recruitment.sum_earnings(rows)
    return jsonify(_serialize(_SUB_AFFILIATE, rows, sums))


def _caller() -> tuple[UUID | None, str | None]:
    """Return the caller's account id, and their email if it is verified."""
    account = guards.account()
    return account.id, account.email if account.is_email_verified else None


def _serialize(
    schema: RecruitRecord | SubAffiliateRecord,
    rows: Sequence[Recruit],
    sums: Mapping[UUID, recruitment.RecruitTotals],
) -> list[Any]:
    return [schema.dump(row) | schema.dump(sums[row.id]) for row in rows]
