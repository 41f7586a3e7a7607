"""Organizations for operators, and the settings that only operators change."""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.operator.operator_guards import DECIDE, READ
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
    """List organizations, newest first: their plan, their status and the values that decide how closely to review them.

    Budget: 1 round trip.
    """
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.any_org_work():
        rows = tenants.any_org_page(q=query["q"], **page_request.window)
    return paging.serialize_page(page_request, rows, lambda rows: _RECORD.dump(rows, many=True))


@blueprint.get("/api/operator/organizations/<organization_id>")
@operation(READ, object_of(_WHOLE), refuses=("404 not_found",))
def get_tenant(organization_id: str) -> Mapping[str, object]:
    """Show an organization with every setting that only operators change, and its usage of the plan.

    Budget: 5 round trips.
    """
    wanted_id = path.uuid(organization_id, "organization")
    with db.any_org_work():
        return _serialize(_find(wanted_id))


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
    """Change settings that only operators change, all of them or none. Running processes apply them within seconds."""
    wanted_id, values = path.uuid(organization_id, "organization"), body.load()

    def change() -> idempotency.Answer:
        now = clock.now()
        before = operator_settings.to_text(_find(wanted_id))
        tenancy.change(organization_id=wanted_id, assignments=values["settings"], now=now)
        after = _find(wanted_id)
        audit.record(
            "organization.changed",
            wanted_id,
            before={name: before[name] for name in values["settings"]},
            after={**values["settings"], "why": values["why"]},
            organization_id=wanted_id,
            now=now,
        )
        return 200, _serialize(after)

    return idempotency.run_once_for_operator(change)


def _find(organization_id: UUID) -> Organization:
    organization = organizations.find(organization_id)
    if organization is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}.")
    return organization


def _serialize(organization: Organization) -> Mapping[str, object]:
    record: Mapping[str, object] = _WHOLE.dump(
        {
            "id": organization.id,
            "name": organization.name,
            "home_currency": organization.home_currency,
            "created_at": organization.created_at,
            "settings": operator_settings.to_text(organization),
            "limits": capacity.find_usage(organization, clock.now()),
        }
    )
    return record
