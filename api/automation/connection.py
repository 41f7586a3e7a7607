"""The organization of a key: no-code platforms show it as the name of their connection."""

from collections.abc import Mapping

from flask import Blueprint

from api.access import guards
from api.access.guards import Guard
from api.edge.operations import object_of, operation
from domain.organization import plans
from models import db
from models.organization import api_keys
from schemas.automation.hook import AutomationConnectionRecord

blueprint = Blueprint("automation_connection", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = AutomationConnectionRecord()


@blueprint.get("/api/v1/automation/connection")
@operation(_READ, object_of(_RECORD))
def get_automation_connection() -> Mapping[str, object]:
    """Show the organization of this key. A plan without automation is refused here, before a workflow is built."""
    caller = guards.caller()
    with db.unit_of_work(caller.organization_id):
        key = api_keys.find_hint(organization_id=caller.organization_id, key_id=caller.id)
    record: Mapping[str, object] = _RECORD.dump(
        {
            "organization_id": caller.organization_id,
            "organization_name": key.organization_name,
            "key_hint": key.key_hint,
            "scope": caller.scope,
            "is_test": caller.is_test,
            "plan_tier": caller.plan_tier,
        }
    )
    return record
