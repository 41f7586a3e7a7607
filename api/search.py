"""Search over the brand's affiliates, conversions, payouts and coupon codes."""

from collections.abc import Mapping

from flask import Blueprint

from api.access import guards, subscriptions
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import object_of, operation
from domain.organization import plans
from domain.refusals import Refused
from models import db, search
from schemas.search.results import SearchQuery, SearchResults

blueprint = Blueprint("search", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RESULTS = SearchResults()


@blueprint.get("/api/v1/search")
@operation(_READ, object_of(_RESULTS), asks=SearchQuery(), may_lag="answer")
def search_records() -> Mapping[str, object]:
    """Search by the beginning of a name, a last name, an email or a code, or by a whole id or order number.

    Conversions and payouts of found affiliates are included. Codes are left out where the plan has none.
    """
    text, organization_id = body.query()["q"], guards.organization_id()
    with db.unit_of_work(organization_id):
        parts = search.find(organization_id=organization_id, text=text)
    if not _has_codes():
        parts["codes"] = search.SearchPart((), has_more=False)
    rows = {name: part.rows for name, part in parts.items()}
    return _RESULTS.dump(rows | {f"has_more_{name}": part.has_more for name, part in parts.items()})


def _has_codes() -> bool:
    """Return whether the plan includes coupon codes, which is also checked for people."""
    try:
        subscriptions.check_plan(plans.Tier.Starter, guards.caller())
    except Refused:
        return False
    return True
