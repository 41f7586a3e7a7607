"""The payouts to the signed-in affiliate, with their conversions."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint

from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import object_of, operation, page
from domain.refusals import not_found
from models import db
from models.payouts import receipts
from schemas.me.receipt import OwnPayoutDetail, OwnPayoutRecord, own_payout_detail
from schemas.paging import PageQuery

blueprint = Blueprint("own_payouts", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
_RECORD = OwnPayoutRecord()


@blueprint.get("/api/me/payouts")
@operation(_READ, page(_RECORD), asks=PageQuery(), may_lag="answer")
def list_own_payouts() -> Mapping[str, object]:
    """List the payouts to the caller by every brand, newest first. Budget: 1 statement."""
    page_request, account = paging.read_page_request(body.query()), guards.account()
    with db.any_org_work():
        rows = receipts.any_org_list_receipts(account_id=account.id, email=account.email, **page_request.window)
    return paging.serialize_page(page_request, rows, lambda rows: _RECORD.dump(rows, many=True))


@blueprint.get("/api/me/payouts/<payout_id>")
@operation(_READ, object_of(OwnPayoutDetail()), refuses=("404 not_found",))
def get_own_payout(payout_id: str) -> Mapping[str, Any]:
    """Show one payout to the caller with its conversions and the amounts held back. Budget: 2 statements."""
    wanted_id, account = path.uuid(payout_id, "payout"), guards.account()
    with db.any_org_work():
        payout = receipts.any_org_find_receipt(account_id=account.id, email=account.email, payout_id=wanted_id)
        if payout is None:
            raise not_found("payout", wanted_id)
        lines = receipts.list_lines(organization_id=UUID(payout.organization_id), payout_id=wanted_id)
    return own_payout_detail(payout, lines)
