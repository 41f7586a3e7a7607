"""Counts of everything that waits for an operator."""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.edge.operations import object_of, operation
from api.operator.operator_guards import READ
from models import db
from pipelines.operating import attention
from schemas.operator.tenants import AttentionRecord

blueprint = Blueprint("operator_attention", __name__)

_RECORD = AttentionRecord()


@blueprint.get("/api/operator/attention")
@operation(READ, object_of(_RECORD))
def summarize_attention() -> Mapping[str, object]:
    """Count what waits for an operator: dead letters, runs, rails, ledger, rates, mail, connections, schedule.

    Budget: 3 round trips.
    """
    with db.any_org_work():
        counts = attention.any_org_count(now=clock.now())
    return _RECORD.dump(counts)
