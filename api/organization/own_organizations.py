"""The organizations of the signed-in person, between which they can switch at the pages."""

from flask import Blueprint, Response, jsonify

from api.access import guards
from api.access.guards import Guard
from api.edge.operations import array, operation
from models import db
from models.organization import memberships, organizations
from pipelines.organization.team import changes
from schemas.organization.team import OwnOrganizationRecord

blueprint = Blueprint("own_organizations", __name__)

_READ = Guard(audience="dashboard", without_second_factor=True)
_RECORD = OwnOrganizationRecord()


@blueprint.get("/api/organizations/mine")
@operation(_READ, array(_RECORD))
def list_own_organizations() -> Response:
    """List the organizations in which the caller's verified email is a member's, the last visited first.

    Where an identity provider manages the roles, it is only the organization of the session. Budget: 3 round trips.
    """
    caller = guards.caller()
    if not (changes.is_managed_here() and caller.is_email_verified):
        with db.unit_of_work(caller.organization_id):
            own = organizations.find(caller.organization_id)
        assert own is not None  # the caller is its member
        return jsonify([_RECORD.dump({"id": own.id, "name": own.name, "role": caller.role})])
    with db.any_org_work():
        rows = memberships.any_org_list_memberships(email=caller.label, subject="")
    records = [{"id": row.organization_id, "name": row.organization_name, "role": row.role} for row in rows]
    return jsonify(_RECORD.dump(records, many=True))
