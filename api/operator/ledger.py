"""The checks of the ledger, organization by organization."""

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.edge import audit, body, idempotency
from api.edge.operations import EMPTY, array, operation
from api.operator.operator_guards import READ, WRITE
from models import db
from models.ledger import results
from pipelines import ledger_check
from schemas.operator.money import LedgerCheckBody, LedgerCheckRecord, LedgerQuery

blueprint = Blueprint("operator_ledger", __name__)

_RECORD = LedgerCheckRecord()


@blueprint.get("/api/operator/ledger")
@operation(READ, array(_RECORD), asks=LedgerQuery())
def list_ledger_checks() -> Response:
    """List the result of the last ledger check of each organization, oldest check first. Budget: 1 round trip."""
    with db.any_org_work():
        rows = results.any_org_list(only_red=body.query()["red"])
    return jsonify(_RECORD.dump(rows, many=True))


@blueprint.post("/api/operator/ledger/check")
@operation(WRITE, EMPTY, status=202, takes=LedgerCheckBody(), refuses=("404 not_found",))
def check_ledger() -> Response:
    """Request a ledger check of one organization, or of all. 202: workers do it, in the order of the ids."""
    organization_id = body.load_optional()["organization_id"]

    def request_check() -> idempotency.Answer:
        ledger_check.any_org_enqueue(organization_id)
        about = "all" if organization_id is None else str(organization_id)
        audit.record("ledger.check_asked", about, organization_id=organization_id, now=clock.now())
        return 202, None

    return idempotency.run_once_for_operator(request_check, wakes_relay=True)
