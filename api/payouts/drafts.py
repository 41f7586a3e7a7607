"""Drafts: the runs that automatic payouts propose to an Owner.

Source: core spec, "Payouts" and "Organization profile". Confirming is the ordinary run.
"""

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, path
from api.edge.operations import array, operation
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.payouts import proposals
from schemas.payouts.draft import PayoutDraftRecord

blueprint = Blueprint("payout_drafts", __name__)

_READ = Guard(audience="dashboard", role=Role.Admin)
_DISMISS = Guard(audience="dashboard", scope="read_write", role=Role.Admin)
_RECORD = PayoutDraftRecord()


@blueprint.get("/api/v1/payouts/drafts")
@operation(_READ, array(_RECORD))
def list_payout_drafts() -> list[object]:
    """List the open draft, if there is one. A run without filters closes it.

    It has the amounts that were due when it was prepared; preview again before you confirm.
    """
    with db.unit_of_work(guards.organization_id()):
        draft = proposals.find_open(guards.organization_id())
    return [_RECORD.dump(draft)] if draft else []


@blueprint.delete("/api/v1/payouts/drafts/<draft_id>")
@operation(_DISMISS, status=204, refuses=("404 not_found",))
def dismiss_payout_draft(draft_id: str) -> Response:
    """Dismiss a draft; its amounts stay due, and the next automatic payout prepares them again. 204."""
    wanted_id, now = path.uuid(draft_id, "draft"), clock.now()
    with db.unit_of_work(guards.organization_id()):
        draft = proposals.dismiss(organization_id=guards.organization_id(), proposal_id=wanted_id, at=now)
        if draft is None:
            raise not_found("draft", wanted_id)
        audit.record("payout.draft_dismissed", wanted_id, before=_RECORD.dump(draft), now=now)
    return Response(status=204)
