"""Conversions and payouts of an affiliate, for the embedded page on a brand's site."""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging
from api.edge.operations import operation, page
from domain.organization import plans
from models import db
from models.conversions import earnings
from models.payouts import receipts
from schemas.embed.page import EmbedConversionRecord, EmbedPayoutRecord, embed_conversion_records
from schemas.paging import PageQuery

blueprint = Blueprint("embed_history", __name__)

_READ = Guard(audience="embed", plan=plans.Tier.Growth, bucket="embed", closed_cors=True)
_PAYOUT = EmbedPayoutRecord()


@blueprint.get("/api/v1/embed/me/conversions")
@operation(_READ, page(EmbedConversionRecord()), asks=PageQuery(), may_lag="answer")
def list_embedded_conversions() -> Mapping[str, object]:
    """List the affiliate's conversions, newest first, without buyers and test sales. Budget: 1 statement."""
    page_request, viewer, now = paging.read_page_request(body.query()), guards.viewer(), clock.now()
    with db.unit_of_work(viewer.organization_id):
        rows = earnings.list_of_affiliate(
            organization_id=viewer.organization_id, affiliate_id=viewer.affiliate_id, **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda some: embed_conversion_records(some, now=now))


@blueprint.get("/api/v1/embed/me/payouts")
@operation(_READ, page(_PAYOUT), asks=PageQuery(), may_lag="answer")
def list_embedded_payouts() -> Mapping[str, object]:
    """List the payouts to the affiliate, newest first. Budget: 1 statement."""
    page_request, viewer = paging.read_page_request(body.query()), guards.viewer()
    with db.unit_of_work(viewer.organization_id):
        rows = receipts.list_of_affiliate(
            organization_id=viewer.organization_id, affiliate_id=viewer.affiliate_id, **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda some: _PAYOUT.dump(some, many=True))
