"""The steps of setting up a brand, each checked by facts."""

from collections.abc import Mapping
from dataclasses import asdict

from flask import Blueprint

import settings
from adapters.gateways import registry
from api.access import guards
from api.access.guards import Guard
from api.edge.operations import object_of, operation
from domain.refusals import not_found
from models import db
from pipelines.organization import onboarding
from schemas.organization.onboarding import OnboardingRecord

blueprint = Blueprint("onboarding", __name__)

_READ = Guard(audience="brand")
_RECORD = OnboardingRecord()


@blueprint.get("/api/v1/onboarding")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_onboarding() -> Mapping[str, object]:
    """Show which steps of setting up the brand are done. Cheap enough to poll. Budget: 1 statement."""
    with db.unit_of_work(guards.organization_id()):
        current = onboarding.find(guards.organization_id())
    if current is None:
        raise not_found("organization", guards.organization_id())
    base, gateway = settings.current().web.url, current.facts.gateway
    more = {
        "gateway_label": registry.get(gateway).label if gateway else None,
        "payouts_blocked_message": current.payouts_blocked_message,
    }
    record: Mapping[str, object] = _RECORD.dump(
        {
            "is_done": current.is_done,
            "steps": [{**asdict(step), "url": f"{base}{step.path}"} for step in current.steps],
            "facts": asdict(current.facts) | more,
        }
    )
    return record
