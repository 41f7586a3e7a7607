"""The organization's subscription, and the usage of its limits.

Source: core spec, "Other resources" (billing state).
"""

from collections.abc import Mapping
from dataclasses import asdict

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge.operations import object_of, operation
from domain.gateways.names import Gateway
from domain.organization import plans
from domain.refusals import not_found
from models import db
from models.organization import organizations
from pipelines.coupons import places
from pipelines.organization import capacity
from schemas.organization.billing import BillingState

blueprint = Blueprint("billing", __name__)

_STATE = BillingState()
# Names that differ from the gateway's name, in this response only.
_CONNECTED_VIA_NAMES: Mapping[str, str] = {Gateway.Stripe: "StripeApp"}


@blueprint.get("/api/billing/state")
@operation(Guard(audience="brand"), object_of(_STATE), refuses=("404 not_found",))
def get_billing_state() -> Mapping[str, object]:
    """Show plan, subscription, connected gateways, and the usage of the plan."""
    now = clock.now()
    with db.unit_of_work(guards.organization_id()):
        organization = organizations.find(guards.organization_id())
        if organization is None:
            raise not_found("organization", guards.organization_id())
        used = capacity.find_usage(organization, now)
        has_codes = places.can_mint(organization.id)
    gateways = (*organization.gateways, *organization.connected_gateways)
    record: Mapping[str, object] = _STATE.dump(
        {
            **asdict(organization),
            "processor_customer_linked": organization.processor_customer_id is not None,
            "processor_connect_linked": bool(gateways),
            "processor_connected_via": _CONNECTED_VIA_NAMES.get(gateways[0], gateways[0]) if gateways else None,
            "coupons_enabled": has_codes and capacity.effective_tier(organization, now) != plans.Tier.Free,
            "limits": used,
        }
    )
    return record
