"""What the cadence of automatic payouts has proposed to an Owner; callers know it as a draft.

Source: core spec, "Payouts" and "Organization profile". Confirming is the ordinary run.
"""

from flask import Blueprint

from api.access import guards
from api.access.guards import Guard
from api.edge.operations import array, operation
from domain.organization.access import Role
from models import db
from models.payouts import proposals
from schemas.payouts.draft import DraftRecord

blueprint = Blueprint("payout_drafts", __name__)

_READ = Guard(audience="dashboard", role=Role.Admin)
_RECORD = DraftRecord()


@blueprint.get("/api/v1/payouts/drafts")
@operation(_READ, array(_RECORD))
def list_payout_drafts() -> list[object]:
    """List what was prepared and is not paid yet: one draft, or none. A run without filters closes it.

    It tells what was due when it was prepared; preview again before you confirm.
    """
    with db.unit_of_work(guards.organization_id()):
        found = proposals.open_one(guards.organization_id())
    return [_RECORD.dump(found)] if found else []
