"""Organizations as operators see them, and the settings that are the operator's alone."""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.operator.guarding import DECIDE, READ
from domain.refusals import Refused
from models import db
from models.organization import organizations, tenants
from models.organization.organizations import Organization
from pipelines.organization import capacity, operator_settings, tenancy
from schemas.operator.tenants import TenantChanges, TenantRecord, TenantsQuery, WholeTenantRecord

blueprint = Blueprint("operator_tenants", __name__)

_RECORD = TenantRecord()
_WHOLE = WholeTenantRecord()


@blueprint.get("/api/operator/organizations")
@operation(READ, page(_RECORD), asks=TenantsQuery())
def list_tenants() -> Mapping[str, object]:
    """List organizations, newest first: their plan and standing, and what decides how closely to look.

    Budget: 1 round trip.
    """
    query = body.query()
    asked = paging.read_page_request(query)
    with db.any_org_work():
        rows = tenants.any_org_page(q=query["q"], after=asked.after, limit=asked.limit)
    return paging.serialize_page(asked, rows, lambda some: _RECORD.dump(some, many=True))


@blueprint.get("/api/operator/organizations/<organization_id>")
@operation(READ, object_of(_WHOLE), refuses=("404 not_found",))
def get_tenant(organization_id: str) -> Mapping[str, object]:
    """Show an organization with every setting that is the operator's alone, and what it uses of its plan.

    Budget: 5 round trips.
    """
    wanted_id = path.uuid(organization_id, "organization")
    with db.any_org_work():
        return _shown(_found(wanted_id))


@blueprint.patch("/api/operator/organizations/<organization_id>")
@operation(
    DECIDE,
    object_of(_WHOLE),
    takes=TenantChanges(),
    refuses=(
        "400 unknown_setting",
        "400 bad_value",
        "400 unsupported_currency",
        "404 not_found",
        "409 already_taken",
    ),
)
def change_tenant(organization_id: str) -> Response:
    """Change settings that are the operator's alone, all of them or none. Running processes see it within seconds."""
    wanted_id, sent = path.uuid(organization_id, "organization"), body.load()

    def change() -> idempotency.Answer:
        now = clock.now()
        before = operator_settings.to_text(_found(wanted_id))
        tenancy.change(organization_id=wanted_id, assignments=sent["settings"], now=now)
        after = _found(wanted_id)
        audit.record(
            "organization.changed",
            wanted_id,
            before={name: before[name] for name in sent["settings"]},
            after={**sent["settings"], "why": sent["why"]},
            organization_id=wanted_id,
            now=now,
        )
        return 200, _shown(after)

    return idempotency.run_once_for_operator(change)


def _found(organization_id: UUID) -> Organization:
    found = organizations.find(organization_id)
    if found is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}.")
    return found


def _shown(organization: Organization) -> Mapping[str, object]:
    shown: Mapping[str, object] = _WHOLE.dump(
        {
            "id": organization.id,
            "name": organization.name,
            "home_currency": organization.home_currency,
            "created_at": organization.created_at,
            "settings": operator_settings.to_text(organization),
            "limits": capacity.find_usage(organization, clock.now()),
        }
    )
    return shown
