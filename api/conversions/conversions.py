"""The brand's list of conversions.

Source: core spec, "Conversions" and "Conversion".
"""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import object_of, operation, page
from api.edge.relay_waker import wake_relay
from domain.organization import plans
from domain.refusals import not_found
from models import db
from models.conversions import conversions, lists
from models.conversions.lists import ConversionFilters
from pipelines.conversions import settlement
from schemas.conversions.conversion import ConversionDetail, ConversionEventRecord, ConversionRecord, ConversionsQuery

blueprint = Blueprint("conversions", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = ConversionRecord()
_WIRE = _RECORD.wire
_EVENTS = ConversionEventRecord()
# More than other lists by default.
_DEFAULT_TAKE = 100


@blueprint.get("/api/v1/conversions")
@operation(_READ, page(_RECORD), asks=ConversionsQuery(), may_lag="answer")
def list_conversions() -> Mapping[str, object]:
    """List conversions, newest first unless `order` says otherwise."""
    query = body.query()
    order = query["order"]
    page_request = paging.read_page_request(query, default_take=_DEFAULT_TAKE, order=order)
    with db.unit_of_work(guards.organization_id()):
        rendered = lists.page(
            organization_id=guards.organization_id(),
            wire=_WIRE,
            filters=ConversionFilters(**query["filters"]),
            order=order,
            after=page_request.after,
            take=page_request.take,
        )
    return paging.serialize_rendered_page(page_request, rendered)


@blueprint.get("/api/v1/conversions/<conversion_id>")
@operation(_READ, object_of(ConversionDetail()), refuses=("404 not_found",), writes=True)
def get_conversion(conversion_id: str) -> Mapping[str, object]:
    """Show one conversion with its history. A conversion that is not settled yet is settled first."""
    wanted_id, organization_id = path.uuid(conversion_id, "conversion"), guards.organization_id()
    with db.unit_of_work(organization_id):
        was_waiting = settlement.settle_if_waiting(
            organization_id=organization_id, conversion_id=wanted_id, now=clock.now()
        )
        conversion = lists.find(organization_id=organization_id, conversion_id=wanted_id)
        history = conversions.list_history(organization_id=organization_id, conversion_id=wanted_id)
    if conversion is None:
        raise not_found("conversion", wanted_id)
    if was_waiting:
        wake_relay()
    return {**_RECORD.dump(conversion), "events": _EVENTS.dump(history, many=True)}
