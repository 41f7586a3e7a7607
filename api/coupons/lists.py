"""Coupons of all campaigns, and codes of all affiliates, in one list each. Additions to the interface."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint

from api.access import guards
from api.access.guards import Guard
from api.coupons import coupons
from api.edge import body, paging
from api.edge.operations import operation, page
from domain.organization import plans
from models import db
from models.coupons import campaign_coupons, lists
from models.coupons.lists import CodeFilters, CreditedCode
from schemas.coupons.campaign import CampaignCouponRecord, CouponsQuery
from schemas.coupons.code_list import CodesQuery, CouponCodeRecord

blueprint = Blueprint("coupon_codes", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter, plan_for_people=True)
_RECORD = CouponCodeRecord()
_CODE = CouponCodeRecord(exclude=("earned_by_currency",))


@blueprint.get("/api/v1/campaign-coupons")
@operation(_READ, page(CampaignCouponRecord()), asks=CouponsQuery(), may_lag="answer")
def list_coupons_of_campaigns() -> Mapping[str, object]:
    """List the coupons of all campaigns, or of the one of `programId`, archived ones too, newest first."""
    query, organization_id = body.query(), guards.organization_id()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(organization_id):
        rows = campaign_coupons.page(
            organization_id=organization_id, program_id=query["program_id"], **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda some: [coupons.serialize(row) for row in some])


@blueprint.get("/api/v1/coupon-codes")
@operation(_READ, page(_RECORD), asks=CodesQuery(), may_lag="answer")
def list_coupon_codes() -> Mapping[str, object]:
    """List the codes of all affiliates, newest first, revoked ones too, with whom they credit and what they brought.

    Three round trips for any number: page, sums, commit.
    """
    query, organization_id = body.query(), guards.organization_id()
    page_request = paging.read_page_request(query)
    filters = CodeFilters(**{name: query[name] for name in ("program_id", "coupon_id", "affiliate_id", "status")})
    with db.unit_of_work(organization_id):
        rows = lists.page(organization_id=organization_id, filters=filters, **page_request.window)
        return paging.serialize_page(page_request, rows, _serialize)


def _serialize(rows: Sequence[CreditedCode]) -> list[Any]:
    earned = lists.sum_earnings(organization_id=guards.organization_id(), code_ids=[row.id for row in rows])
    return [_CODE.dump(row) | {"earnedByCurrency": earned[row.id]} for row in rows]
