"""Why a conversion is credited to its affiliate.

Source: tracking spec, section 8 "Lead attribution order"; the route is an addition.
"""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import path
from api.edge.operations import object_of, operation
from api.edge.relay_waker import wake_relay
from domain.organization import plans
from domain.refusals import not_found
from models import db
from pipelines.conversions import credit, settlement
from schemas.conversions.attribution import AttributionRecord

blueprint = Blueprint("conversion_attribution", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = AttributionRecord()


@blueprint.get("/api/v1/conversions/<conversion_id>/attribution")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",), writes=True)
def get_conversion_attribution(conversion_id: str) -> Mapping[str, object]:
    """Show the result of each step of the attribution order. A conversion that is not settled yet is settled first."""
    wanted_id, organization_id = path.uuid(conversion_id, "conversion"), guards.organization_id()
    with db.unit_of_work(organization_id):
        was_waiting = settlement.settle_if_waiting(
            organization_id=organization_id, conversion_id=wanted_id, now=clock.now()
        )
        explanation = credit.explain(organization_id=organization_id, conversion_id=wanted_id)
    if explanation is None:
        raise not_found("conversion", wanted_id)
    if was_waiting:
        wake_relay()
    return _RECORD.dump(explanation)
