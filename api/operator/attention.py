"""How much of everything waits for an operator."""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.edge.operations import object_of, operation
from api.operator.guarding import READ
from models import db
from pipelines.operating import attention
from schemas.operator.tenants import AttentionRecord

blueprint = Blueprint("operator_attention", __name__)

_RECORD = AttentionRecord()


@blueprint.get("/api/operator/attention")
@operation(READ, object_of(_RECORD))
def summarize_attention() -> Mapping[str, object]:
    """Count what waits for an operator: dead letters, runs, rails, money, rates, mail, connections, the clock.

    Budget: 3 round trips.
    """
    with db.any_org_work():
        found = attention.any_org_count(now=clock.now())
    shown: Mapping[str, object] = _RECORD.dump(found)
    return shown
