"""Searches by a value that a workflow has: exact matches, newest first, at most ten, as a flat array."""

from typing import Any

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.affiliates import serializers
from api.edge import body
from api.edge.operations import array, operation
from api.edge.relay_waker import wake_relay
from domain.organization import plans
from models import db
from models.affiliates.listing import lists as affiliate_lists
from models.conversions import lists as conversion_lists
from models.payouts import lists as payout_lists
from models.programs import programs
from pipelines.conversions import settlement
from schemas.affiliates.affiliate import AffiliateRecord
from schemas.automation.search import AffiliateSearch, CampaignSearch, ConversionSearch, PayoutSearch
from schemas.conversions.conversion import ConversionRecord
from schemas.payouts.payout import PayoutRecord
from schemas.programs.program import ProgramRecord

blueprint = Blueprint("automation_search", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_REFUSALS = ("400 search_term_required",)
_MAX_RESULTS = 10

_AFFILIATE, _CAMPAIGN, _CONVERSION = AffiliateRecord(), ProgramRecord(), ConversionRecord()
# A payout may have thousands of line items, which no workflow maps.
_WITHOUT_LINES = PayoutRecord(exclude=("line_items",))


@blueprint.get("/api/v1/automation/search/affiliates")
@operation(_READ, array(_AFFILIATE), asks=AffiliateSearch(), refuses=_REFUSALS, may_lag="answer")
def search_affiliates() -> list[Any]:
    """Find affiliates by their email or one of their slugs, one per campaign. Budget: 2 round trips."""
    query = body.query()
    with db.unit_of_work(guards.organization_id()):
        rows = affiliate_lists.find_matching(organization_id=guards.organization_id(), limit=_MAX_RESULTS, **query)
        return serializers.serialize_all(rows) if rows else []


@blueprint.get("/api/v1/automation/search/campaigns")
@operation(_READ, array(_CAMPAIGN), asks=CampaignSearch(), refuses=_REFUSALS, may_lag="answer")
def search_campaigns() -> list[Any]:
    """Find campaigns by slug or name, without archived ones. Budget: 1 round trip."""
    query = body.query()
    with db.unit_of_work(guards.organization_id()):
        rows = programs.find_matching(organization_id=guards.organization_id(), limit=_MAX_RESULTS, **query)
    return _CAMPAIGN.dump(rows, many=True)


@blueprint.get("/api/v1/automation/search/conversions")
@operation(_READ, array(_CONVERSION), asks=ConversionSearch(), refuses=_REFUSALS, writes=True)
def search_conversions() -> list[Any]:
    """Find conversions by the brand's own id of the sale or by ours, including those recorded a moment ago.

    Budget: 3 round trips, and those of settling if the sale is not settled yet.
    """
    query, organization_id = body.query(), guards.organization_id()
    with db.unit_of_work(organization_id):
        was_waiting = settlement.find_and_settle(organization_id=organization_id, now=clock.now(), **query)
        rows = conversion_lists.find_matching(organization_id=organization_id, limit=_MAX_RESULTS, **query)
    if was_waiting:
        wake_relay()
    return _CONVERSION.dump(rows, many=True)


@blueprint.get("/api/v1/automation/search/payouts")
@operation(_READ, array(PayoutRecord()), asks=PayoutSearch(), refuses=_REFUSALS, may_lag="answer")
def search_payouts() -> list[Any]:
    """Find a payout by its id, or an affiliate's newest. Budget: 1 round trip."""
    query = body.query()
    with db.unit_of_work(guards.organization_id()):
        rows = payout_lists.find_matching(
            organization_id=guards.organization_id(),
            payout_id=query["id"],
            affiliate_id=query["affiliate_id"],
            limit=_MAX_RESULTS,
        )
    return _WITHOUT_LINES.dump(rows, many=True)
